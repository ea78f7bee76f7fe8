"""bench_service.py PERFKIT DIR PID WHAT: compares the waits of process PID in DIR/all and DIR/some, two recordings
(.data, .db) of the same seconds, row by row, and its 60 worst; for bench_service.sh."""
import bisect
import collections
import json
import os
import re
import sqlite3
import subprocess
import sys

perfkit, folder, pid, what = sys.argv[1:]
FACTS = "cause", "verdict", "waker", "stack"
EDGE = 10**8    # the first and last 100 ms: recordings begin and end one CPU after the other
NEAR = 500_000  # the same wait starts at most this much later: each recording delays switches


def select(name, sql, *args):
    return sqlite3.connect(f"file:{folder}/{name}.db?mode=ro", uri=True).execute(sql, args).fetchall()


def span():
    ends = [select(n, "SELECT min(start_ns), max(end_ns) FROM offcpu")[0] for n in ("all", "some")]
    return max(e[0] for e in ends) + EDGE, min(e[1] for e in ends) - EDGE


def waits(name):
    """{tid: [(start, facts)]}"""
    out = collections.defaultdict(list)
    for tid, start, *facts in select(name, """
            SELECT t.tid, o.start_ns, o.cause, s.verdict, w.tid, v.stack, o.suspect OR o.open
            FROM offcpu o JOIN threads t ON t.id = o.thread_id LEFT JOIN sites s ON s.id = o.site_id
            LEFT JOIN threads w ON w.id = o.waker_thread_id LEFT JOIN v_stacks v ON v.call_path_id = o.call_path_id
            WHERE t.pid = ? ORDER BY t.tid, o.start_ns""", pid):
        out[tid].append((start, facts))
    return out


def partner(waits_of_thread, start):
    starts = [w[0] for w in waits_of_thread]
    i = bisect.bisect(starts, start)
    near = min(waits_of_thread[max(0, i - 1):i + 1], key=lambda w: abs(w[0] - start), default=None)
    return near if near and abs(near[0] - start) < NEAR else None


def rows(lo, hi):
    """What differs between waits that both have, and how many only one has."""
    whole, some = waits("all"), waits("some")
    differ, seen, both = collections.Counter(), 0, 0
    for tid, mine in some.items():
        for start, facts in mine:
            other = partner(whole[tid], start) if lo < start < hi else None
            both += other is not None
            if other and not facts[-1] and not other[1][-1]:
                seen += 1
                differ.update(n for n, a, b in zip(FACTS, facts, other[1]) if a != b)
    alone = sum(lo < start < hi for x in (whole, some) for v in x.values() for start, _ in v) - 2 * both
    text = ", ".join("%d in the %s" % (n, name) for name, n in differ.items()) or "none"
    return "%s of %d; %d in one only" % (text, seen, alone)


def lost(name):
    return select(name, "SELECT coalesce(sum(count), 0) FROM losses WHERE kind IN ('lost', 'hole')")[0][0]


def ask(name, lo, hi):
    time = "%d.%09d,%d.%09d" % (*divmod(lo, 10**9), *divmod(hi, 10**9))
    run = subprocess.run([perfkit, "tail", "-q", "--force", "--pid", pid, "--top", "60", "--json", "--time", time,
                          f"{folder}/{name}.db"], capture_output=True, text=True)
    return json.loads(run.stdout) if run.stdout else sys.exit(run.stderr)


def worst(answers):
    """(compared, equal, of them with another sampled function)"""
    count = collections.Counter()
    a, s = ({(e["tid"], int(x["recording"]["origin_ns"]) + e["start_ns"]): e for e in x["episodes"]} for x in answers)
    for (tid, start), e in s.items():
        other = partner(sorted(((t, o) for (i, t), o in a.items() if i == tid), key=lambda w: w[0]), start)
        if not other:
            continue
        (x, fx), (y, fy) = root(e), root(other[1])
        count["seen"] += 1
        if (e["cause"], e["stack"], x) == (other[1]["cause"], other[1]["stack"], y):
            count["same"] += 1
            count["function"] += fx != fy
    return count["seen"], count["same"], count["function"]


def root(e):
    """The root, and what was sampled of it: only the service's functions are known from switches."""
    r = e["root"] or {}
    function, own = r.get("function"), str(r.get("comm")).startswith("svc-")
    return [r.get(k) for k in ("comm", "tid", "state", "cause", "mechanism", "via")] + [own and function], function


def written(name):
    """(switches, those with stacks, bytes of a copy, bytes of the file per switch)"""
    text = " ".join(subprocess.run([perfkit, "report", "-q", f"{folder}/{name}.data"], capture_output=True,
                                   text=True).stdout.split())
    switches = [int(n.replace(",", "")) for n in re.findall(r"sched:sched_switch: ([\d,]+) samples", text)]
    size = re.search(r"sched_switch/call-graph=(?:dwarf,stack-size=(\d+)|fp)", text)
    return switches[0], switches[-1], size[1] or "fp", os.path.getsize(f"{folder}/{name}.data") / switches[0]


lo, hi = span()
answers = [ask(name, lo, hi) for name in ("all", "some")]
populations = [x["population"] for x in answers]
quantiles = ["%s and %s ms" % tuple("%.3f" % (p[k] / 1e6) if p[k] is not None else "?" for p in populations)
             for k in ("p50_ns", "p90_ns", "p99_ns")]
switches, with_stacks, copies, size = written("some")
seen, same, function = worst(answers)
cells = [what, "%.1f %%" % (100 * with_stacks / switches), copies, "%.1f %%" % (100 * size / written("all")[3]),
         "%d and %d" % tuple(p["count"] for p in populations), *quantiles,
         "%d and %d" % (lost("all"), lost("some")), rows(lo, hi),
         "%d of %d, %d with another sampled function" % (same, seen, function)]
print("|", " | ".join(cells), "|")
