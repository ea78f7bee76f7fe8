# perfkit report --by: sums balance against each other, against tail and against what programs logged
# themselves; windows add up; file, pipe, bundle and store answer alike; what cannot be is refused.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
orders=$SRC/testdata/orders/orders.tar.zst
serve=$SRC/testdata/requests/serve.tar.zst
csv=$SRC/testdata/requests/requests.csv
gunzip -c "$SRC/testdata/report/shop.data.gz" >shop.data

"$PERFKIT" import -q --no-local "$orders" -o orders.db
cat >check.py <<'END'
import csv, json, os, subprocess, sys
perfkit, orders, serve, log, shop, shop_log = sys.argv[1:]

def report(by, *args):
    out = subprocess.run([perfkit, "report", "-q", "--no-local", "--json", "--by", by, *args],
                         stdout=subprocess.PIPE, check=True).stdout
    d = json.loads(out)
    assert d["schema"] == 1 and d["by"] == by, d
    return d["rows"]

def total(rows, *columns):
    return sum(r[c] or 0 for r in rows for c in columns)

def rank(v, millipercent):
    return v[max((len(v) * millipercent + 99999) // 100000, 1) - 1]

# waits: what threads were blocked is what wakers ended and sites hold
threads = report("thread", orders)
assert total(threads, "waits") > 1000
blocked = total(threads, "blocked_ns", "unclear_ns")
assert blocked == total(report("waker", orders), "blocked_ns") > 0
assert blocked + total(threads, "unknown_ns", "idle_ns") == total(report("site", orders), "total_ns")
assert total(threads, "waiting_ns") == blocked + total(threads, "runnable_ns")

# causes: each wait has one
only = report("waker", "--cause", "lock,futex,rwlock", orders)
other = report("waker", "--cause", "!lock", "--cause", "!futex,!rwlock", orders)
assert total(only, "blocked_ns") + total(other, "blocked_ns") == blocked
assert 0 < total(only, "waits") < total(report("waker", orders), "waits")
locks = report("lock", orders)
assert total(locks, "total_ns") == total(only, "blocked_ns")
# the lock's name is that of the symbol at its address (testdata/orders/orders.c)
assert [r["lock"] for r in locks if r["lock"]] == ["orders: book"] and locks[0]["address"], locks
assert locks == report("lock", "orders.db")
assert locks[0]["holder_comm"] == "snapshot" and 0 < locks[0]["holder_ns"] <= locks[0]["total_ns"]
# two other threads use the lock, so that a wait has at most two holders in turn
assert all(r["waiters"] <= r["waits"] and 0 < r["holds"] <= 2 * r["waits"] for r in locks)

# windows add up to the whole
for by, file, more in (("thread", orders, []), ("site", orders, []), ("lock", orders, []),
                       ("waker", orders, []), ("span", serve, ["--with", log]),
                       ("function", shop, [])):
    whole, parts = report(by, *more, file), report(by, "--every", "100ms", *more, file)
    assert len({r["time_ns"] for r in parts}) > 1 and len(parts) > len(whole), by
    for c in whole[0]:
        if c.endswith("_ns") and not c.startswith(("p", "max", "average", "holder")) or c in ("waits", "calls"):
            assert total(whole, c) == total(parts, c), (by, c, total(whole, c), total(parts, c))
        if c == "max_ns":
            assert max(r[c] or 0 for r in whole) == max(r[c] or 0 for r in parts), by

# what the percentiles leave out is what tail leaves out: unclear waits count as in its population
for name in "orders", "orders-one-cpu":
    f = os.path.join(os.path.dirname(orders), "..", name, "orders.tar.zst")
    threads = report("thread", f)
    said = json.loads(subprocess.run([perfkit, "tail", "-q", "--force", "--no-local", "--json", f], capture_output=True).stdout)
    left = said["population"]
    assert (total(threads, "open"), total(threads, "suspect")) == (left["open"], left["suspect"]), (name, left)
    assert left["suspect"] > 0

# spans: to the nanosecond what the program logged
logged = list(csv.DictReader(open(log)))
spans = report("span", "--with", log, serve)
[s] = [s for s in spans if s["name"] == "request"]
lengths = sorted(int(r["end_ns"]) - int(r["start_ns"]) for r in logged)
assert s["calls"] == len(lengths) and s["total_ns"] == sum(lengths)
assert s["run_ns"] + s["blocked_ns"] + s["runnable_ns"] + s["unknown_ns"] == s["total_ns"]
if not s["open"] + s["suspect"]:
    for column, p in (("p50_ns", 50000), ("p90_ns", 90000), ("p99_ns", 99000), ("p999_ns", 99900)):
        assert s[column] == rank(lengths, p), (column, s[column], rank(lengths, p))
    assert s["max_ns"] == lengths[-1] and s["average_ns"] == sum(lengths) // len(lengths)
for r in report("label:route", "--with", log, serve):
    own = [int(x["end_ns"]) - int(x["start_ns"]) for x in logged if x["route"] == r["value"]]
    assert r["calls"] == len(own) and r["total_ns"] == sum(own)
[pay] = report("span", "--where", "route=/pay", "--with", log, serve)
assert pay["calls"] == sum(r["route"] == "/pay" for r in logged)

# locks: what the program measured at its lock. Its clock also sees the way in and out, and the
# wait for a CPU behind the wakeup.
stood = [int(r["lock_ns"]) for r in logged if int(r["lock_ns"]) > 1000000]
waits = [r for r in report("lock", "--comm", "server", serve) if r["process"] == "serve"]
waited = total(waits, "total_ns")
assert sum(stood) * 0.98 < waited < sum(stood) * 1.02, (sum(stood), waited)
assert waits[0]["holder_comm"] == "snapshot", waits

# functions: inside the requests that the program timed itself; the parts add up
logged = list(csv.DictReader(open(shop_log)))
f = {r["name"]: r for r in report("function", shop)}
assert set(f) == {"handle", "parse", "lookup", "answer"}
assert all(r["calls"] == len(logged) == 211 for r in f.values())
outer = sum(int(r["end_ns"]) - int(r["start_ns"]) for r in logged)
assert outer * 0.5 < f["handle"]["total_ns"] < outer
inner = sum(f[n]["total_ns"] for n in ("parse", "lookup", "answer"))
assert inner < f["handle"]["total_ns"]
for n in ("parse", "lookup", "answer"):
    share = 100 * f[n]["total_ns"] / f["handle"]["total_ns"]
    assert abs(f[n]["parent_percent"] - share) < 0.001, n
out = subprocess.run([perfkit, "report", "-q", "--no-local", "--json", "--by", "function", "--in-tail", shop],
                     stdout=subprocess.PIPE, check=True).stdout
tail = json.loads(out)["rows"]
assert tail[0]["name"] == "lookup" and tail[0]["more_ns"] > 2500000, tail
assert all(abs(r["more_ns"]) < 100000 for r in tail[1:]), tail
out = subprocess.run([perfkit, "tail", "-q", "--no-local", "--json", "--by", "span:handle", "--p99", shop],
                     stdout=subprocess.PIPE, check=True).stdout
slow = [e["duration_ns"] for e in json.loads(out)["episodes"]]
assert abs(sum(r["tail_ns"] for r in tail) - sum(slow) / len(slow)) <= len(tail), (tail, slow)

# order and filters
v = [r["max_ns"] for r in report("waker", "--sort", "max", orders)]
assert v == sorted(v, reverse=True)
v = [r["max_ns"] for r in report("waker", "--sort", "-max_ns", "--top", "3", orders)]
assert v == sorted(v) and len(v) == 3
assert {r["comm"] for r in report("thread", "--filter", "thread=front-0", orders)} == {"front-0"}
rows = report("thread", "--filter", "waits>=100", "--filter", "blocked<200ms", orders)
assert rows and all(r["waits"] >= 100 and r["blocked_ns"] < 2e8 for r in rows)
END
python3 check.py "$PERFKIT" "$orders" "$serve" "$csv" shop.data "$SRC/testdata/report/requests.csv"

# interrupts: those that perf script shows, paired here
cat >irq.py <<'END'
import collections, gzip, json, re, subprocess, sys
perfkit, shop, witness = sys.argv[1:]
open_, want = collections.defaultdict(list), collections.defaultdict(list)
for line in gzip.open(witness, "rt"):
    m = re.match(r"\[(\d+)\] (\d+)\.(\d{9}): (\w+):(\w+)_(entry|exit): (.*)", line)
    cpu, s, ns, system, name, way, fields = m.groups()
    t = int(s) * 10**9 + int(ns)
    number = re.search(r"(?:irq|vec|vector)=(\d+)", fields).group(1)
    key = (cpu, system, name, number)
    if way == "entry":
        text = {"irq_handler": lambda: "irq %s %s" % (number, re.search(r"name=(\S+)", fields).group(1)),
                "softirq": lambda: "softirq " + re.search(r"action=(\w+)", fields).group(1)}.get(name, lambda: name)()
        open_[key].append((t, text))
    elif open_[key]:
        start, text = open_[key].pop()
        want[text].append((t - start, cpu))
out = subprocess.run([perfkit, "report", "-q", "--all", "--no-local", "--json", "--by", "irq", shop],
                     stdout=subprocess.PIPE, check=True).stdout
got = {r["interrupt"]: r for r in json.loads(out)["rows"]}
assert set(got) == set(want) and len(got) > 3, (set(got) ^ set(want))
for name, r in got.items():
    ns = sorted(x for x, _ in want[name])
    assert r["count"] == len(ns) and r["total_ns"] == sum(ns) and r["max_ns"] == ns[-1], name
    assert r["p50_ns"] == ns[(len(ns) + 1) // 2 - 1] and r["from_threads_ns"] <= r["total_ns"], name
    assert r["cpus"] == len({c for _, c in want[name]}), name
assert any(r["from_threads_ns"] for r in got.values())
END
python3 irq.py "$PERFKIT" shop.data "$SRC/testdata/report/interrupts.txt.gz"

# interrupted time inside spans of any name: what SQL finds in the table of interrupts; a part of running
cat >interrupted.py <<'END'
import collections, json, sqlite3, subprocess, sys
perfkit, db = sys.argv[1:]
def ask(*words):
    return json.loads(subprocess.run([perfkit, *words, "-q", "--json", db], stdout=subprocess.PIPE, check=True).stdout)
rows = collections.defaultdict(list)
for name, tid, start, end, ns in sqlite3.connect(db).execute("""SELECT s.name, t.tid, s.start_ns, s.end_ns,
        coalesce((SELECT sum(min(s.end_ns, i.end_ns) - max(s.start_ns, i.start_ns)) FROM interrupts i
            WHERE i.thread_id = s.thread_id AND i.start_ns < s.end_ns AND i.end_ns > s.start_ns AND NOT EXISTS
                (SELECT 1 FROM interrupts o WHERE o.id <> i.id AND o.thread_id = i.thread_id
                    AND o.start_ns <= i.start_ns AND o.end_ns >= i.end_ns)), 0)
        FROM spans s JOIN threads t ON t.id = s.thread_id"""):
    rows[name].append((tid, start, end - start, ns))
table = {r["name"]: r for r in ask("report", "--by", "span")["rows"]}
seen = 0
for name, v in rows.items():
    r = table[name]
    assert r["interrupted_ns"] == sum(x[3] for x in v) <= r["run_ns"], (name, r)
    assert r["run_ns"] + r["blocked_ns"] + r["runnable_ns"] + r["unknown_ns"] == r["total_ns"], r
    d = ask("tail", "--by", "span:" + name, "--top", "0", "--open")
    origin = int(d["recording"]["origin_ns"])
    got = sorted((e["tid"], origin + e["start_ns"], e["duration_ns"], e["interrupted_ns"]) for e in d["episodes"])
    assert got == sorted(v), name
    seen += sum(x[3] > 0 for x in v)
assert seen > 10, seen
END
"$PERFKIT" import -q -f --no-local shop.data -o irqs.db
python3 interrupted.py "$PERFKIT" irqs.db
"$PERFKIT" tail -q --by span:handle --top 0 --open --details 300 irqs.db |
	grep -q 'running + [0-9.]* us interrupted (' || { echo 'tail does not tell interrupted time'; exit 1; }

# the same from a store and a pipe; of CSV as many fields in each line
"$PERFKIT" import -q --no-local --with "$csv" "$serve" -o serve.db
"$PERFKIT" import -q --no-local shop.data -o shop.db
"$PERFKIT" report -q --no-local --by irq --csv shop.data >irq.csv
"$PERFKIT" report -q --by irq --csv shop.db | cmp - irq.csv
for q in thread site lock waker span function 'function --in-tail' 'span --csv' 'thread --json --every 50ms'; do
	# shellcheck disable=SC2086
	"$PERFKIT" report -q --no-local --by $q shop.data >file.txt
	# shellcheck disable=SC2086
	"$PERFKIT" report -q --by $q shop.db | cmp - file.txt
	# shellcheck disable=SC2086
	"$PERFKIT" report -q --no-local --by $q - <shop.data | cmp - file.txt
done
for q in label:route span lock 'label:route --csv'; do
	# shellcheck disable=SC2086
	"$PERFKIT" report -q --no-local --with "$csv" --by $q "$serve" >file.txt
	# shellcheck disable=SC2086
	"$PERFKIT" report -q --by $q serve.db | cmp - file.txt
done
for by in thread lock waker span; do
	"$PERFKIT" report -q --by $by --csv serve.db |
		python3 -c 'import csv, sys; assert len({len(r) for r in csv.reader(sys.stdin)}) == 1'
done

# cgroups: the samples of the clock, as the recording counts them
"$PERFKIT" report -q --no-local --by cgroup --csv shop.data >cgroups.csv
grep -q "^/,[0-9]*,100.000,[0-9]*$" cgroups.csv
n=$("$PERFKIT" report -q -v --no-local shop.data | sed -n 's/^events *cpu-clock[^ ]* *\([0-9]*\) samples.*/\1/p')
[ -z "$n" ] || grep -q "^/,$n," cgroups.csv

# without context switches, threads by their samples: as the report counts them, which keeps
# apart what a thread was called
demo=$SRC/testdata/demo/perf.data
"$PERFKIT" report -q --no-local --by thread --csv "$demo" >threads.csv
"$PERFKIT" report -q -v --no-local "$demo" | awk '$3 ~ /^19[0-9]+$/ { gsub(",", "", $4); n[$3] += $4 }
	END { for (t in n) print t, n[t] }' | sort >want
awk -F, 'NR > 1 { print $3, $4 }' threads.csv | sort | cmp - want || { cat threads.csv want; exit 1; }
[ "$(awk '{ n += $2 } END { print n }' want)" = 5271 ] || { cat want; exit 1; }
"$PERFKIT" import -q --no-local "$demo" -o demo.db
"$PERFKIT" report -q --by thread --csv demo.db | cmp - threads.csv

# what cannot be
refused()
{
	want=$1 words=$2
	shift 2
	rc=0
	"$PERFKIT" report -q --no-local "$@" >out 2>err || rc=$?
	[ $rc = "$want" ] && grep -qF -e "$words" err || { echo "$*: exit $rc"; cat err; exit 1; }
}
refused 2 "did you mean 'lock'" --by lok shop.data
refused 2 'the columns are waker, waits' --by waker --sort nothing shop.data
refused 2 'the columns are waker, waits' --by waker --filter 'nothing>1' shop.data
refused 2 'no value of that column' --by waker --filter 'max>fast' shop.data
refused 3 'no span has the label nothing' --by label:nothing --with "$csv" "$serve"
refused 2 "no cause 'slep'" --by waker --cause '!slep' shop.data
refused 2 'goes with --by' --sort max shop.data
refused 3 'nothing is known of cgroups' --by cgroup shop.db
refused 3 'no interrupts were recorded' --by irq "$orders"
refused 2 '--in-tail is for --by function' --by lock --in-tail shop.data
refused 3 'there are no spans' --by span "$orders"
refused 3 'no samples of CPU time' --by function --with "$csv" "$serve"
refused 3 "$orders: no sample names its cgroup" --by cgroup "$orders"
exit 0
