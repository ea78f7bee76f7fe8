#!/usr/bin/env python3
"""matrix.py [-n N] [--keep DIR] [--json FILE] [REGEX] - is time hidden that a request waited?

Records each program of this folder, with frame pointers and with stack dumps, with and without
thread names, N times (3), and looks at the whole recording, its first half and its first quarter.
Programs mostly sleep, so some run in one recording: never two of one binary, as their wait sites
would be the same. The programs log when a thread waited for what a request needs and when it waited for work. Prints,
for each program, of the time that its requests waited, the share that perfkit hides as idle: the
worst of its recordings and cuts (0 is right, all else is a fault); then, of the first five wait sites
of the logged threads by their longest wait, how many were idle: of those that tail ranks as work (how
many a recording on average, which should not exceed one, and the most in any), and of work and unclear
ones together; and the share of logged idle time that is hidden (the more the better).

--keep DIR keeps the recordings. Needs root, perf, python3; parts skip without g++, javac, node or
go. Environment: O (build folder, build), PERFKIT. Exit 0 when nothing is hidden, 1 when something
is, 77 when nothing can be recorded here."""
import argparse
import bisect
import collections
import json
import os
import re
import shlex
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(SRC, "tests", "requests")
O = os.path.abspath(os.environ.get("O", os.path.join(SRC, "build")))
PERFKIT = os.environ.get("PERFKIT", os.path.join(O, "perfkit"))
EVENTS = ",".join("sched:sched_" + e for e in
                  ("switch", "waking", "wakeup", "wakeup_new", "process_exit"))
STACKS = {"fp": ["-g"], "dwarf": ["--call-graph", "dwarf,4096"]}
CUTS = (1, 2, 4)

# name, program, options
PROGRAMS = [
    ("remote peer", "remote", ""),
    ("pool, 2 workers, signal", "pool", ""),
    ("pool, 2 workers, broadcast", "pool", "--all"),
    ("pool, 1 worker", "pool", "--workers 1"),
    ("pool, saturated", "pool", "--clients 12 --think 0"),
    ("pool, timed waits", "pool", "--timeout 5"),
    ("C++ futures", "futures", ""),
    ("actors", "actors", ""),
    ("reader/writer locks", "rwlocks", ""),
    ("epoll server", "server", "--how epoll"),
    ("thread per connection", "server", "--how threads"),
    ("pre-fork server", "server", "--how prefork"),
    ("io_uring server", "server", "--how uring"),
    ("group commit, fsync", "commit", "--flusher fsync"),
    ("group commit, timer", "commit", "--flusher timer"),
    ("poll by sleep", "sleeps", "--how poll"),
    ("retry sleep, inlined", "sleeps", "--how retry"),
    ("compute and back off", "sleeps", "--how backoff"),
    ("timerfd loop", "sleeps", "--how timer"),
    ("Python, GIL", "gil.py", ""),
    ("Java ReentrantLock", "Requests.java", "--how lock"),
    ("Java monitor", "Requests.java", "--how monitor"),
    ("Java queue", "Requests.java", "--how queue"),
    ("Node", "web.js", ""),
    ("Go", "chans.go", ""),
]
STARTS = {"Requests.java": 0.6, "web.js": 0.2}  # seconds before they serve anything


def run(*args, **kw):
    return subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kw).returncode


def build(work):
    """Makes what the Makefile does not; what a program is run with."""
    how = {"gil.py": [sys.executable, os.path.join(HERE, "gil.py")]}
    if shutil.which("node"):
        how["web.js"] = ["node", os.path.join(HERE, "web.js")]
    if shutil.which("javac") and not run("javac", "-d", work, os.path.join(HERE, "Requests.java")):
        how["Requests.java"] = ["java", "-Xmx64m", "-XX:+PreserveFramePointer", "-cp", work, "Requests"]
    chans = os.path.join(work, "chans")
    if shutil.which("go") and not run("go", "build", "-o", chans, os.path.join(HERE, "chans.go"),
                                      env=dict(os.environ, GO111MODULE="off", GOFLAGS="")):
        how["chans.go"] = [chans]
    for name in {p for _, p, _ in PROGRAMS if "." not in p}:
        path = os.path.join(O, "tests", "requests", name)
        if os.path.exists(path):
            how[name] = [path]
    return how


def groups(programs):
    """Those that are recorded together."""
    out = []
    for x in programs:
        fits = [g for g in out if x[1] not in {y[1] for y in g}]
        min(fits, key=len).append(x) if fits else out.append([x])
    return out


