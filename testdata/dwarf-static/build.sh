#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
gcc -O1 -fomit-frame-pointer -fno-inline -fno-optimize-sibling-calls -fasynchronous-unwind-tables \
	-fno-stack-protector -nostdlib -static -no-pie -Wl,--build-id -Wl,--no-eh-frame-hdr \
	-o /srv/perfkit/alone alone.c
strip -g /srv/perfkit/alone
cp /srv/perfkit/alone symfs/srv/perfkit/
