#!/bin/sh
# bench_requests.sh - side files (--with): how fast they are read and joined, each beside its aim.
#
#	BENCH_DIR      where files are kept and reused (default $O/bench)
#	BENCH_SCHED    join with this recording instead of the one of bench_sched.sh
#	BENCH_RUNS     runs of each command; the best counts (default 3)
#
# Made here: a million rows of CSV, 150 MB of LDB's events and 95 MB of OTLP, put on the bundled recording of a service, and
# a million spans on some four million scheduler events. Times are the CPU's, less those of the same
# question without the file.
set -eu
. "$(dirname "$0")/benchlib.sh"
times=${BENCH_RUNS:-3}
perfkit=$O/perfkit
for tool in python3 sqlite3; do
	command -v $tool >/dev/null 2>&1 || { echo "bench: no $tool here: nothing of side files"; exit 0; }
done

# row LABEL AMOUNT UNIT AIM STORE FILE[,offset=0] [TABLE]: what --with FILE costs
row()
{
	measure "$times" "$perfkit" report -q --by thread --top 1 "$5"
	base=$cpu
	measure "$times" "$perfkit" report -q --by "${7:-thread}" --top 1 --with "$6" "$5"
	awk -v l="$1" -v n="$2" -v u="$3" -v aim="$4" -v s="$cpu" -v b="$base" 'BEGIN {
		t = s - b > 0.001 ? s - b : 0.001
		printf "%-34s %8.2f s %8.1f %-9s aim %5.1f %s\n", l, t, n / t, u, aim, (n / t >= aim ? "yes" : "NO") }'
}

# range STORE: sets origin, end and wall
range()
{
	line=$(sqlite3 "$1" "SELECT origin_ns || ' ' || end_ns || ' ' || coalesce(wall_ns, 0) FROM recordings")
	wall=${line##* } origin=${line%% *} end=${line#* } end=${end% *}
}

"$perfkit" import -q --no-local "$SRC/testdata/requests/serve.tar.zst" -o "$dir/serve.db"
range "$dir/serve.db"
python3 "$SRC/tests/bench_requests.py" csv 1000000 "$origin" "$end" 18889 >"$dir/big.csv"
python3 "$SRC/tests/bench_requests.py" otlp 300000 "$wall" "$((wall + end - origin))" 0 >"$dir/big.jsonl"
row 'CSV, a million rows' 1 'M rows/s' 1 "$dir/serve.db" "$dir/big.csv"
python3 "$SRC/tests/bench_requests.py" ldb 3750000 "$origin" "$end" 18889 >"$dir/big.ldb"
row 'LDB, percentiles of all calls' 150 'MB/s' 150 "$dir/serve.db" "$dir/big.ldb" function
row 'OTLP' "$(($(wc -c <"$dir/big.jsonl") / 1000000))" 'MB/s' 100 "$dir/serve.db" "$dir/big.jsonl"

sched=${BENCH_SCHED:-$dir/sched.data}
[ -e "$sched" ] || { echo "bench: no $sched to join with (tests/bench_sched.sh makes it)"; exit 0; }
"$perfkit" import -q "$sched" -o "$dir/join.db"
range "$dir/join.db"
tid=$(sqlite3 "$dir/join.db" "SELECT t.tid FROM threads t JOIN offcpu o ON o.thread_id = t.id
	WHERE NOT t.kernel GROUP BY t.id ORDER BY count(*) DESC LIMIT 1")
python3 "$SRC/tests/bench_requests.py" csv 1000000 "$origin" "$end" "$tid" >"$dir/join.csv"
row 'join with scheduler events' 1 'M spans/s' 1 "$dir/join.db" "$dir/join.csv,offset=0"
