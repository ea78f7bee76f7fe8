#!/bin/sh
# Queries under labels (contrib/dynamic_label.hpp; tests/truth/labelled.cc), on two threads of one CPU:
# labels.txt is what its trampolines stood for, truth.csv what each thread worked on and when, both on
# CLOCK_MONOTONIC. Recorded on all CPUs with frame pointers and packed as a bundle.
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root with perfkit's build on PATH. The
# program is linked statically, so its frames need no file of the machine.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
g++ -std=c++17 -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -static -pthread \
	-I../.. -Wl,--build-id -Wl,--gc-sections -o /srv/perfkit/labelled ../../tests/truth/labelled.cc
strip -g /srv/perfkit/labelled
tmp=$(mktemp -d)
DYNAMIC_LABELS=labels.txt perf record -N -q -a -m 4096 -k CLOCK_MONOTONIC --call-graph fp \
	-e cpu-clock/freq=1999/ \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-o "$tmp/labelled.data" -- taskset -c 0 chrt -f 50 /srv/perfkit/labelled truth.csv 101
python3 ../bystanders.py "$tmp/labelled.data" -- labelled chrt taskset bash
python3 ../kallsyms.py "$tmp/labelled.data" >"$tmp/kallsyms"
python3 ../vdso.py "$tmp/debug"
mkdir -p "$tmp/symfs/srv/perfkit"
cp /srv/perfkit/labelled "$tmp/symfs/srv/perfkit/"
perfkit pack "$tmp/labelled.data" --no-local --symfs "$tmp/symfs" --buildid-dir "$tmp/debug" \
	--kallsyms "$tmp/kallsyms" -q -o labelled.tar.zst
rm -rf "$tmp"
