#!/bin/sh
# A planted tail (orders.c) and what ran, recorded on all CPUs with stack copies, packed as a bundle.
# truth.txt is the program's own log: its slowest answers, from lock to unlock, in ns.
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs, nothing else running; run as root with
# perfkit's build on PATH. When a virtual CPU of that machine goes idle, the kernel loses the
# records of some switches, so `orders backtest` keeps each CPU busy at SCHED_IDLE priority, which
# gives way to everything else. Of a hundred attempts this one was kept: it misses four switches,
# none of them of a thread that answers orders or holds their lock. Copies of 4 KB hold all stacks;
# larger ones lose more. The program is linked statically, so its frames need no file of the machine.
# perf itself is left unnamed.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
gcc -O1 -fno-optimize-sibling-calls -static -pthread -Wl,--build-id -o /srv/perfkit/orders orders.c
strip -g /srv/perfkit/orders
tmp=$(mktemp -d)
pids=
for cpu in $(seq 0 $(($(nproc) - 1))); do
	/srv/perfkit/orders backtest "$cpu" &
	pids="$pids $!"
done
sleep 0.5
perf record -N -q -a -m 4096 -k CLOCK_MONOTONIC --call-graph dwarf,4096 -e cpu-clock/freq=997/ \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-o "$tmp/orders.data" -- chrt -f 50 /srv/perfkit/orders 1 >truth.txt
kill $pids
python3 ../bystanders.py "$tmp/orders.data" -- orders front-0 front-1 snapshot backtest chrt bash kdamond.0
python3 ../kallsyms.py "$tmp/orders.data" >"$tmp/kallsyms"
python3 ../vdso.py "$tmp/debug"
# The source lines of the program that was recorded: the same compiler makes the same code with -g.
id=$(readelf -n /srv/perfkit/orders | sed -n 's/.*Build ID: //p')
at=$tmp/symfs/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)
gcc -g -O1 -fno-optimize-sibling-calls -static -pthread -Wl,--build-id=0x"$id" \
	-fdebug-prefix-map="$PWD=/srv/perfkit" -o "$tmp/with-lines" orders.c
mkdir -p "$at" "$tmp/symfs/srv/perfkit"
objcopy --only-keep-debug --compress-debug-sections=zlib "$tmp/with-lines"
objcopy --strip-all --keep-section='.debug*' "$tmp/with-lines" "$at/${id#??}.debug"
cp /srv/perfkit/orders "$tmp/symfs/srv/perfkit/"
perfkit pack "$tmp/orders.data" --no-local --symfs "$tmp/symfs" --buildid-dir "$tmp/debug" \
	--kallsyms "$tmp/kallsyms" --with-source . -q -o orders.tar.zst
sh ../squeeze.sh orders.tar.zst
rm -rf "$tmp"
