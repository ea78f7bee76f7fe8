#!/bin/sh
# Requests that one thread hands to two others, which share a lock (tests/truth/ldb.c): ldb.data is what
# LDB would have written of it, truth.txt the program's own log. Recorded with the scheduler's events,
# which carry no stacks; the program is linked statically, so that its calls are named by its symbols.
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root with perfkit's build on PATH.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-optimize-sibling-calls -static -pthread -Wno-unused-function \
	-Wl,--build-id -o /srv/perfkit/ldb ../../tests/truth/ldb.c
strip -g /srv/perfkit/ldb
tmp=$(mktemp -d)
perf record -N -q -a -m 4096 -k CLOCK_MONOTONIC \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-o "$tmp/ldb.perf" -- chrt -f 50 /srv/perfkit/ldb truth.txt ldb.data
python3 ../bystanders.py "$tmp/ldb.perf" -- ldb front worker chrt bash
mkdir -p "$tmp/symfs/srv/perfkit"
cp /srv/perfkit/ldb "$tmp/symfs/srv/perfkit/"
perfkit pack "$tmp/ldb.perf" --no-local --symfs "$tmp/symfs" --buildid-dir "" -q -o recording.tar.zst
rm -rf "$tmp"
