#!/bin/sh
# perfkit report is about what --comm, --pid, --tid, --cpu and --time leave: its sums are those that
# SQL makes of the store, and its waits those that tail ranks. And it fits 80 columns, without
# blanks at their ends.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
data=$SRC/testdata/waits/perf.data
"$PERFKIT" import -q --no-local "$data" -o run.db
cat >check.py <<'EOF'
import os, re, sqlite3, subprocess, sys
perfkit, data = sys.argv[1:3]
db = sqlite3.connect("run.db")
first, last = db.execute("SELECT origin_ns, end_ns FROM recordings").fetchone()
a, b = first + (last - first) // 3, first + (last - first) // 2
tid, = db.execute("""SELECT t.tid FROM offcpu o JOIN threads t ON t.id = o.thread_id
    WHERE NOT t.kernel AND NOT t.recorder GROUP BY t.id ORDER BY count(*) DESC""").fetchone()
comm, = db.execute("""SELECT comm FROM comms c JOIN threads t ON t.comm_id = c.id
    WHERE t.tid = ?""", (tid,)).fetchone()
seconds = lambda ns: "%d.%09d" % divmod(ns, 10**9)
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}

def told(text, words):
    """A duration in front of the words, and by how much it may be rounded."""
    text = " ".join(text.split())
    number, unit = re.search(r"([0-9.]+) (s|ms|us|ns) " + words, text).groups()
    return float(number) * UNITS[unit], UNITS[unit] * (0.05 if "." in number else 0.5)

for args, where, run_where, lo, hi in [
        (["--all"], "1", "1", first, last),
        (["--tid", str(tid)], f"tid = {tid}", f"t.tid = {tid}", first, last),
        (["--comm", comm], "comm = '%s'" % comm, "c.comm = '%s'" % comm, first, last),
        (["--comm", comm[:2] + "*"], "comm GLOB '%s*'" % comm[:2], "c.comm GLOB '%s*'" % comm[:2],
         first, last),
        (["--cpu", "0"], "(cpu_out = 0 OR cpu_in = 0)", "s.cpu = 0", first, last),
        (["--time", seconds(a) + "," + seconds(b)], "1", "1", a, b),
        (["--time", "," + seconds(b), "--cpu", "0", "--tid", str(tid)],
         f"(cpu_out = 0 OR cpu_in = 0) AND tid = {tid}", f"s.cpu = 0 AND t.tid = {tid}", first, b)]:
    text = subprocess.run([perfkit, "report", "-q", "-v", "--all", "--no-local", "--system", *args, data],
                          check=True, capture_output=True, text=True).stdout
    inside = f"end_ns > {lo} AND start_ns < {hi}" if "--time" in args else "1"
    part = f"max(0, min(end_ns, {hi}) - max(start_ns, {lo}))"
    waited = part.replace("start_ns", "(end_ns - wait_ns)")
    n, off, idle = db.execute(f"""SELECT sum({waited} > 0), sum({waited}), sum({part} - {waited})
        FROM v_offcpu WHERE {where} AND {inside}""").fetchone()
    run, = db.execute(f"""SELECT sum({part}) FROM thread_states s
        JOIN threads t ON t.id = s.thread_id JOIN comms c ON c.id = t.comm_id
        WHERE state = 'running' AND {run_where} AND {inside}""").fetchone()
    waits = int(re.search(r"([\d,]+) waits?[:,]", text).group(1).replace(",", ""))
    states = [told(text, w) for w in ("blocked,", "runnable", "in an unknown state")]
    if " unclear, " in text:
        states.append(told(text, "unclear,"))
    got, rounded = (sum(x) for x in zip(*states))
    assert waits == n, (args, waits, n)
    assert abs(got - off) <= rounded, (args, got, off)
    left_out = told(text, "in [0-9,]+ waits? at rest not counted") if "not counted" in text else (0, 0)
    assert abs(left_out[0] - idle) <= left_out[1], (args, left_out, idle)
    running = told(text, "running")
    assert abs(running[0] - run) <= running[1], (args, running, run)
    table = text[re.search("samples +share", text).start():].split("\n\n")[0].split("\n")[1:]
    if "--tid" in args:
        assert [x.split()[2 if len(x.split()) == 6 else -4] for x in table if "%" in x] in (
            [str(tid)], []), table

# where there is time in an unknown state, a narrow table has it too
os.environ["COLUMNS"] = "80"
text = subprocess.run([perfkit, "report", "-q", "-v", "--all", "--no-local", data],
                      check=True, capture_output=True, text=True).stdout
assert "unknown" in text[text.index("\nthread  "):].strip().split("\n")[0].split(), text
# the line above the table counts what the table's columns do
os.environ["COLUMNS"] = "250"
text = subprocess.run([perfkit, "report", "-q", "-v", "--all", "--no-local", "--system", "--top", "0", data],
                      check=True, capture_output=True, text=True).stdout
lines = text[text.index("\nthread  "):].strip().split("\n\n")[0].split("\n")
head = re.split("  +", lines[0].strip())
for column, words in (("running", "running"), ("blocked", "blocked,"), ("unclear", "unclear,"),
                      ("runnable", "runnable"), ("unknown", "in an unknown state")):
    at = head.index(column) - len(head)
    cells = [told(re.split("  +", x.strip())[at] + " :", ":") for x in lines[1:]]
    above = text.split("\nthread  ")[0]
    want, rounded = told(above, words) if column != "unclear" or " unclear, " in above else (0, 0)
    assert abs(sum(x for x, _ in cells) - want) <= rounded + sum(x for _, x in cells), (
        column, want, sum(x for x, _ in cells))
