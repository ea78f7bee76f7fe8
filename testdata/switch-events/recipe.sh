#!/bin/sh
# Context switch records of one process (per task: no switch-ins of others), fixed period: no PERIOD in the samples.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh ../demo/build.sh
perf record -N -q --switch-events -c 5000003 -e cpu-clock -g -o perf.data /srv/perfkit/shop 2
chmod 644 perf.data
python3 ../kallsyms.py perf.data >kallsyms
echo --symfs ../demo/symfs --kallsyms kallsyms >args
sh ../witness.sh switch-events
