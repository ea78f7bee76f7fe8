#!/bin/sh
# Code of a JIT compiler named by /tmp/perf-PID.map (node --perf-basic-prof). perf reads that map from /tmp, whatever --symfs says; the copy in symfs/tmp holds the lines the samples fall into.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
cp work.js /srv/perfkit/
perf record -N -q -F 297 -e cpu-clock:u -g -o perf.data node --perf-basic-prof --interpreted-frames-native-stack /srv/perfkit/work.js
chmod 644 perf.data
rm -rf symfs
python3 jitmap.py perf.data
echo --symfs symfs >args
sh ../witness.sh perf-map
