#!/bin/sh
# A small service (tests/truth/serve.c) that logs its requests as CSV, recorded on all CPUs with
# whole stacks and packed as a bundle. requests.csv is its log, on CLOCK_MONOTONIC.
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root with perfkit's build on PATH. Of
# several attempts one was kept in which no switch of the service's threads is missing. The
# program is linked statically, so its frames need no file of the machine.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-optimize-sibling-calls -static -pthread -Wno-unused-function \
	-Wl,--build-id -o /srv/perfkit/serve ../../tests/truth/serve.c
strip -g /srv/perfkit/serve
tmp=$(mktemp -d)
perf record -N -q -a -m 4096 -k CLOCK_MONOTONIC --call-graph dwarf,6144 \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-o "$tmp/serve.data" -- chrt -f 50 /srv/perfkit/serve requests.csv --requests 67
python3 ../bystanders.py "$tmp/serve.data" -- serve server snapshot chrt bash
python3 ../kallsyms.py "$tmp/serve.data" >"$tmp/kallsyms"
python3 ../vdso.py "$tmp/debug"
mkdir -p "$tmp/symfs/srv/perfkit"
cp /srv/perfkit/serve "$tmp/symfs/srv/perfkit/"
perfkit pack "$tmp/serve.data" --no-local --symfs "$tmp/symfs" --buildid-dir "$tmp/debug" \
	--kallsyms "$tmp/kallsyms" -q -o serve.tar.zst
rm -rf "$tmp"
