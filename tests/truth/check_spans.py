#!/usr/bin/env python3
"""check_spans.py LOG SPANS N - the spans of `tldump FILE -s` against what the program `queue`
logged: N requests, each begun by front and ended by the worker, inside its handle_request."""
import re
import sys

NOISE = 400_000   # a probe costs 15 us, a neighbour more
log, want = {"begin": {}, "end": {}}, int(sys.argv[3])
for line in open(sys.argv[1]):
    kind, tid, a, b = line.split()
    if kind in log:
        log[kind][int(a)] = (int(tid), int(b))
rows = []
for line in open(sys.argv[2]):
    m = re.match(r"(\S+) (\d+)>(\d+) (\d+) (\d+) run=(\d+) blocked=(\d+) runnable=(\d+) "
                 r"preempted=(\d+) unknown=(\d+) key=(\d+) parent=(-?\d+)(.*)", line)
    rows.append((m[1], *map(int, m.groups()[1:12]), m[13]))
bad = []
requests = [r for r in rows if r[0] == "req"]
if len(requests) != want or len(log["begin"]) != want:
    bad.append(f"{len(requests)} spans of {want} requests")
if sum(r[0] == "handle_request" for r in rows) != want:
    bad.append("handle_request")
for r in requests:
    name, tid, end_tid, start, end, run, blocked, runnable, preempted, unknown, key, parent, flags = r
    if run + blocked + runnable + unknown != end - start or preempted > runnable:
        bad.append(f"{key}: its parts do not sum up")
    if flags.strip():
        bad.append(f"{key}: {flags}")
    (front, begun), (worker, ended) = log["begin"][key], log["end"][key]
    if (tid, end_tid) != (front, worker):
        bad.append(f"{key}: {tid}>{end_tid}")
    if not 0 <= start - begun < NOISE or not 0 <= end - ended < NOISE:
        bad.append(f"{key}: begins {start - begun}, ends {end - ended} ns after the program's")
    if rows[parent][0] != "handle_request" or not rows[parent][3] <= start:
        bad.append(f"{key}: not inside handle_request")
slow = [r for r in requests if r[10] % 20 == 10]
if not slow or any(r[6] < 9_000_000 for r in slow):
    bad.append("a slow request was not blocked for its 9 ms")
print(f"{len(requests)} requests, {len(slow)} slow, {len(bad)} wrong")
for b in bad[:8]:
    print("  " + b)
sys.exit(1 if bad else 0)
