#!/bin/sh
# bench_page.sh - what a report of two million samples and a million waits costs in Chromium, each
# figure beside its aim: to open it, a selection's flame graph, a frame of the timeline, bytes.
#
#	BENCH_DIR      where the recording is kept and reused (default $O/bench)
#	BENCH_PAGE     measure this recording instead
#	BENCH_SECONDS  how long to record (default 42)
#
# Made here (root and perf): compilers, an interpreter and processes that talk through pipes,
# system-wide, samples at 25 kHz and all switches with frame pointers. Aims hold on two idle CPUs.
set -eu
. "$(dirname "$0")/benchlib.sh"
command -v chromedriver >/dev/null 2>&1 || { echo "bench: no chromedriver here: no reports"; exit 0; }
file=${BENCH_PAGE:-$dir/page.data}
loads=

load()  # COMMAND: again and again
{
	setsid sh -c "while :; do $1; done" >/dev/null 2>&1 </dev/null &
	loads="$loads $!"
}

stop_loads()
{
	for p in $loads; do kill -- "-$p" 2>/dev/null || true; done
}

record()
{
	need_perf "set BENCH_PAGE"
	trap stop_loads EXIT INT TERM
	load "for f in $SRC/libparse/*/*.c; do ${CC:-cc} -std=gnu11 -O1 -g -D_GNU_SOURCE -I$SRC -c -o /dev/null \$f; done"
	load "python3 -c 'import ast, inspect, textwrap
for i in range(99): ast.unparse(ast.parse(inspect.getsource(textwrap)))'"
	load "perf bench -f simple sched messaging -p -t -g 1 -l 1000"
	load "perf bench -f simple sched pipe -l 100000"
	load "perf bench -f simple sched pipe -l 100000"
	perf record -q -N -a -m 4096 -k CLOCK_MONOTONIC -c 1 -e sched:sched_switch/call-graph=fp/ \
		-e sched:sched_waking -e sched:sched_process_exit -e cpu-clock/freq=25000,name=cpu-clock,call-graph=fp/ \
		-o "$file.tmp" -- sleep "${BENCH_SECONDS:-42}" 2>"$dir/stderr" || { cat "$dir/stderr"; exit 0; }
	stop_loads
	trap - EXIT INT TERM
	mv "$file.tmp" "$file"
}

[ -f "$file" ] || record
PYTHONPATH=$SRC/tests/browser python3 "$SRC/tests/browser/speed.py" "$O/perfkit" "$file"
