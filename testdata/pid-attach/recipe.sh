#!/bin/sh
# Attached to a running process by pid; its maps are synthesized.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh ../demo/build.sh
/srv/perfkit/shop 3 & pid=$!
sleep 0.5
perf record -N -q -F 297 -e cpu-clock:u -g -o perf.data -p $pid sleep 1.5
wait
chmod 644 perf.data
echo --symfs ../demo/symfs >args
sh ../witness.sh pid-attach
