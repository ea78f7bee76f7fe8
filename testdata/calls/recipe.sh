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
gzip -9nf calls.data

# perf 6.12.107 (Debian 13's, unpacked to /opt): all probes in the group of the counters, with
# `cycles`, for which perf takes a clock on this machine; and a group that perf parts.
perf612=${PERF612:-/opt/perf612/run}
set -- record -q -N --per-thread -T --sample-cpu --switch-events -k CLOCK_MONOTONIC -c 1
c=cycles/period=0/
for counter in page-faults context-switches task-clock; do
	c=$c,$counter/period=0,name=$counter/
done
$perf612 "$@" -e "{$c,truth:work:S,truth:work__return:S,truth:walk:S,truth:walk__return:S}" \
	-o grouped.data -- taskset -c 0 chrt -f 50 /srv/perfkit/counted grouped.txt --rounds 31
$perf612 "$@" -e '{truth:work,page-faults/period=0/}:S' -e truth:work__return -o parted.data -- \
	/srv/perfkit/counted parted.txt --rounds 3
rm parted.txt
perf probe -q -d 'truth:*'
gzip -9nf grouped.data parted.data
