#!/bin/sh
# A thread that spins on CPU 1 and notes every gap (tests/truth/gaps.c): truth.txt says what took the
# CPU from it, gaps.txt is what it noted, sampler.csv the longest gap of each 10 ms, as samplers write.
# Recorded with the scheduler's events, interrupts, softirqs and vectors; no stacks.
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root with perfkit's build on PATH.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
gcc -std=gnu11 -D_GNU_SOURCE -O1 -pthread -Wno-unused-function -o /srv/perfkit/gaps ../../tests/truth/gaps.c
tmp=$(mktemp -d)
perf record -N -q -a -m 4096 -k CLOCK_MONOTONIC \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-e 'irq:*' -e 'irq_vectors:local_timer_*' -e 'irq_vectors:resch*' -e 'irq_vectors:call_function*' \
	-o "$tmp/gaps.data" -- chrt -f 50 /srv/perfkit/gaps truth.txt gaps.txt sampler.csv
python3 ../bystanders.py "$tmp/gaps.data" -- gaps spinner disturber chrt bash
perfkit pack "$tmp/gaps.data" --no-local --buildid-dir "" -q -o gaps.tar.zst
rm -rf "$tmp"
