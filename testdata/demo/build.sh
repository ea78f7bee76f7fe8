#!/bin/sh
# Build the shop where the recordings expect it and, stripped of all but its symbols, beside
# them. clang 14, which keeps frame pointers in leaf functions too. The same
# compiler gives the same build-id; another one needs all of them made anew.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
clang -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-inline \
	-fno-optimize-sibling-calls -pthread -Wl,--build-id -o /srv/perfkit/shop shop.c
strip -g /srv/perfkit/shop
cp /srv/perfkit/shop symfs/srv/perfkit/shop