def record(data, stacks, commands):
    """All commands at once. One that fails has no log."""
    script = " ".join("%s &" % shlex.join(c) for c in commands) + " wait"
    return run("perf", "record", "-q", "-a", "-N", "-m", "4096", "-k", "CLOCK_MONOTONIC", *STACKS[stacks],
               "-e", EVENTS, "-o", data, "--", "sh", "-c", script, cwd=os.path.dirname(data))


def cut(data, out, parts):
    """The first 1/parts of a recording's records, as a whole file: features and all."""
    with open(data, "rb") as f:
        b = f.read()
    start, size = struct.unpack_from("<QQ", b, 40)
    end = start
    while end < start + size // parts:
        end += struct.unpack_from("<H", b, end + 6)[0] or 8
    features = sum(bin(x).count("1") for x in b[72:104])
    shift = start + size - end
    table = b""
    for i in range(features):
        at, length = struct.unpack_from("<QQ", b, start + size + 16 * i)
        table += struct.pack("<QQ", at - shift, length)
    head = b[:40] + struct.pack("<QQ", start, end - start) + b[56:start]
    with open(out, "wb") as f:
        f.write(head + b[start:end] + table + b[start + size + 16 * features:])


def read_logs(folder):
    """{tid: {kind: [(start, end), …] in order}} of a program."""
    lines = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as f:
            for line in f:
                kind, tid, start, end = line.split()
                lines[int(tid)][kind].append((int(start), int(end)))
    for kinds in lines.values():
        for spans in kinds.values():
            spans.sort()
    return lines


def union(spans):
    """Overlapping spans of one thread as one: an async server has many at once."""
    out = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def overlap(spans, start, end):
    """How much of [start, end) the disjoint, ordered spans cover."""
    got, i = 0, bisect.bisect_left(spans, (start, 0))
    i = max(i - 1, 0)
    while i < len(spans) and spans[i][0] < end:
        got += max(0, min(end, spans[i][1]) - max(start, spans[i][0]))
        i += 1
    return got


def waits(store):
    """(tid, start, blocked, verdict, site) of each wait; a site by its id, or what stands for it."""
    db = sqlite3.connect(store)
    columns = {row[1] for row in db.execute("PRAGMA table_info(offcpu)")}
    if "site_id" in columns:
        query = ("SELECT t.tid, o.start_ns, o.blocked_ns, s.verdict, o.site_id FROM offcpu o "
                 "JOIN threads t ON t.id = o.thread_id LEFT JOIN sites s ON s.id = o.site_id")
    else:
        query = ("SELECT t.tid, o.start_ns, o.blocked_ns, iif(o.idle, 'idle', 'work'), o.thread_id || o.cause || o.call_path_id "
                 "FROM offcpu o JOIN threads t ON t.id = o.thread_id")
    return db.execute(query + " WHERE o.blocked_ns > 0").fetchall()


Figures = collections.namedtuple("Figures", "needed hidden idle idle_hidden work idle_work sites idle_sites")


def first_five(sites):
    """How many there are, and how many of them are mostly idle: (longest, all, idle) of each."""
    first = sorted(sites, reverse=True)[:5]
    return len(first), sum(2 * s[2] > s[1] for s in first)


def judge(data, store, logs):
    """{program: Figures} of one recording; None if it cannot be read. logs: {program: read_logs}"""
    if run(PERFKIT, "import", "-q", "-f", data, "-o", store):
        return None
    of = collections.defaultdict(list)
    owner = {tid: name for name, tids in logs.items() for tid in tids}
    for w in waits(store):
        if w[0] in owner:
            of[owner[w[0]]].append(w)
    return {name: figures(of[name], tids) for name, tids in logs.items()}


def figures(rows, logs):
    needed = hidden = idle = idle_hidden = 0
    sites, verdicts = collections.defaultdict(lambda: [0, 0, 0]), {}
    requests = {tid: union(kinds["request"]) for tid, kinds in logs.items()}
    pauses = {tid: union(kinds["idle"]) for tid, kinds in logs.items()}
    for tid, start, blocked, verdict, site in rows:
        in_request = overlap(requests[tid], start, start + blocked)
        in_pause = overlap(pauses[tid], start, start + blocked)
        needed, idle = needed + in_request, idle + in_pause
        verdicts[site] = verdict
        if verdict == "idle":
            hidden, idle_hidden = hidden + in_request, idle_hidden + in_pause
        else:
            s = sites[site]
            s[0], s[1], s[2] = max(s[0], blocked), s[1] + blocked, s[2] + in_pause
    return Figures(needed, hidden, idle, idle_hidden,
                   *first_five([s for site, s in sites.items() if verdicts[site] == "work"]),
                   *first_five(sites.values()))


