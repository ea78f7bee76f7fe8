#!/bin/sh
# Three events at once, each with its own period; the folded stacks are those of the first event seen.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh ../demo/build.sh
perf record -N -q -F 147 -e cpu-clock,page-faults,context-switches -g -o perf.data /srv/perfkit/shop 2
chmod 644 perf.data
python3 ../kallsyms.py perf.data >kallsyms
echo --symfs ../demo/symfs --kallsyms kallsyms >args
sh ../witness.sh events
