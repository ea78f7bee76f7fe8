# LDB's events (--with ldb.data): requests, also those handed over, time in the queue, waits for and
# holds of a mutex, and calls, as the program's own log has them; in whatever order the file is.
set -eu
for tool in python3 sqlite3; do
	command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
kept=$SRC/testdata/ldb
file=$kept/recording.tar.zst
bad() { echo "$*"; exit 1; }
spans() { sqlite3 "$1" "SELECT name, coalesce(key_text, ''), start_ns, end_ns FROM spans"; }

"$PERFKIT" import --no-local --with "$kept/ldb.data" "$file" -o ldb.db 2>err
grep -q 'ldb.data: 549 spans on CLOCK_MONOTONIC (assumed: on no other do they lie in the recording), exact$' err
spans ldb.db >spans
python3 "$SRC/tests/truth/check_ldb.py" "$kept/truth.txt" spans

# records in any order, and a torn one
python3 - "$kept/ldb.data" <<'END'
import random, sys
data = open(sys.argv[1], "rb").read()
v = [data[i:i + 40] for i in range(0, len(data), 40)]
random.Random(7).shuffle(v)
open("shuffled.data", "wb").write(b"".join(v))
open("torn.data", "wb").write(data + data[:17])
v.insert(3, b"\x63" + v[3][1:])
open("broken.data", "wb").write(b"".join(v))
open("shifted.data", "wb").write(b"\x01" + data)
END
"$PERFKIT" import -q --no-local --with shuffled.data "$file" -o shuffled.db
spans shuffled.db | sort >a && sort spans | cmp - a
"$PERFKIT" import --no-local --with torn.data "$file" -o torn.db 2>err
grep -q 'torn.data: 1 of 611 rows are left out: record 611: the last record is torn' err
spans torn.db | cmp - spans
"$PERFKIT" import --no-local --with broken.data "$file" -o broken.db 2>err
grep -q 'broken.data: 1 of 611 rows are left out: record 4: an event of unknown type' err
spans broken.db | sort | cmp - a

