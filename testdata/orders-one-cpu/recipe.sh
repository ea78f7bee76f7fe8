#!/bin/sh
# The order book of ../orders as an imperfect recording: of CPU 0 only, where the program runs, with
# stack copies of 512 bytes and switches missing. truth.txt is the program's own log of its slowest
# answers. Statically linked: the C library's functions have their names wherever it is read.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root with perfkit's build on PATH.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
gcc -O1 -fno-optimize-sibling-calls -static -pthread -Wl,--build-id -o /srv/perfkit/orders orders.c
strip -g /srv/perfkit/orders
perf record -N -q -a -C 0 -m 4096 -k CLOCK_MONOTONIC --call-graph dwarf,512 \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-o /tmp/orders.data -- taskset -c 0 chrt -f 50 /srv/perfkit/orders 1 >truth.txt
python3 ../bystanders.py /tmp/orders.data -- orders front-0 front-1 snapshot chrt
python3 ../kallsyms.py /tmp/orders.data >/tmp/orders.kallsyms
mkdir -p /tmp/orders.symfs/srv/perfkit
cp /srv/perfkit/orders /tmp/orders.symfs/srv/perfkit/
perfkit pack /tmp/orders.data --no-local --symfs /tmp/orders.symfs \
	--kallsyms /tmp/orders.kallsyms -q -o orders.tar.zst
rm -rf /tmp/orders.data /tmp/orders.symfs /tmp/orders.kallsyms
