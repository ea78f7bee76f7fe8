#!/bin/sh
# recipe.sh: the threads of causes/ways.c, each named after what it waits for, recorded with system
# calls and without any stack. Run as root.
# perf version 6.1, Linux 6.18, x86-64, two CPUs.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
cc -O1 -g -pthread -o /srv/perfkit/ways ../causes/ways.c
(cd /srv/perfkit && perf record -q --switch-events -m 1024 -N -k CLOCK_MONOTONIC -e sched:sched_switch \
	-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -o ways.data -- ./ways .)
mv /srv/perfkit/ways.data perf.data
python3 ../bystanders.py perf.data -- ways helper lock rwlock semaphore cond join barrier futex sleep \
	poll pipe net io fault child signal yield preempt
gzip -9nf perf.data
