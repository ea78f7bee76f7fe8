#!/bin/sh
# testdata/dwarf's program with stack copies that end inside of it; 136 bytes, so that in some
# the last word is a return address.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -F 197 -e cpu-clock:u --call-graph dwarf,136 -o perf.data /srv/perfkit/nofp-cut 1
chmod 644 perf.data
echo --symfs symfs >args
sh ../witness.sh dwarf-cut
