#!/bin/sh
# A uprobe event with an argument, and the samples of a clock beside it.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh ../demo/build.sh
perf probe -q -d "perfkit_test:*" 2>/dev/null || true
perf probe -q -x /srv/perfkit/shop "perfkit_test:search_products=search_products seed=%di:x64"
perf record -N -q -e perfkit_test:search_products,cpu-clock:u -F 197 -g -o perf.data /srv/perfkit/shop 0.3
perf probe -q -d "perfkit_test:*"
chmod 644 perf.data
python3 ../kallsyms.py perf.data >kallsyms
echo --symfs ../demo/symfs --kallsyms kallsyms >args
sh ../witness.sh uprobe
