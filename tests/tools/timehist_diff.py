#!/usr/bin/env python3
"""timehist_diff.py TLDUMP.txt TIMEHIST.txt [--per-task] - compare every interval with perf's.

TLDUMP.txt is `tldump FILE`, TIMEHIST.txt is `perf sched timehist --state -i FILE`. A timehist
line is a switch-out: its wait time and sch delay belong to the interval before it. Times agree
to the microsecond perf prints. Differences are counted by class (tests/differences.md); the exit
status is 1 when some are left without one.
"""
import collections
import re
import sys

def read_ours(path):
    rows = collections.defaultdict(list)
    for line in open(path, errors="replace"):
        m = re.match(r"(\d+) (.*?) (\d+) (\d+) blocked=(\d+) runnable=(\d+) preempted=(\d+) "
                     r"state=(\S*) cause=\S+ ?(.*?) ?unknown=(.*?) cpu=(-?\d+)>(-?\d+) ctx=(\S*)", line)
        if not m:
            sys.exit("not a line of tldump: " + line)
        rows[int(m[1])].append({
            "start": int(m[3]), "end": int(m[4]), "runnable": int(m[6]), "preempted": int(m[7]),
            "state": m[8], "flags": m[9], "unknown": m[10], "out": int(m[11]), "blocked": int(m[5]),
            "ctx": m[13]})
    return rows

def read_perf(path):
    for line in open(path, errors="replace"):
        m = re.match(r"\s*(\d+)\.(\d+) \[(\d+)\]\s+(.*?)\[(-?\d+)(?:/(-?\d+))?\]\s+"
                     r"([\d.]+)\s+([\d.]+)\s+([\d.]+)", line)
        if m:
            yield (int(m[5]), int(m[1]) * 1000000 + int(m[2]), float(m[7]), float(m[8]), int(m[3]), m[4])
        elif re.match(r"\s*\d+\.\d+ \[", line) and "<idle>" not in line:
            yield None if "[" in line.split("] ", 1)[1].split("  ")[0] else "no tid"

def us(ns):
    return ns / 1000

def near(ours_ns, perf_ms):
    return abs(ours_ns / 1e6 - perf_ms) <= 0.00101

def classify(i, wait, delay, before, woken_first, nameless):
    """Why perf says something else about interval i (our row before the switch-out); `before` is
    when perf saw the last switch-out on that CPU, where only some tasks were recorded: there it
    ends the wait, or has none if it lies before the thread's own. `woken_first`: the thread was
    first seen by being woken, and this is perf's first line without a time for it. `nameless`: perf
    shows no name but ":TID", as after the thread's EXIT record."""
    length = i["end"] - i["start"]
    if before is not None:
        if abs(us(i["start"]) + wait * 1000 - before) <= 2.1:
            return "per-task"
        if wait == 0 and before < us(i["start"]) + 2:
            return "per-task"
    if "suspect" in i["flags"] or i["unknown"] in ("hole", "lost", "open edge"):
        return "hole"
    if i["out"] < 0 and not near(length, wait):
        return "first-seen"
    if near(length, wait) and i["preempted"] and delay <= wait:
        return "preempted-is-runnable"
    if near(length, wait) and i["blocked"] == 0 and delay == 0:
        return "raced-waking"
    if near(length, wait) and i["runnable"] and not i["ctx"] and delay == 0:
        return "missing-waking"
    if near(length, wait) and i["ctx"] and us(i["runnable"]) / 1000 < delay <= wait:
        return "two-wakings"
    if near(length, wait) and i["unknown"] == "missing wakeup":
        return "missing-wakeup"
    if wait == 0 and delay == 0 and woken_first:
        return "forgotten-at-fork"
    if wait == 0 and delay == 0 and nameless:
        return "forgotten-at-exit"
    return None

def main():
    per_task = "--per-task" in sys.argv
    last_on, last_row, forgotten, gone = {}, None, set(), set()
    ours, compared, same = read_ours(sys.argv[1]), 0, 0
    classes, odd, unread = collections.Counter(), [], 0
    at = {tid: {r["start"] // 1000: k for k, r in enumerate(rows)} for tid, rows in ours.items()}
    for row in read_perf(sys.argv[2]):
        if row is None:
            unread += 1
            continue
        if row == "no tid":
            classes["tid-not-shown"] += 1      # which thread it was cannot be told
            continue
        tid, t, wait, delay, cpu, name = row
        if last_row == (tid, t, cpu) and wait == 0 and delay == 0:
            classes["recorded-twice"] += 1
            continue
        last_row = (tid, t, cpu)
        before = last_on.get(cpu)
        last_on[cpu] = t
        k = None
        for dt in (0, 1, -1):
            k = at.get(tid, {}).get(t + dt, k) if k is None else k
        if k is None:
            classes["exit-or-unseen"] += 1     # a last switch-out opens no interval
            continue
        compared += 1
        if k == 0:
            if wait == 0 and delay == 0:
                same += 1
            else:
                classes["first-seen"] += 1
            continue
        i = ours[tid][k - 1]
        if near(i["end"] - i["start"], wait) and near(i["runnable"], delay):
            same += 1
            continue
        if i["out"] < 0 and wait == 0 and near(i["runnable"], delay):
            same += 1                          # a first wakeup: perf knows no wait
            continue
        first = ours[tid][0]
        woken_first = first["out"] < 0 and first["ctx"] and tid not in forgotten
        c = classify(i, wait, delay, (before or 0) if per_task else None, woken_first,
                     name == ":%d" % tid and tid not in gone)
        if c == "forgotten-at-fork":
            forgotten.add(tid)
        if c == "forgotten-at-exit":
            gone.add(tid)
        if c:
            classes[c] += 1
        else:
            odd.append((tid, t, wait, delay, i))
    print(f"compared {compared}, same {same}, unclassified {len(odd)}, unread {unread}")
    for c, n in sorted(classes.items()):
        print(f"  {c} {n}")
    for o in odd[:10]:
        print("  ?", o)
    return 1 if odd or unread or not (same or per_task and compared) else 0

sys.exit(main())
