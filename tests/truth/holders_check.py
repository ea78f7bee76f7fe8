#!/usr/bin/env python3
"""holders_check.py NAME LOG TAIL.json [FUNCTION] - does `tail` name who held the lock? For each wait for
the lock (cause lock or rwlock, or with that function on the stack) of at least 2 ms, four fifths of which the log
knows holders for: the thread that perfkit names must have held it for three quarters of the time that it is
named for. Named for less than a fifth of the wait, it counts as unknown. Prints a row for the table of docs/truth.md and each wrong one."""
import bisect
import json
import sys

LEAST_NS, KNOWN, TRUE, SLACK_NS = 2_000_000, 0.8, 0.75, 300_000
name, log, tail = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
function = sys.argv[4] if len(sys.argv) > 4 else None
origin = int(tail["recording"]["origin_ns"])
holds = sorted((int(a), int(b), int(tid)) for kind, tid, a, b in map(str.split, open(log))
               if kind == "hold")
longest = max(b - a for a, b, _ in holds)
starts = [h[0] for h in holds]
tids = {h[2] for h in holds}


def held(begin, end):
    """Who had it in [begin, end), and for how long; and how much of that time anybody had it."""
    by, at, known = {}, begin, 0
    for i in range(bisect.bisect(starts, begin - longest), bisect.bisect(starts, end)):
        a, b = max(holds[i][0], begin), min(holds[i][1], end)
        if a < b:
            by[holds[i][2]] = by.get(holds[i][2], 0) + b - a
            known += max(0, b - max(a, at))
            at = max(at, b)
    return by, known


def is_wait(e):
    return function == e["function"] or any(function == f for f in e["stack"]) if function else e["cause"] in ("lock", "rwlock")


def named(e):
    """The thread that is said to have held it, and for how long."""
    if e["holder"]["way"] in ("lock", "waker"):
        return e["holder"]["tid"], e["chain"][1]["ns"]
    for p in e["root"]["parts"] if len(e["chain"]) == 1 else []:
        if p["state"] == "blocked" and p["actor"]:
            return p["actor"]["tid"], p["actor"]["ns"]
    return None, 0


right = wrong = none = waits = unsure = 0
for e in tail["episodes"]:
    begin = origin + e["start_ns"]
    blocked = e["blocked_ns"]
    if e["tid"] not in tids or blocked < LEAST_NS or not is_wait(e) or e["suspect"] or e["open"]:
        continue
    # a timed wait that was tried again ran, and waited for a CPU, in between
    end = begin + blocked if not e["run_ns"] else origin + e["end_ns"] 
    by, known = held(begin, end)
    by.pop(e["tid"], None)
    if not by or known < KNOWN * (end - begin):
        unsure += 1
        continue
    waits += 1
    who, ns = named(e)
    if who is None or ns * 5 < blocked:
        none += 1
    elif by.get(who, 0) >= TRUE * ns - SLACK_NS:
        right += 1
    else:
        wrong += 1
        if wrong <= 10:
            print(f"  wrong: #{e['rank']} {e['comm']}/{e['tid']} from {e['start_ns']} for {blocked}: "
                  f"{who} for {ns}, not {by}: {e['root']['sentence']}", file=sys.stderr)
print(f"| {name} | {waits} | {right} | {wrong} | {none} |", f"(log does not know: {unsure})")
sys.exit(wrong > 0)
