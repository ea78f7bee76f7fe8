#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
clang++ -O1 -std=c++17 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-inline \
	-fno-optimize-sibling-calls -Wl,--build-id -o /srv/perfkit/names names.cc
strip -g /srv/perfkit/names
cp /srv/perfkit/names symfs/srv/perfkit/
