#!/bin/sh
# A store is a stranger's: each table emptied, dropped, of other types, doubled, shadowed by an endless view
# gives an answer or one line, of every verb.
set -u
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
export HOME=$PWD TMPDIR=$PWD/t
mkdir t
bad=0
"$PERFKIT" import -q -f --no-local -o x.db "$SRC/testdata/sched/perf.data" || exit 1

# Facts about a file without the file.
cp x.db facts.db
python3 -c 'import sqlite3; c = sqlite3.connect("facts.db"); c.execute("DELETE FROM recording_files"); c.commit()'
"$PERFKIT" export -q -f --to parquet -o tables facts.db 2>err
[ $? = 1 ] && grep -q 'a damaged store: recording_files lacks recording 1' err || { echo "no file row: $(cat err)"; bad=1; }
python3 "$SRC/tests/tools/storewalk.py" "$PERFKIT" x.db || bad=1
exit $bad