text = subprocess.run([perfkit, "report", "-q", "-v", "--no-local", *sys.argv[3:]],
                      check=True, capture_output=True, text=True).stdout
assert " 0 ns in an unknown state" in " ".join(text.split()) and "unknown" not in (
    text[text.index("\nthread  "):].strip().split("\n")[0]), text

# files without names have the shares that doctor says
def shares(command):
    text = subprocess.run([perfkit, *command, "--no-local", data], capture_output=True, text=True).stdout
    return set(re.findall(r"^ +([0-9.]+ %  [^ :]+): not", text, re.M))
told_by_doctor, listed = shares(["doctor", "-v"]), shares(["report", "-q", "--all", "--top", "0"])
assert len(told_by_doctor) > 4 and told_by_doctor <= listed, (told_by_doctor, listed)
print("sums agree")
EOF
python3 check.py "$PERFKIT" "$data" --comm front-0 "$SRC/testdata/orders/orders.tar.zst"

# the waits of a thread are those of tail, less their idle parts and as long; "-": none was whole
"$PERFKIT" import -q "$SRC/testdata/orders-one-cpu/orders.tar.zst" -o orders.db
COLUMNS=120 "$PERFKIT" report -q --all --top 0 orders.db >report.txt
cat >check.py <<'EOF'
import json, re, subprocess, sys
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
whole = 0
for row in (re.split("  +", line.strip()) for line in open("report.txt")):
    comm, _, tid = row[0].partition("/")
    if comm not in ("front-0", "snapshot", "03x", "06x") or len(row) != 12:
        continue
    said = subprocess.run([sys.argv[1], "tail", "-q", "--by", "wait", "--tid", tid, "--json", "orders.db"],
                          capture_output=True, text=True).stdout
    tail = json.loads(said)["population"] if said else {}
    for i, key in enumerate(["p50_ns", "p99_ns", "p999_ns", "max_ns"]):
        if not tail.get(key):  # null, too, where a percentile would rest on others
            assert row[8 + i] == "-" or tail.get("max_ns"), row
            continue
        number, unit = re.fullmatch(r"([0-9.]+) (s|ms|us|ns)", row[8 + i]).groups()
        assert abs(float(number) * UNITS[unit] - tail[key]) <= 0.06 * tail[key], (row, tail)
    whole += row[11] != "-"
    if comm == "front-0":  # it mostly waits for orders
        assert row[3] == "905 ms" and row[8] == "17.4 us", row
assert whole > 3, whole
EOF
python3 check.py "$PERFKIT"
grep -q '^06x/.* - *- *- *-$' report.txt
# and one of which --time cuts only the unclear part, left out, is whole: perfkit's own word for others is [open]
"$PERFKIT" collapse -q --offcpu --no-unclear --comm front-0 --time "$(python3 -c '
import sqlite3
s, b, e = sqlite3.connect("orders.db").execute("""SELECT start_ns, blocked_ns, end_ns FROM v_offcpu
    WHERE verdict = "unclear" AND runnable_ns > 0 AND comm = "front-0" LIMIT 1""").fetchone()
print(",".join("%d.%09d" % divmod(ns, 10**9) for ns in (s + b // 2, e)))')" --unit ns orders.db >one.folded
[ -s one.folded ] || { echo "no runnable part"; exit 1; }
if grep -F '[open]' one.folded; then exit 1; fi

# what filters leave nothing of is said so; names are of all samples, whoever is asked for
demo=$SRC/testdata/demo
"$PERFKIT" report -q -v --no-local --time 1,2 "$demo/perf.data" >none.txt
"$PERFKIT" report -q -v --no-local --comm nosuch "$SRC/testdata/uprobe/perf.data" >>none.txt
[ "$(grep -c '^no sample passes the filters$' none.txt)" = 2 ]
grep -q '^names: .* % of all samples have' none.txt
# records are counted of recordings, and all of them
"$PERFKIT" report --stats "$demo/perf.data" | grep -qx 'SAMPLE 5271'
for q in "run.db" "--comm shop $demo/perf.data" "--top 3 $demo/perf.data"; do
	rc=0
	"$PERFKIT" report --stats $q >out 2>err || rc=$?
	[ $rc = 2 ] && [ ! -s out ] && grep -q -e '--stats' err || { echo "--stats $q: exit $rc"; cat out err; exit 1; }
done

for f in "$SRC"/testdata/*/perf.data; do
	"$PERFKIT" report -q --no-local "$f" >out
	"$PERFKIT" report -q -v --no-local "$f" >>out
	python3 - "$f" <<'EOF'
import sys
for line in open("out"):
    # commands are to be pasted, and one word may be as long as it likes
    if len(line.rstrip("\n")) > 80 and "get it:" not in line and len(line.split()) > 3:
        sys.exit(f"{sys.argv[1]}: {len(line)} columns: {line}")
    if line.endswith(" \n"):
        sys.exit(f"{sys.argv[1]}: blanks at the end: {line}")
EOF
done
