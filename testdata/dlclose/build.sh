#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
cc='clang -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-inline -Wl,--build-id'
$cc -o /srv/perfkit/turn turn.c
$cc -shared -fPIC -DSIDE=left -o /srv/perfkit/left.so side.c
$cc -shared -fPIC -DSIDE=right -o /srv/perfkit/right.so side.c
for p in turn left.so right.so; do
	strip -g /srv/perfkit/$p
	cp /srv/perfkit/$p symfs/srv/perfkit/
done
[ "$(/srv/perfkit/turn 6 | sort -u | wc -l)" = 1 ] || { echo "not at one address" >&2; exit 1; }
