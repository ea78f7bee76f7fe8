#!/bin/sh
# C++ names with brackets inside template arguments, and a call that never returns.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -F 297 -e cpu-clock:u -g -o perf.data /srv/perfkit/names
chmod 644 perf.data
echo --symfs symfs >args
sh ../witness.sh cxx-names
