#!/bin/sh
# A 32-bit program on x86-64: perf script shows none of its functions.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; gcc-multilib; run as root.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
gcc -m32 -O2 -fomit-frame-pointer -o /srv/perfkit/narrow narrow.c
perf record -N -q -F 97 -e cpu-clock:u --call-graph dwarf,512 -o perf.data /srv/perfkit/narrow
strip -g -o symfs/srv/perfkit/narrow /srv/perfkit/narrow
chmod 644 perf.data
gzip -9 -n -f perf.data