class Cell:
    """One program, one kind of stacks, with names or without: its recordings."""

    def __init__(self):
        self.worst, self.figures, self.missed = 0.0, [], 0

    def add(self, f):
        if not f or not f.needed:
            self.missed += 1
            return
        self.figures.append(f)
        self.worst = max(self.worst, 100 * f.hidden / f.needed)

    def text(self):
        return "%.1f %%" % self.worst if self.figures else "-"


def piece(data, parts):
    if parts == 1:
        return data
    cut(data, data + str(parts), parts)
    return data + str(parts)


def measure(work, keep, group, stacks, named, times):
    """{name: Cell} of the programs recorded together: group is [(name, command)]."""
    cells = {name: Cell() for name, _ in group}
    for n in range(times):
        folder = tempfile.mkdtemp(dir=work)
        data, commands, folders = os.path.join(folder, "perf.data"), [], {}
        for name, (program, options) in group:
            folders[name] = tempfile.mkdtemp(dir=folder)
            commands.append([*program, os.path.join(folders[name], "log"), *options,
                             *([] if named else ["--unnamed"])])
        failed = record(data, stacks, commands)
        logs = {name: read_logs(f) for name, f in folders.items()}
        with ThreadPoolExecutor(2) as two:
            all_figures = [None] if failed else two.map(
                lambda parts: judge(piece(data, parts), data + ".store%d" % parts, logs), CUTS)
            for f in all_figures:
                for name in cells:
                    cells[name].add(f and f[name])
        if keep:
            shutil.copytree(folder, os.path.join(keep, "-".join([*group[0][0].split(), stacks,
                                                                "named" if named else "unnamed", str(n)])))
        shutil.rmtree(folder)
    return cells


def share(part, whole):
    return "%.0f %%" % (100 * part / whole) if whole else "-"


def row(name, cells):
    all_figures = [f for c in cells.values() for f in c.figures]
    total = Figures(*map(sum, zip(*all_figures))) if all_figures else Figures(*[0] * 8)
    columns = [cells[k].text() for k in
               (("fp", True), ("fp", False), ("dwarf", True), ("dwarf", False))]
    idle = [f.idle_work for f in all_figures] or [0]
    print("| %s | %s | %d of %d: %.1f, most %d | %d of %d | %s |" %
          (name, " | ".join(columns), total.idle_work, total.work, sum(idle) / len(idle), max(idle),
           total.idle_sites, total.sites, share(total.idle_hidden, total.idle)), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("-n", type=int, default=3)
    p.add_argument("--keep")
    p.add_argument("--json")
    p.add_argument("--seconds", default="1")
    p.add_argument("pattern", nargs="?", default="")
    args = p.parse_args()
    work = tempfile.mkdtemp()
    try:
        if run("perf", "record", "-q", "-a", "-e", "sched:sched_switch", "-o", work + "/try", "--", "true"):
            print("perf cannot record scheduler events here")
            return 77
        return table(args, work)
    finally:
        shutil.rmtree(work)


def table(args, work):
    how, kept, begun = build(work), {}, time.time()
    wanted = [x for x in PROGRAMS if re.search(args.pattern, x[0])]
    here = [x for x in wanted if x[1] in how]
    cells = collections.defaultdict(dict)
    for group in groups(here):
        late = max(STARTS.get(program, 0) for _, program, _ in group)
        commands = [(name, (how[program], [*options.split(), "--seconds",
                                           str(float(args.seconds) + late - STARTS.get(program, 0))]))
                    for name, program, options in group]
        for stacks in STACKS:
            for named in (True, False):
                for name, cell in measure(work, args.keep, commands, stacks, named, args.n).items():
                    cells[name][stacks, named] = cell
    print("| waits of requests that are hidden | fp | fp, unnamed | dwarf | dwarf, unnamed | idle of the first 5: work"
          " | work or unclear | idle time hidden |\n|---|---|---|---|---|---|---|---|")
    for name, program, options in wanted:
        if program not in how:
            print("| %s | not here: %s cannot be built or run |" % (name, program))
            continue
        row(name, cells[name])
        kept[name] = {"%s%s" % (s, "" if named else " unnamed"):
                      {"worst": round(c.worst, 2), "missed": c.missed, "recordings": [f._asdict() for f in c.figures]}
                      for (s, named), c in cells[name].items()}
    print("\n%d recordings each, %d s" % (args.n, time.time() - begun))
    if args.json:
        with open(args.json, "w") as f:
            json.dump(kept, f, indent=1)
    hidden = [name for name, cells in kept.items() if any(c["worst"] > 0 for c in cells.values())]
    print("%d of %d programs have request time hidden" % (len(hidden), len(kept)))
    return 1 if hidden else 0


if __name__ == "__main__":
    sys.exit(main())
