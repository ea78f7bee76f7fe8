#!/bin/sh
# A group read: each sample of the leader carries the values of three counters (PERF_SAMPLE_READ, PERF_FORMAT_GROUP). perf then drops inherit, so only the first thread is measured: the workload is run by one.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -F 997 -e "{cpu-clock,page-faults,context-switches}:S" -g -o perf.data /srv/perfkit/onethread 1
chmod 644 perf.data
python3 ../kallsyms.py perf.data >kallsyms
echo --symfs symfs --kallsyms kallsyms >args
sh ../witness.sh group-read
