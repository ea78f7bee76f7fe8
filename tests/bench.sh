#!/bin/sh
# bench.sh - perfkit collapse beside perf and beside the floors, on one recording.
#
#	BENCH_DIR    where recordings are kept and reused (default $O/bench)
#	BENCH_FILE   measure this recording instead
#	BENCH_SIZE   200M (default: a real recording of about that size) or 1G (that recording's
#	             samples repeated with later times until the file has 1 GiB; said so below)
#	STACKCOLLAPSE  path of stackcollapse-perf.pl, to measure that pipeline as well
#	BENCH_QUICK=1  leave perf out: perfkit and the floors only
#
# The first run of each reader warms the page cache; of perfkit and the floors the best of three
# is shown. MB are 10^6 bytes. "private" is anonymous memory; a mapped file is not.
set -eu
. "$(dirname "$0")/benchlib.sh"

build_workload()
{
	${CC:-cc} -O1 -fno-omit-frame-pointer -fno-inline -fno-optimize-sibling-calls -pthread \
		-DDEPTH=14 -w -o "$dir/shop" "$SRC/testdata/demo/shop.c"
}

# Many processes and threads, some of them short-lived, user and kernel stacks.
record()
{
	command -v perf >/dev/null 2>&1 || { echo "bench: no perf here; set BENCH_FILE" >&2; exit 1; }
	build_workload
	cat >"$dir/load.sh" <<-END
		i=0
		while [ \$i -lt 28 ]; do
			"$dir/shop" 1 2 & "$dir/shop" 1.3 1 & "$dir/shop" 0.7 3 & "$dir/shop" 1 1 &
			wait
			i=\$((i + 1))
		done
	END
	echo "recording about 200 MB of frame-pointer stacks (some 40 s) ..." >&2
	perf record -q -N -m 4096 -F 49999 -e cpu-clock -g -o "$1.tmp" sh "$dir/load.sh" 2>/dev/null
	mv "$1.tmp" "$1"
}

# A store of a million waits: pairs of processes that pass a byte, groups that pass messages.
make_waits()
{
	[ -f "$dir/waits.db" ] && return 0
	perf bench sched pipe -l 10 >/dev/null 2>&1 || return 1
	echo "recording a million waits (some 20 s; a minute on a busy machine) ..." >&2
	perf record -q -a -N -m 4096 -k CLOCK_MONOTONIC -c 1 -e sched:sched_switch/call-graph=fp/ \
		-e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new \
		-o "$dir/waits.data" -- sh -c 'perf bench sched messaging -p -t -g 4 -l 500 &
		perf bench sched pipe -l 450000 & wait' >/dev/null 2>&1 || return 1
	"$O/perfkit" import -q --force "$dir/waits.data" -o "$dir/waits.db" && rm "$dir/waits.data"
}

if [ -n "${BENCH_FILE:-}" ]; then
	file=$BENCH_FILE
	what="the recording given"
else
	file=$dir/fp200.data
	what="a real recording"
	[ -f "$file" ] || record "$file"
	if [ "${BENCH_SIZE:-200M}" = 1G ]; then
		[ -f "$dir/fp1g.data" ] || "$prog/grow" "$file" "$dir/fp1g.data" 1073741824
		file=$dir/fp1g.data
		what="synthesised: a real recording's samples repeated with later times"
	fi
fi
bytes=$(wc -c <"$file")
cat "$file" >/dev/null
echo "$file: $((bytes / 1000000)) MB, $("$prog/walk" "$file"); $what"
echo "$(uname -m), $(nproc) CPUs, Linux $(uname -r), $(perf --version 2>/dev/null || echo no perf)"
printf '%-34s %9s %9s %9s %10s %10s %9s\n' '' 'wall s' 'cpu s' 'MB/s' 'peak MB' 'private MB' 'x perfkit'


# label runs command...: the best of `runs`
best()
{
	label=$1
	shift
	measure "$@"
	: "${base:=$wall}"
	awk -v l="$label" -v b="$bytes" -v wall="$wall" -v cpu="$cpu" -v peak="$peak" \
		-v private="$private" -v base="$base" -v status="$status" 'BEGIN {
		printf "%-34s %9.3f %9.2f %9.0f %10.1f %10.1f %9.2f%s\n", l, wall, cpu,
			b / 1e6 / wall, peak, private, wall / base,
			status == 0 ? "" : "  (exit " status ")" }'
}

best 'perfkit collapse --no-inline' 3 "$O/perfkit" collapse -q --no-inline -i "$file"
best 'cat' 3 cat "$file"
best 'walk over record headers' 3 "$prog/walk" "$file"
best 'libparse: every record' 3 "$prog/recstat" "$file"
if make_waits; then
	bytes=$(wc -c <"$dir/waits.db")
	waits=$("$O/perfkit" tail -q --force --details 0 --rows 1 "$dir/waits.db" |
		awk '$1 == "work" && $2 ~ /^[0-9,]+$/ { gsub(",", "", $2); print $2; exit }')
	echo "$dir/waits.db: $waits waits"
	best 'perfkit tail STORE' 3 "$O/perfkit" tail -q --force "$dir/waits.db"
	awk -v n="$waits" -v wall="$wall" -v cpu="$cpu" 'BEGIN {
		printf "  a million waits: %.2f s, processor time %.2f s (aim: under 1 s)\n",
			wall * 1e6 / n, cpu * 1e6 / n }'
fi
[ -n "${BENCH_QUICK:-}" ] && exit 0
command -v perf >/dev/null 2>&1 || { echo "no perf here to compare with"; exit 0; }
best 'perf script --no-inline' 1 perf script --no-inline -i "$file"
best 'perf report --stdio -g folded' 1 \
	perf report --no-inline --stdio -g folded,0,caller -i "$file"
if [ -n "${STACKCOLLAPSE:-}" ]; then
	best 'perf script | stackcollapse' 1 \
		sh -c 'perf script --no-inline -i "$1" | "$2"' - "$file" "$STACKCOLLAPSE"
fi
