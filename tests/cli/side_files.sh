# Side files of each format (--with): in any order, torn, with broken rows, on a wrong clock, with a
# million rows. Broken rows are counted and told by line, the rest is as it was; an import that fails
# leaves no store. A trace that viztracer wrote, read beside perfkit, is the witness for Chrome traces.
set -eu
for tool in python3 sqlite3; do
	command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
kept=$SRC/testdata
bad() { echo "$*"; exit 1; }
# What a store has of the side file, in no order.
facts()
{
	sqlite3 "$1" "SELECT s.name, coalesce(s.key_text, ''), s.start_ns, s.end_ns, coalesce(t.tid, ''),
			(SELECT group_concat(l.key || '=' || l.value, ' ') FROM
				(SELECT key, value FROM labels WHERE span_id = s.id ORDER BY key, value) l)
		FROM spans s LEFT JOIN threads t ON t.id = s.thread_id
		UNION ALL SELECT 'bound', history, from_ns, '', key, value FROM label_bindings" |
		LC_ALL=C sort
}

# variants.py KIND FILE: shuffled, torn, broken and late; the broken row's number on stdout, and how
# many the whole file has
cat >variants.py <<'END'
import gzip, json, random, re, sys
kind, path = sys.argv[1:]
data = (gzip.open if path.endswith(".gz") else open)(path, "rb").read()
HOUR = 3600 * 10**9
def split(d):
    if kind == "ldb":
        return b"", [d[i:i + 40] for i in range(0, len(d), 40)], b""
    if kind == "chrome":
        t = json.loads(d)["traceEvents"]
        return b'{"traceEvents":[\n', [json.dumps(e).encode() for e in t], b"\n]}\n"
    lines = d.splitlines(True)
    if kind == "otlp":
        return b"", [line for line in lines if line.strip()], b""
    n = 1 if kind == "csv" else sum(not line.startswith(b"bind ") for line in lines)
    return b"".join(lines[:n]), lines[n:], b""
head, rows, tail = split(data)
glue = b",\n" if kind == "chrome" else b""
def put(name, v, end=tail):
    open(name, "wb").write(head + glue.join(v) + end)
