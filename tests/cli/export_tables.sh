#!/bin/sh
# export --to parquet: every row of the tables is the store's of the same recording; a store's tables are
# its recordings'; twice exported counts once; hostile names stay names; nothing is seen of an export that
# failed.
. "$SRC/tests/lib/readers.sh"
bad=0
wrong() { echo "$*"; bad=1; }
tables() { "$PERFKIT" export --to parquet -q -f --no-local "$@" 2>err || wrong "export $*: $(cat err)"; }
files() { (cd "$1" && find . -type f | sort); }

# --- what needs no reader: which files there are ------------------------------------------------------
waits=$SRC/testdata/waits/perf.data
tables -o twice "$waits"
[ "$(files twice | wc -l)" = 27 ] || wrong "a file a table: $(files twice)"
(cd twice && cat $(files .) | cksum) >was
cp "$waits" same-bytes.data
tables -o twice same-bytes.data
[ "$(files twice | wc -l)" = 27 ] || wrong "exported twice counts twice: $(files twice)"
tables -o once same-bytes.data
(cd once && find . -type f | sort | grep -v -e recordings/ -e recording_files/ | xargs cat | cksum) >a
(cd twice && find . -type f | sort | grep -v -e recordings/ -e recording_files/ | xargs cat | cksum) >b
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
refuses 2 '--comm does not go with --to parquet' --to parquet -o x --comm a "$waits"
refuses 2 'more than one FILE' --to pprof -o x "$waits" "$waits"
: >file
refuses 1 'is not a folder' --to parquet -o file "$waits"
cat "$waits" | "$PERFKIT" import -q --no-local -o run.db - || wrong "import of a stream"
refuses 2 'run.db, recording 1: has no id: that is a hash of a file' --to parquet -o x run.db
refuses 2 '--recording is for stores' --to parquet -o x --recording 1 "$waits"
cat "$waits" | "$PERFKIT" export --to parquet -o x -q - 2>err && wrong "standard input has no bytes to tell it by"
[ -z "$(find x -type f 2>/dev/null)" ] || wrong "a refused export leaves something: $(files x)"
# a full disk, as it were: no file of the recording is seen
(ulimit -f 8; "$PERFKIT" export --to parquet -q --no-local -o full "$waits" 2>err) && wrong "no room, and no error"
[ -z "$(find full -type f 2>/dev/null)" ] || wrong "of an export that failed: $(files full)"
# nor when only the end of one is missing (shells count in blocks of 512 or 1024)
largest=$(find twice -type f -exec wc -c {} + | awk '$2 != "total" && $1 > n { n = $1 } END { print n }')
for blocks in $(((largest - 1) / 512)) $(((largest - 1) / 1024)); do
	rm -rf full
	rc=0
	(ulimit -f $blocks; "$PERFKIT" export --to parquet -q --no-local -o full "$waits" 2>err) || rc=$?
	n=$(find full -type f | grep -c .)
	[ $rc = 1 ] && [ "$n" = 0 ] || { [ $rc = 0 ] && [ "$n" = 27 ]; } || wrong "$blocks blocks: exit $rc, and $n files are seen"
	[ $rc = 0 ] || failed=1
done
[ -n "${failed-}" ] || wrong "no file was too large"
# names of folders are the host's, and no more than one folder
"$O/tests/prog/hostile" >hostile.data
tables -o hostile hostile.data
find hostile -type d | grep -q 'host=[-A-Za-z0-9._%]*$' && ! find hostile -type d | grep -q "$(printf '\033')" ||
	wrong "a hostile host: $(find hostile -type d)"

