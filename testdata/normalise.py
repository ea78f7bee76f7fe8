#!/usr/bin/env python3
"""normalise.py [EVENT]: perf script text on stdin → the same text in the form that
stackcollapse-perf.pl reads rightly; the samples of EVENT only, by default of the first sample's
event. What it repairs are the classes of tests/differences.md:

- comm-parse: a comm that looks like the columns behind it ("worker 12", "a;b 7/8")
- pid-zero: a tid of 0 is taken for a missing one: the idle task is swapper-?
- tracepoint-filter: text behind the event name (tracepoints) hides the event from the script
- no-callchain: a sample without callchain, all on one line
"""
import re
import sys

head = re.compile(r"^\s*(\S.*?)\s+(-?\d+(?:/-?\d+)?)\s+((?:\[\d+\]\s+)?\d+\.\d+:)\s+(?:(\d+)\s+)?"
                  r"([^\s:]\S*?):(?:\s(.*))?$")
greedy = re.compile(head.pattern.replace(r"(\S.*?)", r"(\S.*)", 1))
wanted = sys.argv[1] if len(sys.argv) > 1 else None
keep = False
for line in sys.stdin:
    line = line.rstrip("\n")
    m = None if line.startswith("\t") else greedy.match(line)
    if not m:
        if keep:
            print(line)
        continue
    comm, tid, when, period, event, rest = m.groups()
    wanted = wanted or event
    keep = event == wanted
    if not keep:
        continue
    comm = comm.rstrip().replace(" ", "_").replace(";", ":").replace("/", "\u2215")
    tid = tid.replace("-1", "4294967295")
    if tid.endswith("/0"):
        tid += "0"
    frame = re.match(r"\s*([0-9a-f]+ .+ \(.*\))\s*$", rest or "")
    if rest and not frame or re.match(r"\w[\w-]*:\w{3,}$", event):  # a tracepoint counts once
        period = 1
    print(f"{comm}\u200b {tid} {when} {period or 1} {event}: ")
    if frame:
        print("\t" + frame.group(1) + "\n")
