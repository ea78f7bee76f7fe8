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

# libc's symbols, as libc6-dbg has them, behind libc's own program headers: without these, no file
# offset becomes an address. As its own debug file it keeps perfkit and perf from looking for another.
libc=/usr/lib/x86_64-linux-gnu/libc.so.6
id=$(readelf -n $libc | sed -n 's/.*Build ID: //p')
debug=.build-id/${id%"${id#??}"}/${id#??}.debug
mkdir -p "symfs/usr/lib/debug/${debug%/*}" "symfs${libc%/*}"
objcopy --strip-debug -R .gnu_debugaltlink -R .comment "/usr/lib/debug/$debug" symfs$libc
headers=$(readelf -h $libc | awk '/Number of program headers/ { n = $NF } /Size of program headers/ { s = $(NF - 1) }
	END { print n * s }')
dd if=$libc of=symfs$libc bs=1 skip=64 seek=64 count="$headers" conv=notrunc status=none
ln -sf ../../../x86_64-linux-gnu/libc.so.6 "symfs/usr/lib/debug/$debug"