# functions by where they were called from, beside the log
"$PERFKIT" report -q --no-local --by function --csv --with "$kept/ldb.data" "$file" >functions.csv
python3 - functions.csv "$kept/truth.txt" <<'END'
import csv, sys
sites = {}
for line in open(sys.argv[2]):
    w = line.split()
    if w[0] == "call":
        sites.setdefault(int(w[1]), []).append(int(w[4]) - int(w[3]))
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == len(sites) == 3
want = sorted((len(v), sorted(v)[(len(v) + 1) // 2 - 1], max(v), sum(v)) for v in sites.values())
got = sorted((int(r["calls"]), int(r["p50_ns"]), int(r["max_ns"]), int(r["total_ns"])) for r in rows)
assert got == want, (got, want)
names = sorted(r["name"].split("+")[0] for r in rows)
assert names == ["handle at ldb", "handle at ldb", "works at ldb"], names
END

# a request goes from thread to thread; its mutex; the store says the same
"$PERFKIT" tail -q --no-local --by span:request --key 1030 --with "$kept/ldb.data" "$file" >one.txt
grep -q 'front/[0-9]* to worker/' one.txt || bad 'the request is not handed over'
"$PERFKIT" report -q --no-local --by label:mutex --csv --with "$kept/ldb.data" "$file" | grep -q '^0x[0-9a-f]*,61,' ||
	bad 'no waits by mutex'
for q in function span label:held; do
	"$PERFKIT" report -q --no-local --by $q --with "$kept/ldb.data" "$file" >file.txt
	"$PERFKIT" report -q --by $q ldb.db | cmp - file.txt
done
"$PERFKIT" timeline -q --no-local --comm worker --comm front --with "$kept/ldb.data" "$file" -o t.svg
grep -q 'mutex hold' t.svg || bad 'no holder in the timeline'
python3 - t.svg <<'END'
import re, sys
names = re.search(r"<t-strings>(.*?)</t-strings>", open(sys.argv[1]).read(), re.S)[1].split("\n")
for want in ("request part", "works at ldb", "handle at ldb", "mutex wait", "mutex hold", "in queue", "1030"):
    assert any(n.startswith(want) for n in names), want
END
# who holds the mutex is another thread than who waits, in that thread's row
python3 - <<'END'
import sqlite3
rows = sqlite3.connect("ldb.db").execute("""SELECT w.thread_id, h.thread_id,
        min(w.end_ns, h.end_ns) - max(w.start_ns, h.start_ns) FROM spans w JOIN spans h
        ON h.name = 'mutex hold' AND h.start_ns < w.end_ns AND h.end_ns > w.start_ns
        JOIN labels a ON a.span_id = w.id AND a.key = 'mutex'
        JOIN labels b ON b.span_id = h.id AND b.key = 'held' AND b.value = a.value
        WHERE w.name = 'mutex wait' AND w.end_ns - w.start_ns > 1000""").fetchall()
assert rows and all(w != h for w, h, _ in rows), rows
END

# maps.data, LDB's copy of /proc/PID/maps: a store names calls by it, as far as it goes; so does a
# recording in which the process is another one's
cp "$kept/ldb.data" ldb.data
"$PERFKIT" import -q --no-local "$file" -o bare.db
"$PERFKIT" report -q --by function --csv --with ldb.data bare.db | cut -d, -f1 | sort >none.txt
grep -q '^0x[0-9a-f]*$' none.txt || bad "$(cat none.txt)"
{ echo '00400000-00401000 r--p 00000000 08:01 1835 /srv/perfkit/ldb'
	echo '00401000-00600000 r-xp 00001000 08:01 1835 /srv/perfkit/ldb'
	echo '7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]'; } >maps.data
"$PERFKIT" report -q --by function --csv --with ldb.data bare.db | cut -d, -f1 | sort >stored.txt
cut -d, -f1 functions.csv | sed 's/.* at //' | sort | cmp - stored.txt
mv maps.data elsewhere
"$PERFKIT" report -q --by function --csv --with ldb.data,maps=elsewhere bare.db | cut -d, -f1 | sort | cmp - stored.txt
# threads that were not recorded are of no process, but the file is one of the recording
python3 - <<'END'
data = bytearray(open("ldb.data", "rb").read())
for at in range(0, len(data), 40):
    data[at + 14] = 0x3f # tids that nobody had
open("strangers.data", "wb").write(data)
END
"$PERFKIT" report -q --no-local --by function --csv --with strangers.data,maps=elsewhere "$file" | cut -d, -f1 | sort >strangers.txt
cut -d, -f1 functions.csv | sort | cmp - strangers.txt

# the older layout; what is none
python3 - <<'END'
import struct
rec = lambda *a: struct.pack("<iIIIQQQ", *a)
old = [rec(2, 5, 0, 9, 1000, 0, 0), rec(4, 5, 1, 9, 0x7f0000001000, 0, 0), rec(5, 5, 2, 9, 0x7f0000001000, 0, 0),
       rec(6, 5, 3, 9, 0x7f0000001000, 0, 0), rec(1, 5, 4, 9, 3, 0x401000, 1)]
open("old.data", "wb").write(b"".join(old))
END
refused()
{
	want=$1 words=$2
	shift 2
	rc=0
	"$PERFKIT" report -q --no-local --by function "$@" "$file" 2>err >out || rc=$?
	[ $rc = "$want" ] && grep -q -e "$words" err || { echo "$*: exit $rc"; cat err; exit 1; }
}
refused 1 "old.data: LDB's older layout with 8 types of events" --with old.data
refused 1 'shifted.data: not a known kind of side file' --with shifted.data
printf '00400000-00401000 r--p 00000000 08:01 1835 /a\n00401000 r-xp\n' >torn.maps
refused 1 'ldb.data: torn.maps: line 2: no mapping' --with ldb.data,maps=torn.maps
refused 1 'ldb.data: nothere: ' --with ldb.data,maps=nothere
printf 'start_ns,end_ns,tid\n1,2,3\n' >x.csv
refused 2 'maps= is for LDB' --with x.csv,maps=torn.maps
refused 3 'perf record -k CLOCK_MONOTONIC_RAW' --with "$kept/ldb.data,clock=raw"
exit 0
