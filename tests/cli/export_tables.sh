#!/bin/sh
# export --to parquet: every row of the tables is the store's of the same recording; twice exported
# counts once; hostile names stay names; nothing is seen of an export that failed.
. "$SRC/tests/lib/readers.sh"
bad=0
wrong() { echo "$*"; bad=1; }
tables() { "$PERFKIT" export --to parquet -q --no-local "$@" 2>err || wrong "export $*: $(cat err)"; }
files() { (cd "$1" && find . -type f | sort); }

# --- what needs no reader: which files there are ------------------------------------------------------
waits=$SRC/testdata/waits/perf.data
tables -o twice "$waits"
[ "$(files twice | wc -l)" = 15 ] || wrong "a file a table: $(files twice)"
(cd twice && cat $(files .) | cksum) >was
cp "$waits" same-bytes.data
tables -o twice same-bytes.data
[ "$(files twice | wc -l)" = 15 ] || wrong "exported twice counts twice: $(files twice)"
tables -o once same-bytes.data
(cd once && find . -type f | sort | grep -v recordings/ | xargs cat | cksum) >a
(cd twice && find . -type f | sort | grep -v recordings/ | xargs cat | cksum) >b
cmp -s a b || wrong "another export of the same bytes is another"
refuses()  # STATUS WORDS OPTIONS...
{
	status=$1 words=$2
	shift 2
	"$PERFKIT" export "$@" >out 2>err </dev/null
	rc=$?
	[ $rc = "$status" ] && grep -qF -- "$words" err || wrong "export $*: status $rc, $(cat err)"
}
refuses 2 'name it with -o DIR' --to parquet "$waits"
refuses 2 '--comm does not go with --to perfetto and parquet' --to parquet -o x --comm a "$waits"
refuses 2 'one FILE only' --to pprof -o x "$waits" "$waits"
: >file
refuses 1 'is no folder' --to parquet -o file "$waits"
"$PERFKIT" import -q --no-local "$waits" -o run.db || wrong import
refuses 3 'a store' --to parquet -o x run.db
[ ! -e x ] || wrong "a refused export leaves something: $(files x)"
cat "$waits" | "$PERFKIT" export --to parquet -o x -q - 2>err && wrong "standard input has no bytes to tell it by"
[ -z "$(find x -type f 2>/dev/null)" ] || wrong "a refused export leaves something: $(files x)"
# a full disk, as it were: no file of the recording is seen
(ulimit -f 8; "$PERFKIT" export --to parquet -q --no-local -o full "$waits" 2>err) && wrong "no room, and no error"
[ -z "$(find full -type f 2>/dev/null)" ] || wrong "of an export that failed: $(files full)"
# names of folders are the host's, and no more than one folder
"$O/tests/prog/hostile" >hostile.data
tables -o hostile hostile.data
find hostile -type d | grep -q 'host=[-A-Za-z0-9._%]*$' && ! find hostile -type d | grep -q "$(printf '\033')" ||
	wrong "a hostile host: $(find hostile -type d)"

# --- what the tables hold --------------------------------------------------------------------------
has duckdb || { [ $bad = 0 ] || exit 1; echo "left out: no duckdb here (make readers)"; exit 0; }
gunzip -c "$SRC/testdata/kinds/perf.data.gz" >kinds.data
gunzip -c "$SRC/testdata/off-cpu/perf.data.gz" >off-cpu.data
head -c 500000 "$waits" >cut.data
cp "$SRC/testdata/orders/orders.tar.zst" "$SRC/testdata/requests/otel.tar.zst" .
for f in demo events switch-events threads-dir worst-names cxx-names; do cp -r "$SRC/testdata/$f/perf.data" $f.data; done
stores=
for f in "$waits" kinds.data off-cpu.data cut.data orders.tar.zst otel.tar.zst demo.data events.data \
	switch-events.data threads-dir.data worst-names.data cxx-names.data hostile.data; do
	rm -rf one
	tables -o one $f
	"$PERFKIT" import -q --no-local $f -o $(basename $f).db || wrong "import $f"
	stores="$stores $(basename $f).db"
	"$reader" "$SRC/tests/tablescheck.py" one $(basename $f).db >check 2>&1 || wrong "$f: $(tail -12 check)"
	[ $f != kinds.data ] || grep -q '^spans: 122 rows' check || wrong "$f: $(cat check)"
done
# several at once, in one folder; what a file given by --with says of spans, too
tables -o all "$waits" kinds.data orders.tar.zst demo.data
"$reader" "$SRC/tests/tablescheck.py" all perf.data.db kinds.data.db orders.tar.zst.db demo.data.db >check 2>&1 || wrong "together: $(tail -12 check)"
gunzip -c "$SRC/testdata/requests/traces.jsonl.gz" >traces.jsonl
tables -o with --with traces.jsonl otel.tar.zst
"$PERFKIT" import -q --no-local --with traces.jsonl otel.tar.zst -o with.db || wrong "import --with"
"$reader" "$SRC/tests/tablescheck.py" with with.db >check 2>&1 && ! grep -q '^spans: 0' check || wrong "--with: $(tail -12 check)"
# the worst are those that tail names
"$PERFKIT" tail --no-local -q --json orders.tar.zst >tail.json 2>err || wrong "tail: $(cat err)"
"$reader" - <<'E2' || wrong "episodes are not tail's"
import duckdb, json
rows = duckdb.sql("""SELECT e.nth, e.start_ns - r.origin_ns, e.duration_ns, t.tid, e.cause, e.root_comm, e.root_function, e.root_ns
    FROM read_parquet('all/episodes/*/*/*.parquet') e JOIN read_parquet('all/recordings/*/*/*.parquet') r USING (recording)
    JOIN read_parquet('all/threads/*/*/*.parquet') t ON t.recording = e.recording AND t.id = e.thread_id
    WHERE r.file LIKE '%orders%' AND e.kind = 'wait' ORDER BY e.nth""").fetchall()
tail = json.load(open("tail.json"))
want = [(x["rank"], x["start_ns"], x["duration_ns"], x["tid"], x["cause"], x["root"]["comm"], x["root"]["function"] or None,
         x["root"]["ns"]) for x in tail["episodes"]]
assert rows and rows == want, (rows[:2], want[:2])
E2
exit $bad
