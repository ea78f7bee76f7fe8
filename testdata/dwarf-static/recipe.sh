#!/bin/sh
# A static program whose .eh_frame has no index: perf finds no callers in it.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -F 197 -e cpu-clock:u --call-graph dwarf,1024 -o perf.data /srv/perfkit/alone
chmod 644 perf.data
echo --symfs symfs >args
sh ../witness.sh dwarf-static
