#!/bin/sh
# Inlined functions of C++: their debug information lies beside the recording.
# perf version 6.1.192, Linux 6.18, x86-64, two CPUs, g++ 12; run as root.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -F 499 -e cpu-clock:u --call-graph dwarf,2048 -o perf.data /srv/perfkit/inlined
chmod 644 perf.data
echo --symfs symfs >args
sh ../witness.sh inlined
