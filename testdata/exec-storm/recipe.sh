#!/bin/sh
# Many short processes: forks, execs of two different programs linked at the same address, comm changes. Truth: functions named blue_* run only in comm blue, red_* only in comm red.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -F 1997 -e cpu-clock:u -g -o perf.data /srv/perfkit/storm 60
chmod 644 perf.data
echo --symfs symfs >args
sh ../witness.sh exec-storm
