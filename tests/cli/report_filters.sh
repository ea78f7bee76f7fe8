#!/bin/sh
# perfkit report is about what --comm, --pid, --tid, --cpu and --time leave: its sums are those that
# SQL makes of the store. And it fits 80 columns, without
# blanks at their ends.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
data=$SRC/testdata/waits/perf.data
"$PERFKIT" import -q --no-local "$data" -o run.db
cat >check.py <<'EOF'
import re, sqlite3, subprocess, sys
perfkit, data = sys.argv[1:]
db = sqlite3.connect("run.db")
first, last = db.execute("SELECT origin_ns, end_ns FROM recordings").fetchone()
a, b = first + (last - first) // 3, first + (last - first) // 2
tid, = db.execute("""SELECT t.tid FROM offcpu o JOIN threads t ON t.id = o.thread_id
    WHERE NOT t.kernel AND NOT t.recorder GROUP BY t.id ORDER BY count(*) DESC""").fetchone()
comm, = db.execute("""SELECT comm FROM comms c JOIN threads t ON t.comm_id = c.id
    WHERE t.tid = ?""", (tid,)).fetchone()
seconds = lambda ns: "%d.%09d" % divmod(ns, 10**9)
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}

def told(text, word):
    number, unit = re.search(word + r" ([0-9.]+)(s|ms|us|ns)\b", text).groups()
    return float(number) * UNITS[unit]

for args, where, run_where, lo, hi in [
        ([], "1", "1", first, last),
        (["--tid", str(tid)], f"t.tid = {tid}", f"t.tid = {tid}", first, last),
        (["--comm", comm], "c.comm = '%s'" % comm, "c.comm = '%s'" % comm, first, last),
        (["--cpu", "0"], "(cpu_out = 0 OR cpu_in = 0)", "s.cpu = 0", first, last),
        (["--time", seconds(a) + "," + seconds(b)], "1", "1", a, b),
        (["--time", "," + seconds(b), "--cpu", "0", "--tid", str(tid)],
         f"(cpu_out = 0 OR cpu_in = 0) AND t.tid = {tid}", f"s.cpu = 0 AND t.tid = {tid}", first, b)]:
    text = subprocess.run([perfkit, "report", "-q", "--no-local", "--system", *args, data],
                          check=True, capture_output=True, text=True).stdout
    inside = f"end_ns > {lo} AND start_ns < {hi}" if "--time" in args else "1"
    part = f"max(0, min(end_ns, {hi}) - max(start_ns, {lo}))"
    n, off = db.execute(f"""SELECT count(*), sum({part}) FROM offcpu o
        JOIN threads t ON t.id = o.thread_id JOIN comms c ON c.id = o.comm_id
        WHERE {where} AND {inside}""").fetchone()
    run, = db.execute(f"""SELECT sum({part}) FROM thread_states s
        JOIN threads t ON t.id = s.thread_id JOIN comms c ON c.id = t.comm_id
        WHERE state = 'running' AND {run_where} AND {inside}""").fetchone()
    waits = int(re.search(r"(\d+) waits;", text).group(1))
    got = told(text, "blocked") + told(text, "sch delay") + told(text, "state unknown")
    assert waits == n, (args, waits, n)
    assert abs(got - off) <= 0.02 * off + 10**6, (args, got, off)
    assert abs(told(text, "run") - run) <= 0.02 * run + 1000, (args, told(text, "run"), run)
    table = text[text.index("samples   share"):].split("\n\n")[0].split("\n")[1:]
    if "--tid" in args:
        assert [x.split()[2 if len(x.split()) == 6 else -4] for x in table if "%" in x] in (
            [str(tid)], []), table
print("sums agree")
EOF
python3 check.py "$PERFKIT" "$data"

for f in "$SRC"/testdata/*/perf.data; do
	"$PERFKIT" report -q --no-local "$f" >out
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
