# import: a recording and the store made of it are the same timeline; docs/store-questions.sql's queries
# answer on it; nothing but a store is ever replaced, and a killed import leaves the old one.
set -eu
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
rec=$SRC/testdata/waits/perf.data
"$PERFKIT" import -q --no-local "$rec" -o run.db

# the same intervals from both
"$O/tests/prog/tldump" "$rec" 2>/dev/null >from-recording.txt
"$PERFKIT" import -q "$rec" -o names.db
"$O/tests/prog/tldump" names.db >from-store.txt
cmp from-recording.txt from-store.txt
[ "$(wc -l <from-store.txt)" -gt 300 ]

# what was written is said by name, whoever chose it
"$PERFKIT" import --no-local "$rec" 2>err
cmp run.db perf.db
grep -qx "perfkit: perf.db: a store of 1 recording, [0-9.]* MB" err || { cat err; exit 1; }
"$PERFKIT" import -q --no-local "$rec" 2>err
if grep perf.db err; then echo "-q says more than warnings"; exit 1; fi
rm perf.db

# the same file again, whatever the threads did
for again in 1 2 3; do
	"$PERFKIT" import -q "$rec" -o again.db
	cmp names.db again.db
done

# the books balance in SQL too
bad=$(sqlite3 run.db "SELECT count(*) FROM v_thread_time
	WHERE life_ns <> run_ns + blocked_ns + runnable_ns + unknown_ns OR run_ns < 0")
[ "$bad" = 0 ]
bad=$(sqlite3 run.db "SELECT count(*) FROM (SELECT start_ns, lag(end_ns) OVER
	(PARTITION BY thread_id ORDER BY start_ns, end_ns) AS before FROM thread_states)
	WHERE before IS NOT NULL AND before <> start_ns")
[ "$bad" = 0 ]
[ "$(sqlite3 run.db 'PRAGMA foreign_key_check; PRAGMA integrity_check')" = ok ]

# every query of the file runs and answers
awk '/^-- [0-9]/ { n++; f = "q" n ".sql"; next } f { print > f }' "$SRC/docs/store-questions.sql"
n=0
for q in q*.sql; do
	sqlite3 names.db <"$q" >"$q.out"
	n=$((n + 1))
	[ -s "$q.out" ] || { echo "$q: no row"; cat "$q"; exit 1; }
done
[ $n = 11 ] || { echo "$n queries in docs/store-questions.sql, not eleven"; exit 1; }

# every table and column of the schema is on a page
for t in $(sqlite3 run.db "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
	AND name NOT LIKE 'sqlite_%'"); do
	grep -qw "$t" "$SRC/docs/store.md" "$SRC/docs/schema.md" || { echo "$t is on no page"; exit 1; }
	for c in $(sqlite3 run.db "SELECT name FROM pragma_table_info('$t')"); do
		case $t in v_* | thread_states) continue ;; esac
		grep -qw "$c" "$SRC/docs/store.md" "$SRC/docs/schema.md" || { echo "$t.$c is on no page"; exit 1; }
	done
done

# every value is of its column's type, on which readers like DuckDB insist
for t in $(sqlite3 names.db "SELECT name FROM sqlite_schema WHERE type = 'table'"); do
	sqlite3 names.db "SELECT name, lower(type) FROM pragma_table_info('$t')" | tr '|' ' ' >columns
	while read -r c type; do
		bad=$(sqlite3 names.db "SELECT count(*) FROM $t WHERE typeof($c) NOT IN ('$type', 'null')")
		[ "$bad" = 0 ] || { echo "$t.$c: $bad values are not $type"; exit 1; }
	done <columns
done

# recordings of the same time: their samples alternate in the table, which SQLite then orders
demo=$SRC/testdata/demo/perf.data
"$PERFKIT" import -q "$demo" -o one.db
"$PERFKIT" import -q --force "$demo" "$rec" "$demo" -o three.db 2>/dev/null
[ "$(sqlite3 three.db 'PRAGMA foreign_key_check; PRAGMA integrity_check')" = ok ]
one=$(sqlite3 one.db 'SELECT count(*) FROM sample_rows')
[ "$one" -gt 1000 ]
[ "$(sqlite3 three.db 'SELECT count(*) FROM sample_rows NATURAL JOIN
	(SELECT time_ns FROM sample_rows GROUP BY 1 HAVING count(*) > 1)')" -ge $((one * 2)) ]
"$PERFKIT" collapse -q one.db >one.txt
"$PERFKIT" collapse -q --recording 3 three.db >three.txt
cmp one.txt three.txt

# a file that is no store is not replaced
cp "$rec" mine.data
rc=0
"$PERFKIT" import -q "$rec" -o mine.data 2>err || rc=$?
[ $rc = 3 ]
cmp "$rec" mine.data
grep -q 'not replaced' err

# killed at any moment: the old store is whole, the next import works
sum=$(sha256sum <run.db)
for delay in 0.001 0.005 0.01 0.02 0.03 0.05; do
	"$PERFKIT" import -q "$rec" "$rec" "$rec" "$rec" -o run.db 2>/dev/null &
	pid=$!
	sleep $delay
	kill -9 $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
	now=$(sha256sum <run.db)
	if [ "$now" != "$sum" ]; then
		[ "$(sqlite3 run.db 'PRAGMA integrity_check')" = ok ]
		[ "$(sqlite3 run.db 'SELECT count(*) FROM recordings')" = 4 ]
		sum=$now
	fi
done

# ended by a signal that can be caught: nothing half written stays behind
mkfifo endless
for sig in TERM HUP; do
	"$PERFKIT" import -q endless -o ended.db 2>/dev/null &
	pid=$!
	exec 3>endless # import has it open from here on
	n=0
	until ls ended.db.tmp.* >/dev/null 2>&1 || [ $n = 100 ]; do sleep 0.1; n=$((n + 1)); done
	ls ended.db.tmp.* >/dev/null
	kill -$sig $pid
	rc=0
	wait $pid || rc=$?
	exec 3>&-
	[ $rc -gt 128 ]
	[ -z "$(ls | grep ended.db)" ] || { ls; exit 1; }
done

# newer and foreign files are refused by name
cp run.db newer.db
sqlite3 newer.db 'PRAGMA user_version = 99'
"$O/tests/prog/tldump" newer.db 2>err && exit 1
grep -q 'newer perfkit' err
