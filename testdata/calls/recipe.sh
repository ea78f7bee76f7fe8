#!/bin/sh
# A program (tests/truth/counted.c) that counts page faults and context switches of its own calls
# (log.txt), recorded with probes that read the same counters.
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root after `make check`.
set -e
cd "$(dirname "$0")"
O=${O:-../../build}
mkdir -p /srv/perfkit
cp "$O/tests/truth/counted" /srv/perfkit/
set -- --per-thread --switch-events -k CLOCK_MONOTONIC -c 1
for f in work walk; do
	perf probe -q -x /srv/perfkit/counted "truth:$f=$f"
	perf probe -q -x /srv/perfkit/counted "truth:$f=$f%return"
	for p in $f ${f}__return; do
		set -- "$@" -e "{truth:$p,page-faults,context-switches,task-clock}:S"
	done
done
perf record -q -N "$@" -o calls.data -- \
	taskset -c 0 chrt -f 50 /srv/perfkit/counted log.txt --rounds 31
perf probe -q -d 'truth:*'
gzip -9nf calls.data