# --- a store's tables are those of its recordings, byte for byte ----------------------------------------
gunzip -c "$SRC/testdata/kinds/perf.data.gz" >kinds.data
gunzip -c "$SRC/testdata/off-cpu/perf.data.gz" >off-cpu.data
head -c 500000 "$waits" >cut.data
cp "$SRC/testdata/orders/orders.tar.zst" "$SRC/testdata/requests/otel.tar.zst" .
for f in demo events switch-events threads-dir worst-names cxx-names; do cp -r "$SRC/testdata/$f/perf.data" $f.data; done
gunzip -c "$SRC/testdata/requests/traces.jsonl.gz" >traces.jsonl
all="kinds.data off-cpu.data cut.data orders.tar.zst otel.tar.zst demo.data events.data switch-events.data
	threads-dir.data worst-names.data cxx-names.data hostile.data same-bytes.data"
same_tables() { diff -rq "$1" "$2" >differ || wrong "$2 is not $1: $(cat differ)"; }
for f in $all; do
	tables -o recordings $f
	"$PERFKIT" import -q --no-local $f -o $f.db || wrong "import $f"
	"$PERFKIT" export --to parquet -q -o stores $f.db 2>err || wrong "export $f.db: $(cat err)"
done
same_tables recordings stores
[ "$(files recordings | wc -l)" = $((27 * $(echo $all | wc -w))) ] || wrong "a file a table: $(files recordings)"
"$PERFKIT" import -q --no-local --force $all -o all.db 2>err || wrong "import of all: $(cat err)"
"$PERFKIT" import -q --force all.db -o copy.db 2>err || wrong "import of a store: $(cat err)"
for db in all copy; do
	"$PERFKIT" export --to parquet -q -o $db.tables $db.db 2>err || wrong "export $db.db: $(cat err)"
	same_tables recordings $db.tables
done
"$PERFKIT" export --to parquet -q -o fourth --recording 4 all.db 2>err || wrong "export --recording: $(cat err)"
tables -o orders orders.tar.zst
same_tables orders fourth
tables -o spans --with traces.jsonl otel.tar.zst
"$PERFKIT" import -q --no-local --with traces.jsonl otel.tar.zst -o with.db || wrong "import --with"
"$PERFKIT" export --to parquet -q -o spans.stores with.db 2>err || wrong "export with.db: $(cat err)"
same_tables spans spans.stores
# and a bundle has the id of the recording in it
mkdir bundle && tar --zstd -xf orders.tar.zst -C bundle || wrong tar
tables -o unpacked "$(find bundle -name perf.data)"
[ "$(files unpacked | sed -n 's,.*/,,p' | sort -u)" = "$(files orders | sed -n 's,.*/,,p' | sort -u)" ] ||
	wrong "a bundle's id is not its recording's: $(files unpacked)"

# --- what the tables hold --------------------------------------------------------------------------
has duckdb || { [ $bad = 0 ] || exit 1; echo "left out: no duckdb here (make readers)"; exit 0; }
stores=
for f in "$waits" kinds.data off-cpu.data cut.data orders.tar.zst otel.tar.zst demo.data events.data \
	switch-events.data threads-dir.data worst-names.data cxx-names.data hostile.data; do
	rm -rf one
	tables -o one $f
	[ -e $(basename $f).db ] || "$PERFKIT" import -q --no-local $f -o $(basename $f).db || wrong "import $f"
	stores="$stores $(basename $f).db"
	"$reader" "$SRC/tests/tablescheck.py" one $(basename $f).db >check 2>&1 || wrong "$f: $(tail -12 check)"
	[ $f != kinds.data ] || grep -q '^spans: 122 rows' check || wrong "$f: $(cat check)"
done
# several at once, in one folder; what a file given by --with says of spans, too
tables -o all "$waits" kinds.data orders.tar.zst demo.data
"$reader" "$SRC/tests/tablescheck.py" all perf.data.db kinds.data.db orders.tar.zst.db demo.data.db >check 2>&1 || wrong "together: $(tail -12 check)"
tables -o with --with traces.jsonl otel.tar.zst
"$reader" "$SRC/tests/tablescheck.py" with with.db >check 2>&1 && ! grep -q '^spans: 0' check || wrong "--with: $(tail -12 check)"
# the worst are those that tail names
"$PERFKIT" tail --no-local -q --all --json orders.tar.zst >tail.json 2>err || wrong "tail: $(cat err)"
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
