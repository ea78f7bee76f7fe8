#!/bin/sh
# The writer of Parquet: other programs read what was put in, every type, missing values, lists,
# hostile texts, no rows at all, and ten million of them in bounded memory.
. "$SRC/tests/lib/readers.sh"
has duckdb || has pyarrow || [ -d "$O/readers/node_modules/hyparquet" ] || { echo "left out: no reader of Parquet here (make readers)"; exit 77; }
bad=0
wrong() { echo "$*"; bad=1; }
for rows in 0 1 7 5000 131072 131073 10000000; do
	"$O/tests/prog/parquetgen" $rows t.parquet || wrong "cannot write $rows rows"
	read=$("$reader" "$SRC/tests/parquetcheck.py" t.parquet $rows "$O/readers" 2>err) || wrong "$rows rows: $(tail -2 err)"
done
case $read in "duckdb pyarrow hyparquet") ;; *) echo "left out: only $read is here (make readers)" ;; esac
# without its footer, no reader takes it for a table
head -c 100000 t.parquet >cut.parquet
"$reader" "$SRC/tests/parquetcheck.py" cut.parquet 10000000 "$O/readers" 2>err && wrong "a cut file is read"
# what is written goes out group by group
ulimit -v 400000
"$O/tests/prog/parquetgen" 3000000 t.parquet || wrong "3000000 rows in 400 MB"
exit $bad
