#!/bin/sh
# Callchains that the kernel cuts at 127 frames, beside whole ones.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o /srv/perfkit/deep deep.c
perf record -N -q -k mono --switch-events -g -e cpu-clock/freq=97/u -e sched:sched_switch \
	-o perf.data /srv/perfkit/deep
strip -K main -K render -K visit -K work -o symfs/srv/perfkit/deep /srv/perfkit/deep
chmod 644 perf.data
gzip -9 -n -f perf.data
