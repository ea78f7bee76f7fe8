#!/bin/sh
# All CPUs, with the idle task and kernel threads. Names of bystanders are made anonymous.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh ../demo/build.sh
perf record -N -q -F 197 -e cpu-clock -a -g -o perf.data /srv/perfkit/shop 3
chmod 644 perf.data
python3 ../bystanders.py perf.data -- shop request search picture log
python3 ../kallsyms.py perf.data >kallsyms
echo --symfs ../demo/symfs --kallsyms kallsyms >args
sh ../witness.sh system-wide
