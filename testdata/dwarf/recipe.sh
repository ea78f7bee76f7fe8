#!/bin/sh
# User stack and registers (--call-graph dwarf), small stack dumps; the code has no frame pointers.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -F 197 -e cpu-clock:u --call-graph dwarf,1024 -o perf.data /srv/perfkit/nofp 1
chmod 644 perf.data
echo --symfs symfs >args
sh ../witness.sh dwarf