put("whole", rows)
mixed = rows[:]
random.Random(5).shuffle(mixed)
put("shuffled", mixed)
put("torn", rows[:-1] + [rows[-1][:len(rows[-1]) // 2]], b"")
at = len(rows) // 2
broken = {"csv": b"1,2\n", "otlp": b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":7}]}]}]}\n',
          "chrome": b'{"ph":"X","ts":"soon","dur":1,"pid":1,"tid":1,"name":"x"}',
          "ldb": b"\x02\0\0\0" + b"\xff" * 12 + b"\0" * 24, "labels": b"bind 0 never table x\n"}[kind]
put("broken", rows[:at] + [broken] + rows[at:])
def late(r):
    if kind == "ldb":
        return r[:4] + (int.from_bytes(r[4:8], "little") + 3600).to_bytes(4, "little") + r[8:]
    if kind == "chrome":
        return re.sub(rb'"ts": ([0-9]+)', lambda m: b'"ts": %d' % (int(m[1]) + HOUR // 1000), r)
    if kind == "otlp":
        return re.sub(rb'(UnixNano":")([0-9]+)', lambda m: m[1] + b"%d" % (int(m[2]) + HOUR), r)
    if kind == "labels":
        return re.sub(rb"^(bind \d+ )(\d+)", lambda m: m[1] + b"%d" % (int(m[2]) + HOUR), r)
    w = r.split(b",")
    return b",".join([b"%d" % (int(x) + HOUR) for x in w[:2]] + w[2:])
put("late", [late(r) for r in rows])
text = kind != "ldb" # as Windows writes it
open("windows", "wb").write(b"\xef\xbb\xbf" * text + (data.replace(b"\n", b"\r\n") if text else data))
open("cut.gz", "wb").write(gzip.compress(data)[:-9])
print(head.count(b"\n") + at + 1)
END

imported() # FILE: into new.db, what it says into err
{
	rm -f new.db
	"$PERFKIT" import --no-local -f --with "$1" "$recording" -o new.db 2>err
}

# each KIND FILE RECORDING
each()
{
	kind=$1 file=$2 recording=$3 unit=line
	[ "$kind" != ldb ] || unit=record
	line=$(python3 variants.py "$kind" "$file")
	imported "$file" || { cat err; bad "$kind: not imported"; }
	facts new.db >want
	[ -s want ] || bad "$kind: nothing in the store"
	imported whole && facts new.db | cmp - want || bad "$kind: written anew it is another"
	if [ "$kind" != labels ]; then # bindings of one time hold in the order of the file
		imported shuffled && facts new.db | cmp - want || bad "$kind: in another order it says something else"
	fi
	imported windows && facts new.db | cmp - want || { cat err; bad "$kind: with a byte order mark and CRLF it is another"; }
	imported broken && facts new.db | cmp - want || { cat err; bad "$kind: a broken row spoils others"; }
	grep -q "^perfkit: broken: 1 of [0-9,]* rows are left out: $unit $line: " err || { cat err; bad "$kind: not $unit $line"; }
	imported torn || { cat err; bad "$kind: the torn one is refused"; }
	grep -Eq '^perfkit: torn: (1 of [0-9,]* rows (is|are) left out: (line|record) [0-9]*|.*torn)' err || { cat err; bad "$kind: the tear is not told"; }
	facts new.db >some
	[ -s some ] || bad "$kind: nothing of what is whole"
	# a clock that does not fit, one that is cut off, and a second file that cannot be read: no store, one line each
	for with in late cut.gz "$file --with none.csv"; do
		rm -f new.db
		rc=0
		# shellcheck disable=SC2086
		"$PERFKIT" import -q --no-local --with $with "$recording" -o new.db 2>err || rc=$?
		[ $rc = 1 ] || [ $rc = 3 ] || { cat err; bad "$kind, $with: status $rc"; }
		[ ! -e new.db ] && [ "$(wc -l <err)" = 1 ] || { ls; cat err; bad "$kind, $with: half imported"; }
		[ -z "$(find . -name '.new.db*' -o -name 'new.db?*')" ] || bad "$kind, $with: leaves files"
	done
}
printf 'a,b\n1,2\n' >none.csv
each csv "$kept/requests/requests.csv" "$kept/requests/serve.tar.zst"
serve=$kept/requests/serve.tar.zst
"$PERFKIT" import -q --no-local "$serve" -o serve.db
origin=$(sqlite3 serve.db 'SELECT origin_ns FROM recordings')
wall=$(sqlite3 serve.db 'SELECT wall_ns FROM recordings')
pid=$(sqlite3 serve.db 'SELECT pid FROM threads WHERE tid = 18889')
python3 "$SRC/tests/truth/retell.py" otlp "$kept/requests/requests.csv" "$pid" "$((wall - origin))" >traces.jsonl
each otlp traces.jsonl "$serve"
each chrome "$kept/requests/trace.json.gz" "$kept/requests/traced.tar.zst"
each ldb "$kept/ldb/ldb.data" "$kept/ldb/recording.tar.zst"
each labels "$kept/labels/labels.txt" "$kept/labels/labelled.tar.zst"

# viztracer's file, function by function to the nanosecond; and around each order the program's own log
traced=$kept/requests/traced.tar.zst
"$PERFKIT" import -q --no-local --with "$kept/requests/trace.json.gz" "$traced" -o traced.db
facts traced.db >spans
python3 - "$kept/requests/trace.json.gz" "$kept/requests/traced.csv" spans <<'END'
import csv, decimal, gzip, json, sys
got = sorted((f[0], int(f[2]), int(f[3]), int(f[4])) for f in (x.rstrip("\n").split("|") for x in open(sys.argv[3])))
ns = lambda us: int(us * 1000)
events = json.loads(gzip.open(sys.argv[1]).read(), parse_float=decimal.Decimal)["traceEvents"]
want = sorted((e["name"], ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["tid"]) for e in events if e["ph"] == "X")
assert got == want and len(want) > 290, (len(got), len(want), [x for x in zip(got, want) if x[0] != x[1]][:3])
orders = sorted((f, t, tid) for name, f, t, tid in got if name.startswith("order "))
log = sorted((int(r["start_ns"]), int(r["end_ns"]), int(r["tid"])) for r in csv.DictReader(open(sys.argv[2])))
assert len(orders) == len(log) == 62
for o, r in zip(orders, log):
    assert o[2] == r[2] and r[0] <= o[0] < o[1] <= r[1], (o, r)
END
"$PERFKIT" report -q --by span --csv traced.db >tables.csv
python3 - "$kept/requests/trace.json.gz" tables.csv <<'END'
import csv, decimal, gzip, json, sys
sums = {}
for e in json.loads(gzip.open(sys.argv[1]).read(), parse_float=decimal.Decimal)["traceEvents"]:
    if e["ph"] == "X":
        sums.setdefault(e["name"], []).append(int(e["dur"] * 1000))
rows = {r["name"]: r for r in csv.DictReader(open(sys.argv[2]))}
assert rows.keys() == sums.keys()
for name, v in sums.items():
    r = rows[name]
    assert (int(r["calls"]), int(r["total_ns"]), int(r["max_ns"])) == (len(v), sum(v), max(v)), (name, r)
END

# uftrace and XRay, whose begins and ends are events of their own: every call, its times and its thread
tools=$kept/requests/tools.tar.zst
for kind in uftrace xray; do
	"$PERFKIT" import -q --no-local --with "$kept/requests/$kind.json.gz" "$tools" -o $kind.db
	facts $kind.db >spans
	sqlite3 $kind.db 'SELECT origin_ns, wall_ns FROM recordings' >clocks
	python3 - "$kept/requests/$kind.json.gz" spans clocks $kind <<'END'
import collections, decimal, gzip, json, sys
trace, spans, clocks, kind = sys.argv[1:]
origin, wall = map(int, open(clocks).read().split("|"))
shift = wall - origin if kind == "xray" else 0
got = collections.Counter((f[0], int(f[2]), int(f[3]), int(f[4])) for f in (x.rstrip("\n").split("|") for x in open(spans)))
ns = lambda e: int(decimal.Decimal(e["ts"]) * 1000) - shift
want, open_ = collections.Counter(), collections.defaultdict(list)
for e in json.loads(gzip.open(trace).read(), parse_float=decimal.Decimal)["traceEvents"]:
    tid = int(e.get("tid", e["pid"]))
    if e["ph"] == "B":
        open_[tid].append(e)
    elif e["ph"] == "E":
        begin = open_[tid].pop()
        want[begin["name"], ns(begin), ns(e), tid] += 1
assert got == want, (len(got), len(want), list((got - want).items())[:3], list((want - got).items())[:3])
calls = collections.Counter(name for name, _, _, _ in got.elements())
assert (calls["bill"], calls["price"], calls["audit"]) == (41, 41, 3), calls
END
done

# OpenTelemetry's SDK for Python, with the kernel's threads: each span is its thread's, none a window
"$PERFKIT" import --no-local --with "$kept/requests/python.jsonl.gz" "$tools" -o python.db 2>err
grep -q 'python.jsonl.gz: 68 spans on CLOCK_REALTIME, within 1.0 us$' err || { cat err; bad 'python: the spans'; }
! grep -q windows err || { cat err; bad 'python: windows'; }
facts python.db >spans
python3 - "$kept/requests/python.jsonl.gz" spans <<'END'
import gzip, json, sys
got = sorted((f[0], f[1], int(f[4])) for f in (x.rstrip("\n").split("|") for x in open(sys.argv[2])))
want = sorted((s["name"], s["traceId"], next(int(a["value"]["intValue"]) for a in s["attributes"] if a["key"] == "thread.id"))
              for line in gzip.open(sys.argv[1]) for r in json.loads(line)["resourceSpans"]
              for scope in r["scopeSpans"] for s in scope["spans"])
assert got == want and len(want) == 68, (got[:3], want[:3])
END

# a million rows of each
million() # KIND RECORDING WANT: the file on standard input
{
	"$PERFKIT" report --no-local --by span --json --with - "$2" >rows.json 2>err || { cat err; bad "$1: a million rows"; }
	grep -q "$3" err || { cat err; bad "$1: not a million"; }
}
# rows KIND FROM_NS TID
cat >rows.py <<'END'
import struct, sys
kind, begin, tid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
put, n = sys.stdout.buffer.write, 1000000
if kind == "csv":
    put(b"start_ns,duration_ns,tid\n")
if kind == "chrome":
    put(b"[")
if kind == "labels":
    put(b"perfkit-labels v1\nclock mono\npid %d\ntramp 0 dynamic_label::trampoline<0>\n" % tid)
for i in range(n):
    t = begin + i * 100
    if kind == "csv":
        put(b"%d,50,%d\n" % (t, tid))
    elif kind == "chrome":
        put(b'%s{"ph":"X","ts":%d.%03d,"dur":0.05,"tid":%d,"name":"f"}\n' % (b"," if i else b"", t // 1000, t % 1000, tid))
    elif kind == "otlp":
        put(b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x","name":"f",'
            b'"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}]}]}]}\n' % (i + 1, i + 1, t, t + 50))
    elif kind == "ldb":
        put(struct.pack("<iIIIQQQ", 1, (t + 50) // 10**9, (t + 50) % 10**9, tid, 50, 0x401000, i))
    else:
        put(b"bind 0 %d table t%d\n" % (t, i % 7))
put(b"]" if kind == "chrome" else b"")
END
for kind in csv chrome ldb; do
	python3 rows.py $kind "$origin" 18889 | million $kind serve.db '1,000,000 spans'
	python3 -c 'import json; r = json.load(open("rows.json"))["rows"]
assert [(x["calls"], x["max_ns"], x["total_ns"]) for x in r] == [(1000000, 50, 50000000)], r' || bad "$kind: the sums"
done
python3 rows.py otlp "$wall" 0 | million otlp serve.db '1,000,000 spans'
"$PERFKIT" import -q --no-local "$kept/labels/labelled.tar.zst" -o labelled.db
python3 rows.py labels "$(sqlite3 labelled.db 'SELECT origin_ns FROM recordings')" 8595 >many.txt
"$PERFKIT" report --by label:table --with many.txt labelled.db >out 2>err || { cat err; bad 'a million bindings'; }
grep -q '1,000,000 bindings' err || { cat err; bad 'not a million bindings'; }
exit 0
