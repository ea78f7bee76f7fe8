#!/bin/sh
# bench_fleet.sh - a fleet's tables and questions: size, times, and whether engines agree.
#
#	BENCH_DIR     where all is made (default $O/bench); some GB, removed at the end unless KEEP is set
#	HOSTS         how many (default 200)
#	ENGINES       duckdb, and of clickhouse (chdb) and spark (pyspark) those that are here
#
# Three recordings are made here (root and perf): a busy host's scheduler events with stacks, CPU
# samples, and soft interrupts as spans. Each host is one of them with another name, at another time, with
# other pids and tids, exported by perfkit. The third load was there on the last day only, so that something
# is new.
set -eu
. "$(dirname "$0")/benchlib.sh"
. "$SRC/tests/lib/readers.sh"
hosts=${HOSTS:-200} perfkit=$O/perfkit
need_perf 'no recordings'
has duckdb || { echo "no duckdb here: make readers"; exit 1; }
fleet=$dir/fleet
rm -rf "$fleet"
mkdir -p "$fleet"
trap '[ -n "${KEEP:-}" ] || rm -rf "$fleet"' EXIT INT TERM

for k in 0 1 2; do
	[ -s "$dir/fleet$k.data" ] && continue
	echo "recording $k (some 10 s) ..." >&2
	case $k in
	0) load='perf bench -f simple sched messaging -p -t -g 4 -l 1200' ;;
	1) load='perf bench -f simple sched pipe -T -l 60000' ;;
	2) load='perf bench -f simple sched messaging -g 3 -l 900 & timeout 4 gzip </dev/urandom & perf bench -f simple sched pipe -l 30000; wait' ;;
	esac
	perf record -q -a -g -k CLOCK_MONOTONIC -m 8192 -o "$dir/fleet$k.data" -e sched:sched_switch,sched:sched_waking \
		-e sched:sched_wakeup -e irq:softirq_entry,irq:softirq_exit -e cpu-clock/freq=997/ sh -c "$load" >/dev/null 2>"$dir/stderr" || { cat "$dir/stderr"; exit 1; }
done

now=$(date +%s) recorded=0 i=0
start=$(date +%s.%N)
spent=0
while [ $i -lt "$hosts" ]; do
	day=$((i % 3 == 2 ? 0 : i % 7))
	python3 "$SRC/tests/bench_fleet.py" host "$dir/fleet$((i % 3)).data" "$(printf 'web-%03d' $i)" $((-day * 86400 + i * 13)) "$fleet/host.data"
	"$O/tests/prog/shiftids" "$fleet/host.data" $((i * 4099)) >/dev/null || exit 1
	recorded=$((recorded + $(wc -c <"$fleet/host.data")))
	begin=$(date +%s.%N)
	"$perfkit" export -q --no-local --span softirq --to parquet -o "$fleet/tables" "$fleet/host.data" 2>"$dir/stderr" || { cat "$dir/stderr"; exit 1; }
	spent=$(echo "$spent $begin $(date +%s.%N)" | awk '{ print $1 + $3 - $2 }')
	i=$((i + 1))
done
rm -f "$fleet/host.data"
rows=$("$reader" -c "
import duckdb, os
print(sum(duckdb.connect().execute(f\"SELECT count(*) FROM read_parquet('$fleet/tables/{t}/*/*/*.parquet')\").fetchone()[0] for t in os.listdir('$fleet/tables')))")
bytes=$(du -sb "$fleet/tables" | cut -f1)
echo "$hosts $recorded $rows $bytes $spent" | awk '{ printf "%d hosts: %.1f GB of recordings, %.1f million rows, %.2f GB of tables (%.1f %%), exported in %.0f s: %.2f million rows/s\n",
	$1, $2 / 1e9, $3 / 1e6, $4 / 1e9, 100 * $4 / $2, $5, $3 / 1e6 / $5 }'

for engine in ${ENGINES:-duckdb clickhouse spark}; do
	case $engine in clickhouse) module=chdb ;; spark) module=pyspark ;; *) module=$engine ;; esac
	has $module || { echo "$engine: not here"; continue; }
	"$reader" "$SRC/tests/bench_fleet.py" ask $engine "$fleet/tables" "$SRC/fleet" "$fleet/answers.$engine" 2>"$dir/stderr" || { tail -5 "$dir/stderr"; exit 1; }
	if [ $engine != duckdb ]; then
		diff -r "$fleet/answers.duckdb" "$fleet/answers.$engine" >"$dir/differ" && echo "$engine: the answers are those of duckdb" ||
			{ echo "$engine: other answers:"; head -5 "$dir/differ"; }
	fi
done
