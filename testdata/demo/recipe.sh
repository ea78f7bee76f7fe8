#!/bin/sh
# The recording of the README and `make demo`: a small web shop under load, user code only,
# frame pointers. perf version 6.1.187, Linux 6.18, x86-64, two CPUs.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -F 797 -e cpu-clock:u -g -o perf.data /srv/perfkit/shop 4
chmod 644 perf.data
echo --symfs symfs >args
sh ../witness.sh demo
perfkit pack -q --no-local --symfs symfs perf.data -o demo.tar.zst
