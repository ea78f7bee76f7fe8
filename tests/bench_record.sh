#!/bin/sh
# bench_record.sh - what recording costs, as the rows of docs/recording-cost.md: for each way to
# record, how much longer the same load takes, and how much is written, per event.
#
#	BENCH_DIR      where recordings are made (default $O/bench)
#	BENCH_RUNS     runs of each, taken in turn; the best counts (default 5)
#
# The load: two processes that pass a byte through pipes on one CPU; for probes,
# calls of an empty function. Needs root and perf.
set -eu
. "$(dirname "$0")/benchlib.sh"
times=${BENCH_RUNS:-5}
need_perf 'no recordings'
switches=20000 calls=20000
pk=$O/perfkit

cat >"$dir/calls.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) void called(void) { __asm__ volatile(""); }
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
int main(int argc, char **argv)
{
	FILE *f = fopen(argv[2], "w");
	double t = now();
	for (long i = argc > 1 ? atol(argv[1]) : 0; i; i--)
		called();
	fprintf(f, "%.9f\n", now() - t);
	return fclose(f);
}
END
${CC:-cc} -O1 -o "$dir/calls" "$dir/calls.c"
cat >"$dir/load.sh" <<END
taskset -c 0 perf bench -f simple sched pipe -l $((switches / 2)) >"$dir/seconds"
END

lost() # FILE
{
	perf report --stats -i "$1" 2>/dev/null | awk '/LOST events:/ {n = $3} END {print n + 0}'
}

# The load says itself how long it took: starting and ending perf is not in it.
pipes() # [MODE OPTIONS...]
{
	if [ $# = 0 ]; then
		sh "$dir/load.sh"
	else
		"$pk" record "$@" -o "$dir/cost.data" -- sh "$dir/load.sh" >"$dir/err" 2>&1 ||
			{ cat "$dir/err" >&2; return 1; }
	fi
	cat "$dir/seconds"
}

called() # [MODE OPTIONS...]
{
	if [ $# = 0 ]; then
		"$dir/calls" $calls "$dir/seconds"
	else
		"$pk" record "$@" -o "$dir/cost.data" -- "$dir/calls" $calls "$dir/seconds" \
			>"$dir/err" 2>&1 || { cat "$dir/err" >&2; return 1; }
	fi
	cat "$dir/seconds"
}

cat >"$dir/ways" <<END
pipes||
pipes|\`offcpu\`, dwarf:4096, per switch|offcpu --stacks dwarf:4096
pipes|\`offcpu --stacks fp\`, per switch|offcpu --stacks fp
pipes|\`offcpu --stacks none\`, per switch|offcpu --stacks none
pipes|\`offcpu --comm\` of others, per switch|offcpu --comm nobody-* --stacks fp
pipes|\`tail\`, dwarf:4096, per switch|tail --stacks dwarf:4096 --no-lock-owner
pipes|\`tail --stacks fp\`, per switch|tail --stacks fp --no-lock-owner
called||
called|\`calls\`, per call: entry, return, three counters|calls -x $dir/calls -r called
END

# In turn, so that what else runs here meets all alike.
set -f
: >"$dir/took"
round=0
while [ $round -lt "$times" ]; do
	while IFS='|' read -r load name options; do
		# shellcheck disable=SC2086
		t=$($load $options </dev/null)
		bytes=0 gone=0
		if [ -n "$options" ]; then
			bytes=$(stat -c %s "$dir/cost.data")
			gone=$(lost "$dir/cost.data")
		fi
		echo "$load|$name|$t|$bytes|$gone" >>"$dir/took"
	done <"$dir/ways"
	round=$((round + 1))
done
rm -f "$dir/cost.data" "$dir/cost.data".*

echo "| what | more time per event | bytes per event | records lost |"
echo "|---|---|---|---|"
awk -F'|' -v pipes=$switches -v called=$calls '
	{
		way = $1 "|" $2
		if (!(way in best)) order[++n] = way
		if (!(way in best) || $3 < best[way]) best[way] = $3
		if ($4 > bytes[way]) bytes[way] = $4 # lost records write less
		if ($5 > lost[way]) lost[way] = $5
	}
	END {
		for (i = 1; i <= n; i++) {
			split(order[i], w, "|")
			if (w[2] == "") continue
			events = w[1] == "pipes" ? pipes : called
			more = (best[order[i]] - best[w[1] "|"]) * 1e6 / events
			printf "| %s | %s | %.2f kB | %d |\n", w[2],
				more < 0.5 ? "below 0.5 us" : sprintf("%.1f us", more),
				bytes[order[i]] / events / 1000, lost[order[i]]
		}
	}' "$dir/took"
