#!/bin/sh
# Two libraries loaded in turn at the same address, different functions at the same offsets. Truth: left_* only in comm left, right_* only in comm right.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -F 997 -e cpu-clock:u -g -o perf.data /srv/perfkit/turn 20
chmod 644 perf.data
echo --symfs symfs >args
sh ../witness.sh dlclose
