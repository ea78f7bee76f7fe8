#!/bin/sh
# Directory mode: perf.data is a directory with one data file for each CPU.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh ../demo/build.sh
rm -rf perf.data
perf record -N -q --threads -F 297 -e cpu-clock:u -g -o perf.data /srv/perfkit/shop 3
chmod 755 perf.data; chmod 644 perf.data/*
echo --symfs ../demo/symfs >args
sh ../witness.sh threads-dir
