#!/bin/sh
# The questions of docs/store-questions.sql, asked in SQL, have the answers that the commands give.
set -eu
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
"$PERFKIT" import -q -o run.db "$SRC/testdata/orders/orders.tar.zst"
awk '/^-- [0-9]/ { n++; f = "q" n ".sql"; next } f { print > f }' "$SRC/docs/store-questions.sql"
for n in 1 2 3 4 5 6 7 8 9 10; do
	sed 's/ LIMIT 10;/;/' q$n.sql | sqlite3 -csv run.db >a$n.csv
done
ask() { "$PERFKIT" "$@" run.db 2>/dev/null; }
ask collapse --offcpu --unit ns --tid-name --state blocked,runnable >1.folded
for cause in $(cut -d, -f1 a2.csv); do
	ask collapse --offcpu --unit ns --cause "$cause" | awk -v c="$cause" '{ ns += $NF } END { print c, ns + 0 }'
done >2.txt
ask tail --top 10 --csv >3.csv
for comm in $(cut -d, -f1 a4.csv); do
	ask tail --comm "$comm" --json >4.$comm.json || true
done
ask collapse --offcpu --unit ns --tid-name --state runnable >5.folded
ask tail --top 1 --state runnable --json >6.json
ask collapse --offwake --unit ns --idle --system --state blocked >7.folded
ask collapse --offcpu --unit us >8.folded
ask report --top 0 >9.txt
ask tail --top 1 --json >10.json
python3 - <<'END'
import csv, glob, json, collections, re
rows = lambda n: list(csv.reader(open("a%d.csv" % n)))
ms = lambda ns: ns / 1e6
near = lambda a, b: abs(float(a) - b) <= 1e-6 * max(1, b)

def by_tid(path):
    sums = collections.Counter()
    for line in open(path):
        stack, ns = line.rsplit(" ", 1)
        comm, tid = re.match(r"(.*?)-(?:-?\d+)/(\d+)$", stack.split(";")[0]).groups()
        sums[tid] += int(ns)
        sums[comm, tid] += int(ns)
    return sums

waits = by_tid("1.folded")
for comm, tid, wait, unclear, idle, run in rows(1):
    assert near(wait, ms(waits[tid])), (1, comm, tid, wait, waits[tid])
front = next(r for r in rows(1) if r[0] == "front-0")
assert float(front[2]) - float(front[3]) < 200 and float(front[3]) > 800 and float(front[4]) == 0, front
causes = dict(l.split() for l in open("2.txt"))
assert len(rows(2)) >= 4
for cause, count, total, worst in rows(2):
    assert near(total, ms(int(causes[cause]))), (2, cause, total, causes[cause])
tail = list(csv.DictReader(open("3.csv")))
assert len(tail) == 10
for want, got in zip(tail, rows(3)):
    assert near(got[2], ms(int(want["duration_ns"]))) and got[1] == want["tid"], (3, want, got)
seen = 0
for comm, count, p50, p99, p999, most in rows(4):
    p = json.load(open("4.%s.json" % comm))["population"]
    assert [int(count), int(p50), int(most)] == [p["count"], p["p50_ns"], p["max_ns"]], (4, comm, p)
    seen += 1
assert seen >= 4
delays = by_tid("5.folded")
for comm, tid, total, worst in rows(5):
    assert near(total, ms(delays[comm, tid])), (5, comm, tid, total)
wakers = collections.Counter()
for line in open("7.folded"):
    stack, ns = line.rsplit(" ", 1)
    if ";--;" in stack:
        wakers[(stack.rsplit(";", 1)[1].removesuffix("_[w]"), stack.split(";")[0])] += int(ns)
n7 = 0
for waker, comm, times, slept in rows(7):
    if (waker, comm) in wakers:
        n7 += 1
        assert float(slept) >= ms(wakers[waker, comm]) * 0.999999, (7, waker, comm, slept)
assert n7 >= 3, (n7, wakers, rows(7))
total = sum(int(l.rsplit(" ", 1)[1]) for l in open("8.folded"))
asked = sum(int(re.search(r'(\d+)"?$', l).group(1)) for l in open("a8.csv"))
assert abs(total - asked) < 2000, (8, total, asked)   # both round each stack
suspect = int(rows(9)[0][-1])
assert suspect >= int(re.search(r"(\d+) suspect", open("9.txt").read()).group(1)) > 0
e = json.load(open("10.json"))["episodes"][0]
off = sum(float(us) for state, at, us in rows(10) if state != "running" and 0 <= float(at) < e["duration_ns"] / 1e3)
assert off > 0, rows(10)
END
rm -f ./*.db
