#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
cc='clang -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-inline -Wl,--build-id'
$cc -o /srv/perfkit/storm storm.c
$cc -no-pie -DCOLOUR=red -o /srv/perfkit/red colour.c
$cc -no-pie -DCOLOUR=blue -o /srv/perfkit/blue colour.c
for p in storm red blue; do
	strip -g /srv/perfkit/$p
	cp /srv/perfkit/$p symfs/srv/perfkit/
done
