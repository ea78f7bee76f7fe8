# Spans of every kind on real events: USDT and uprobe pairs found by themselves, the kernel's own
# when named. The program's log and perf's own counts of the events (testdata/kinds) are the truth.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
kept=$SRC/testdata/kinds
gunzip -c "$kept/perf.data.gz" >kept.data

# spans NAME [OPTIONS]: all spans of a name, as CSV
spans()
{
	name=$1
	shift
	"$PERFKIT" tail -q --force --all --csv --open --by "span:$name" --over 1ns "$@" kept.data >"$name.csv"
}
spans job
spans handle
spans fsync --span syscalls:fsync
for kind in irq softirq contention block; do spans $kind --span $kind; done

python3 - "$kept" <<'PY'
import csv, sys
kept = sys.argv[1]
counts = {name: int(n) for n, name in (line.split() for line in open(kept + "/counts.txt"))}
log = [line.split() for line in open(kept + "/log.txt")]
spans = {k: list(csv.DictReader(open(k + ".csv"))) for k in
         "job handle fsync irq softirq contention block".split()}

def ns(rows):
    return [int(r["duration_ns"]) for r in sorted(rows, key=lambda r: int(r["start_ns"]))]

def own(kind):
    return [int(e) - int(s) for k, _, s, e in log if k == kind]

# as many as there were, and each as long as the program says, to the cost of the probes
for kind, name in (("job", "job"), ("job", "handle"), ("fsync", "fsync")):
    mine, theirs = ns(spans[name]), own(kind)
    assert len(mine) == len(theirs), (name, len(mine), len(theirs))
    worst = max(t - m for m, t in zip(mine, theirs))
    print(f"{name}: {len(mine)} spans, at most {worst} ns shorter than the program's")
    assert min(t - m for m, t in zip(mine, theirs)) >= 0, name
    # the thread may be interrupted between its clock and the probe, but not as a rule
    near = sum(t - m < 100000 for m, t in zip(mine, theirs))
    assert near * 10 >= len(mine) * 9, (name, near)
for name, begin in (("irq", "irq:irq_handler_entry"), ("softirq", "irq:softirq_entry"),
                    ("contention", "lock:contention_begin")):
    whole = [r for r in spans[name] if r["open"] == "0"]
    print(f"{name}: {len(whole)} whole spans, {counts[begin]} begins")
    assert len(whole) <= counts[begin], name
    # what the idle task begins is no thread's and not kept
    assert len(whole) > 10, name
# a request is issued once and completed in one or more parts
print(f"block: {len(spans['block'])} spans, {counts['block:block_rq_issue']} issued")
assert counts["block:block_rq_issue"] * 0.8 < len(spans["block"]) <= counts["block:block_rq_complete"]
# parts sum up to the whole
for name, rows in spans.items():
    for r in rows:
        parts = sum(int(r[k]) for k in ("run_ns", "blocked_ns", "runnable_ns", "unknown_ns"))
        assert parts == int(r["duration_ns"]), (name, r)
PY

# what happened inside an episode is told with it
"$PERFKIT" tail -q --by span:job --span contention --span irq --top 20 --details 20 kept.data >out
grep -q "^    events      handle (.* at +" out
"$PERFKIT" tail -q --by span:fsync --span syscalls:fsync --top 31 --details 31 kept.data >out
grep -q "^    events      block:block_rq_issue " out
