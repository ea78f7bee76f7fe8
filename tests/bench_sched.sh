#!/bin/sh
# bench_sched.sh - timelines of scheduler recordings beside perf sched timehist, and each figure
# beside its aim.
#
#	BENCH_DIR      where recordings are kept and reused (default $O/bench)
#	BENCH_SCHED    measure this recording instead of two that are made here
#	BENCH_RUNS     runs of each command, taken in turn; the best counts (default 3)
#
# Made here (root and perf): some four million events of threads that talk through pipes, without
# stacks, and as many with frame pointers. M/s are 10^6 samples a second; "private" is
# anonymous memory: mapped files, the recording's and those that intervals spill to, are not.
set -eu
. "$(dirname "$0")/benchlib.sh"
times=${BENCH_RUNS:-3}
need_perf 'no scheduler recordings'

# record OUT SIZE OPTIONS...: SIZE is what the load is multiplied by
record()
{
	out=$1 size=$2
	shift 2
	cat >"$dir/pipes.sh" <<-END
		perf bench -f simple sched messaging -p -t -g 4 -l $((size * 100)) >/dev/null &
		perf bench -f simple sched pipe -T -l $((size * 20000)) >/dev/null &
		perf bench -f simple sched pipe -l $((size * 20000)) >/dev/null &
		wait
	END
	echo "recording $out (some 30 s) ..." >&2
	perf record -q -a -m 8192 -o "$out.tmp" "$@" -e sched:sched_switch,sched:sched_waking \
		-e sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_process_exit \
		sh "$dir/pipes.sh" 2>"$dir/stderr" || { cat "$dir/stderr"; return 1; }
	mv "$out.tmp" "$out"
}

# name command...: one run; the best so far stays in $dir/row.NAME
run()
{
	name=$1
	shift
	"$prog/measure" "$@" 3>"$dir/row" >"$dir/out.$name" 2>"$dir/err.$name" || true
	cat "$dir/row" >>"$dir/rows.$name"
	sort -n "$dir/rows.$name" | head -1 >"$dir/row.$name"
}

# name label aim: aim is "R M/s" or "R x" (times perf)
show()
{
	awk -v l="$2" -v aim="$3" -v n="$samples" -v p="$(cut -d' ' -f1 "$dir/row.perf")" '{
		split(aim, a, " ")
		got = a[2] == "x" ? $1 / p : n / 1e6 / $1
		ok = a[1] == "" ? "" : (a[2] == "x" ? got <= a[1] : got >= a[1]) ? "yes" : "NO"
		printf "%-34s %8.2f %8.2f %9.1f %8.2f %8.2f %9s %s\n", l, $1, $2, $4 / 1024,
			n / 1e6 / $1, $1 / p, aim, ok }' "$dir/row.$1"
}

# file aim_of_reading
measure_all()
{
	file=$1 reading=$2
	bytes=$(wc -c <"$file")
	cat "$file" >/dev/null
	samples=$("$prog/walk" "$file" | sed 's/.* records, \([0-9]*\) samples.*/\1/')
	echo
	echo "$file: $((bytes / 1000000)) MB, $samples samples"
	printf '%-34s %8s %8s %9s %8s %8s %9s %s\n' '' 'wall s' 'cpu s' 'private' 'M/s' 'x perf' \
		aim reached
	rm -f "$dir"/rows.*
	i=0
	while [ $i -lt "$times" ]; do
		run perf perf sched timehist -s -i "$file"
		run build "$prog/tldump" "$file" -c
		sed -n 's/^build \([0-9.]*\) s.*/\1/p' "$dir/err.build" >>"$dir/rows.built"
		run report "$O/perfkit" report -q -i "$file"
		run offcpu "$O/perfkit" collapse -q --offcpu -i "$file"
		run tail "$O/perfkit" tail -q --p999 -i "$file"
		run import "$O/perfkit" import -q "$file" -o "$dir/sched.db"
		i=$((i + 1))
	done
	show perf 'perf sched timehist -s' ''
	awk -v b="$(sort -n "$dir/rows.built" | head -1)" '{ $1 = b; print }' "$dir/row.build" \
		>"$dir/row.state"
	show state 'reading and state machine' "$reading M/s"
	show report 'perfkit report' '0.59 x'
	show offcpu 'perfkit collapse --offcpu' '0.59 x'
	show tail 'perfkit tail --p999' ''
	show import 'perfkit import' '1.2 M/s'
	awk -v b="$bytes" -v d="$(wc -c <"$dir/sched.db")" 'BEGIN {
		printf "the store is %.0f %% of the recording (aim 60 %%: %s)\n", 100 * d / b,
			d <= b * 0.6 ? "yes" : "NO" }'
	length "$file"
}

# file: the same twice as long, and what that does to private memory
length()
{
	"$prog/twice" "$1" "$dir/twice.data" || return 0
	run report2 "$O/perfkit" report -q -i "$dir/twice.data"
	run offcpu2 "$O/perfkit" collapse -q --offcpu -i "$dir/twice.data"
	run import2 "$O/perfkit" import -q "$dir/twice.data" -o "$dir/sched.db"
	rm -f "$dir/twice.data"
	for name in report offcpu import; do
		awk -v name=$name -v one="$(cut -d' ' -f4 "$dir/row.$name")" '{
			printf "twice as long: %-6s %5.0f MB private instead of %4.0f, %.2f times (aim 1.5: %s)\n",
				name, $4 / 1024, one / 1024, $4 / one,
				$4 / one <= 1.5 ? "yes" : "NO" }' "$dir/row.${name}2"
	done
}

if [ -n "${BENCH_SCHED:-}" ]; then
	measure_all "$BENCH_SCHED" 3
	exit 0
fi
[ -f "$dir/sched.data" ] || record "$dir/sched.data" 18 || exit 0
measure_all "$dir/sched.data" 10
[ -f "$dir/sched-fp.data" ] || record "$dir/sched-fp.data" 20 --call-graph fp || exit 0
measure_all "$dir/sched-fp.data" 3
