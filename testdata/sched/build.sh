#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
clang -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-inline -pthread -Wl,--build-id \
	-o /srv/perfkit/pingpong pingpong.c
strip -g /srv/perfkit/pingpong
cp /srv/perfkit/pingpong symfs/srv/perfkit/
