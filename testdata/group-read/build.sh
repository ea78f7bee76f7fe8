#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
clang -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-inline -Wl,--build-id \
	-o /srv/perfkit/onethread onethread.c
strip -g /srv/perfkit/onethread
cp /srv/perfkit/onethread symfs/srv/perfkit/
