#!/bin/sh
# Pipe mode: no header sections, no seeks; what perf writes to stdout.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh ../demo/build.sh
perf record -N -q -F 297 -e cpu-clock:u -g -o - /srv/perfkit/shop 2 >perf.data
echo --symfs ../demo/symfs >args
sh ../witness.sh pipe
