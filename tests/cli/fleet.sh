#!/bin/sh
# fleet: questions over the tables of several recordings, asked of DuckDB: sums are the store's; what
# cannot be asked is said.
. "$SRC/tests/lib/readers.sh"
bad=0
wrong() { echo "$*"; bad=1; }
refuses()  # STATUS WORDS OPTIONS...
{
	status=$1 words=$2
	shift 2
	"$PERFKIT" fleet "$@" >out 2>err </dev/null
	rc=$?
	[ $rc = "$status" ] && [ ! -s out ] && grep -qF -- "$words" err || wrong "fleet $*: status $rc, $(cat err)"
}
gunzip -c "$SRC/testdata/kinds/perf.data.gz" >kinds.data
cp "$SRC/testdata/orders/orders.tar.zst" "$SRC/testdata/waits/perf.data" .
# another host: its name stands in the file, padded to 64 bytes
python3 "$SRC/tests/bench_fleet.py" host perf.data other-host 864000 other.data || wrong "cannot rename the host"
# with other pids and tids, and nothing else that is other
threads() { "$PERFKIT" report -q --all --no-local --by thread --csv $1 2>err | awk -F, -v OFS=, -v by=$2 'NR > 1 { $2 += by * ($2 > 2); $3 += by * ($3 > 2) } 1' | sort; }
threads other.data 5000 >was
"$O/tests/prog/shiftids" other.data 5000 >out 2>&1 || wrong "shiftids: $(cat out)"
threads other.data 0 >a
[ "$(wc -l <a)" -gt 30 ] && cmp -s was a || wrong "other tids, another answer: $(diff was a | head -4)"
"$PERFKIT" export -q --no-local --to parquet -o tables orders.tar.zst kinds.data perf.data other.data 2>err || wrong "export: $(cat err)"
refuses 2 'name a question'
refuses 2 "did you mean 'hosts'" host tables
refuses 2 'name the folder' hosts
refuses 1 'holds no tables' hosts .
refuses 2 '--since takes a day' --since yesterday hosts tables
refuses 2 '--since takes a day' --since "2026-01-01'" hosts tables
PATH=/nowhere "$PERFKIT" fleet hosts tables >out 2>err
[ $? = 3 ] && grep -q 'pip install duckdb' err && [ ! -s out ] || wrong "without an engine: $(cat err)"
# so it is when whoever starts perfkit ignores the ends of its children
python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execve(sys.argv[1], sys.argv[1:], {"PATH": "/nowhere"})' "$PERFKIT" fleet hosts tables >out 2>err
[ $? = 3 ] && grep -q 'pip install duckdb' err || wrong "children ignored: $(cat err)"
# an engine that is killed leaves nothing behind, neither among the tables nor where it spilled
mkdir killed "it's"
cat >killed/duckdb <<'END'
#!/bin/sh
folder=$(printf '%s\n' "$*" | sed -n "s/^.*SET temp_directory = '\(.*\)';\$/\1/p" | sed "s/''/'/g")
echo "$folder" >"${0%/*}/spilt" && mkdir -p "$folder/deep" && echo x >"$folder/deep/spilt" && kill -9 $$
END
chmod +x killed/duckdb
TMPDIR="$PWD/it's" PATH=$PWD/killed:$PATH "$PERFKIT" fleet --no-sandbox hosts tables >out 2>err
[ $? = 1 ] && grep -q "^$PWD/it's/" killed/spilt && [ -z "$(ls -A "it's")" ] && [ ! -e tables/.tmp ] || wrong "a killed engine: $(cat killed/spilt err; ls -AR "it's")"
# an answer without an end ends
mkdir endless && printf '#!/bin/sh\nexec yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n' >endless/duckdb && chmod +x endless/duckdb
PATH=$PWD/endless:$PATH timeout 60 "$PERFKIT" fleet hosts tables >out 2>err
[ $? = 1 ] && [ ! -s out ] && grep -q 'tables: the answer is larger than 256 MB' err || wrong "an endless answer: $(head -c 300 err)"
# what a table holds does not control the terminal, nor does what the engine says
mkdir loud
cat >loud/duckdb <<'END'
#!/bin/sh
printf 'said \033[2J\nmore\n' >&2
printf 'ho\033st,waits,wait_ns\n"evil\033]0;x\007 name",3,4\n'
exit 0
END
chmod +x loud/duckdb
for options in "" --csv; do
	for status in 0 1; do
		# shellcheck disable=SC2086
		sed -i "s/^exit .*/exit $status/" loud/duckdb && PATH=$PWD/loud:$PATH "$PERFKIT" fleet $options hosts tables >out 2>err
		! LC_ALL=C grep -q "$(printf '[\033\007]')" out err || wrong "fleet $options prints controls: $(cat -v out err)"
		grep -q '^said ␛\[2J$' err && grep -q '^more$' err || wrong "what the engine says: $(cat -v err)"
		[ $status = 1 ] || grep -q 'evil␛\]0;x␇ name' out || wrong "fleet $options: $(cat -v out)"
	done
done
# every file of fleet/ is a question, and each can be had for each engine
for f in "$SRC"/fleet/*.sql; do
	q=$(basename "$f" .sql)
	case $q in prelude.*) continue ;; esac
	questions="${questions:-} $q"
	for engine in duckdb clickhouse spark; do
		"$PERFKIT" fleet $q --sql $engine >sql 2>err || wrong "$q --sql $engine: $(cat err)"
		cat "$SRC/fleet/prelude.$engine.sql" "$f" | cmp -s - sql || wrong "$q --sql $engine is not what fleet/ holds"
	done
done

has duckdb || { [ $bad = 0 ] || exit 1; echo "left out: no duckdb here (make readers)"; exit 0; }
mkdir bin && ln -s "$reader" bin/python3 && printf '#!/bin/sh\nexec "%s" "$@"\n' "$reader" >bin/python3.sh && rm bin/python3 &&
	mv bin/python3.sh bin/python3 && chmod +x bin/python3
PATH=$PWD/bin:$PATH
# nothing but the answer goes to stdout, however long it takes
"$reader" -c 'import duckdb, os, sys
os.chdir("tables")
duckdb.connect().execute("SET progress_bar_time = 100; " + open(sys.argv[1]).read() +
                         "SELECT count(*) FROM range(100000000) t(i) WHERE hash(i) % 7 = 3").fetchall()' \
	"$SRC/fleet/prelude.duckdb.sql" >progress 2>err || wrong "a long query: $(tail -1 err)"
[ ! -s progress ] || wrong "DuckDB adds to the answer: $(head -c 100 progress)"
for q in $questions; do
	"$PERFKIT" fleet $q tables >$q.txt 2>err || wrong "fleet $q: $(cat err)"
	"$PERFKIT" fleet --csv $q tables >$q.csv 2>err || wrong "fleet --csv $q: $(cat err)"
	[ "$(wc -l <$q.txt)" -ge 2 ] || wrong "fleet $q: $(cat $q.txt)"
done
for form in text markdown json; do
	"$PERFKIT" fleet --format $form --budget 1500 worst tables >cut 2>err || wrong "fleet --format $form: $(cat err)"
	[ "$(wc -c <cut)" -le 1500 ] && grep -q 'left.out' cut && grep -q 'perfkit fleet' cut &&
		{ [ $form != json ] || "$reader" -m json.tool cut >whole; } || wrong "fleet --format $form --budget: $(cat cut)"
done
cp "$SRC/testdata/orders-one-cpu/orders.tar.zst" one-cpu.tar.zst
"$PERFKIT" export -q --no-local --to parquet -o days orders.tar.zst one-cpu.tar.zst 2>err || wrong "export: $(cat err)"
"$PERFKIT" fleet --csv new days >days.csv 2>err || wrong "fleet new: $(cat err)"
# so are tables of a version that did not write which function of a stack is the program's
cp -r days older
"$reader" - $(ls older/call_paths/*/*/* | head -1) <<'E1' || wrong "no older tables"
import duckdb, sys
duckdb.sql(f"COPY (SELECT * EXCLUDE function FROM read_parquet('{sys.argv[1]}', hive_partitioning = false)) TO 'older.parquet'")
E1
mv older.parquet "$(ls older/call_paths/*/*/* | head -1)"
"$PERFKIT" fleet --csv new older >older.csv 2>err && cmp -s days.csv older.csv || wrong "older tables: $(cat err; diff days.csv older.csv)"
# but one line says that there are no others, or that a table is missing
mkdir oldest && cp -r older/* oldest && rm -r oldest/call_paths
refuses 1 'a table that this question needs is missing' new oldest
[ "$(wc -l <err)" = 1 ] || wrong "no table: $(cat err)"
cp -r days/call_paths oldest
for f in oldest/call_paths/*/*/*; do
	"$reader" -c "import duckdb
duckdb.sql(\"COPY (SELECT * EXCLUDE function FROM read_parquet('$f', hive_partitioning = false)) TO 'older.parquet'\")" || wrong "no oldest tables"
	mv older.parquet "$f"
done
refuses 1 'tables of an older version' new oldest
[ "$(wc -l <err)" = 1 ] || wrong "the oldest tables: $(cat err)"
"$PERFKIT" import -q --no-local one-cpu.tar.zst -o one-cpu.db || wrong "import one-cpu.tar.zst"
# the fleet's waiting is that of the stores, recording by recording
for f in orders.tar.zst kinds.data perf.data; do "$PERFKIT" import -q --no-local $f -o $f.db || wrong "import $f"; done
python3 - <<'E2' || wrong "sums are not the stores'"
import csv, sqlite3, sys
csv.field_size_limit(1 << 24)
db = {f: sqlite3.connect(f + ".db") for f in ("orders.tar.zst", "kinds.data", "perf.data")}
one = lambda sql: sum((q.execute(sql).fetchone()[0] or 0) * (2 if f == "perf.data" else 1) for f, q in db.items())
rows = lambda name: list(csv.DictReader(open(name + ".csv")))
assert sum(int(r["waited_ns"]) for r in rows("hosts")) == one(
    "SELECT sum(work_ns) FROM v_offcpu WHERE NOT system")
assert sum(int(r["weight"]) for r in rows("flame")) == one("SELECT sum(ns) FROM v_folded_offcpu")
assert sum(int(r["waits"]) for r in rows("losses")) == one("SELECT count(*) FROM offcpu")
assert sum(int(r["missing_switches"]) for r in rows("losses")) == one("SELECT count(*) FROM losses WHERE kind = 'hole'") > 0
assert {r["host"] for r in rows("losses")} >= {"other-host"} and len(rows("losses")) >= 2
both = [r for r in rows("roots") if r["hosts"] == "2"]
assert both and all(int(r["episodes"]) % 2 == 0 for r in both), rows("roots")
spans = {r["name"]: r for r in rows("spans")}
for name, r in spans.items():
    lengths = sorted(x for x, in db["kinds.data"].execute(
        "SELECT end_ns - start_ns FROM spans WHERE name = ? AND NOT open AND NOT suspect", (name,)))
    n = len(lengths)
    for column, p in (("p50_ns", 50000), ("p99_ns", 99000), ("p999_ns", 99900)):
        assert int(r[column]) == lengths[(n * p + 99999) // 100000 - 1], (name, column, r)
assert spans and int(rows("worst")[0]["duration_ns"]) == max(int(r["duration_ns"]) for r in rows("worst"))
# new: `orders`, recorded two days after what was recorded on one CPU. A function of a program has its time with all
# that it called; what the kernel called is not listed.
import collections
days = [sqlite3.connect(f) for f in ("one-cpu.db", "orders.tar.zst.db")]
ran, waited, whole = ([collections.Counter() for q in days] for _ in range(3))
for q, functions, waits, sums in zip(days, ran, waited, whole):
    frames = dict((i, (n, k)) for i, n, k in q.execute(
        "SELECT f.id, y.name, f.kind FROM frames f LEFT JOIN symbols y ON y.id = f.symbol_id"))
    paths = {i: (p, f) for i, p, f in q.execute("SELECT id, parent_id, frame_id FROM call_paths")}
    program = dict(q.execute("SELECT t.pid, c.comm FROM threads t JOIN comms c ON c.id = t.comm_id WHERE t.tid = t.pid"))
    for pid, comm, path, ns in q.execute(
            "SELECT t.pid, c.comm, s.call_path_id, sum(s.period) FROM samples s JOIN selected_events e ON e.id = s.event_id "
            "JOIN threads t ON t.id = s.thread_id JOIN comms c ON c.id = t.comm_id "
            "WHERE e.name LIKE '%clock%' AND NOT t.kernel AND NOT t.recorder GROUP BY 1, 2, 3"):
        names = set()
        sums[program[pid]] += ns
        while path:
            path, frame = paths[path]
            names |= {frames[frame][0]} if frames[frame][1] != "kernel" else set()
        for name in names:
            functions[program[pid], comm, "running", name] += ns
    for verdict, *key, ns in q.execute(
            "SELECT s.verdict, s.program, s.role, s.cause, coalesce(y.name, ''), "
            "sum(iif(o.unknown_reason IS NULL, o.blocked_ns, o.wait_ns)) "
            "FROM v_offcpu o JOIN sites s ON s.id = o.site_id LEFT JOIN frames f ON f.id = s.frame_id "
            "LEFT JOIN symbols y ON y.id = f.symbol_id WHERE s.verdict <> 'idle' AND NOT o.system GROUP BY s.id"):
        waits[(verdict, *key)] += ns
        sums[key[0]] += ns if verdict == "work" else 0
long = [q.execute("SELECT end_ns - origin_ns FROM recordings").fetchone()[0] for q in days]
known = {k[0] for k in ran[0]} | {k[1] for k in waited[0]}
def news(sums, program):
    was, now = sums
    return {k: ns for k, ns in now.items() if k[program] in known and ns and ns / long[1] > 2 * was[k] / long[0]}
answer = list(csv.DictReader(open("days.csv")))
got = {(r["program"], r["role"], r["cause"], r["function"]): int(r["day_ns"]) for r in answer if r["what"] == "function"}
want = news(ran, 0)
assert len(got) == 20 <= len(want) and all(want[k] == ns for k, ns in got.items()), (want, got)
assert ("orders", "snapshot", "running", "compress_pages") in got
got = {("work" if r["what"] == "wait site" else "unclear", r["program"], r["role"], r["cause"], r["function"]): int(r["day_ns"])
       for r in answer if r["what"].endswith(" site")}
assert got == news(waited, 1) and ("work", "orders", "snapshot", "sleep", "write_pages") in got, (got, news(waited, 1))
new = {r["program"]: int(r["day_ns"]) for r in answer if r["what"] == "program"}
assert all(whole[1][p] == ns for p, ns in new.items()), (new, whole)
assert "backtest" in new and not new.keys() & known and not any(r["program"] in new for r in answer if r["what"] != "program"), answer
E2
# where they are elsewhere, DuckDB is told so
"$PERFKIT" fleet --csv hosts "file://$PWD/tables" >elsewhere.csv 2>err && cmp -s hosts.csv elsewhere.csv || wrong "a URL: $(cat err)"
# every host has its share of suspect waits beside its figures
python3 - <<'E3' || wrong "a lossy host looks healthy"
import csv
shares = {r["host"]: r["percent_suspect"] for r in csv.DictReader(open("hosts.csv"))}
assert any(float(x) > 0 for x in shares.values()), shares
E3
"$PERFKIT" fleet --csv losses days >losses.days || wrong "fleet losses"
"$PERFKIT" tail -q --no-local one-cpu.tar.zst >out 2>err || grep -q 'cannot say what p99.9 is' err &&
	grep -q ',without_worst_waits$' losses.days && grep -q '^vm,2,.*,1$' losses.days || wrong "losses: $(cat losses.days)"
# a thread's name that would break a folded line
python3 -c "open('newline.data', 'wb').write(open('perf.data', 'rb').read().replace(b'burner\\0', b'a\\nb;1 \\0'))"
"$PERFKIT" export -q --no-local --to parquet -o newline newline.data 2>err || wrong "export: $(cat err)"
for q in flame cpu; do
	"$PERFKIT" fleet $q newline >$q.newline 2>err || wrong "fleet $q: $(cat err)"
	grep -q '^a␊b:1 ;' $q.newline && ! grep -vE ' [0-9]+$' $q.newline || wrong "$q: $(grep -a 'b[:;]1' $q.newline | head -1)"
done
awk '{ s += $NF } END { printf "%.0f\n", s }' flame.txt >a
awk -F, 'NR > 1 { s += $NF } END { printf "%.0f\n", s }' flame.csv >b
cmp -s a b || wrong "flame: folded lines are not the answer: $(cat a b)"
"$PERFKIT" svg -q - -o fleet.svg <flame.txt 2>err && grep -q '<svg' fleet.svg || wrong "flame | svg: $(cat err)"
# from a day on: the other host was recorded ten days later
day=$(ls tables/recordings | sort | tail -1 | sed 's/date=//')
"$PERFKIT" fleet --csv --since "$day" losses tables >since.csv 2>err || wrong "--since: $(cat err)"
[ "$(wc -l <since.csv)" -lt "$(wc -l <losses.csv)" ] && grep -q '^other-host' since.csv || wrong "--since $day: $(cat since.csv)"
# other engines, where they are: the same answers
"$reader" "$SRC/tests/bench_fleet.py" ask duckdb tables "$SRC/fleet" answers.duckdb >out 2>&1 || wrong "duckdb: $(tail -3 out)"
for engine in clickhouse:chdb; do
	has ${engine#*:} || { echo "left out: no ${engine#*:} here (pip install ${engine#*:})"; continue; }
	"$reader" "$SRC/tests/bench_fleet.py" ask ${engine%:*} tables "$SRC/fleet" answers.${engine%:*} >out 2>&1 || wrong "$engine: $(tail -3 out)"
	diff -r answers.duckdb answers.${engine%:*} >differ || wrong "$engine answers otherwise: $(head -5 differ)"
done
exit $bad
