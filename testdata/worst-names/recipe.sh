#!/bin/sh
# Thread names that stackcollapse-perf.pl misreads: semicolons, numbers that look like a column.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh ../demo/build.sh
perf record -N -q -F 297 -e cpu-clock:u -g -o perf.data /srv/perfkit/shop -N 2
chmod 644 perf.data
echo --symfs ../demo/symfs >args
sh ../witness.sh worst-names
