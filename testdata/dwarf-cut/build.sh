#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
gcc -O1 -fomit-frame-pointer -fno-inline -fno-optimize-sibling-calls -Wl,--build-id \
	-o /srv/perfkit/nofp-cut ../dwarf/nofp.c
strip -g /srv/perfkit/nofp-cut
cp /srv/perfkit/nofp-cut symfs/srv/perfkit/
