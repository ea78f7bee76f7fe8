#!/usr/bin/env python3
"""check_requests.py REQUESTS.csv TAIL.json [COMM]: what `perfkit tail --with REQUESTS.csv --top 0 --open
--json` says of every request that the program `serve` logged. On one clock, begin and end are the
program's to the nanosecond; the parts sum up; a request that stood at the lock was blocked for so
long, and whoever slept with it (COMM, snapshot) is the root."""
import csv
import json
import sys

NOISE = 300_000  # of a wait: the way into the kernel and out, a neighbour's turn
want = {r["key"]: r for r in csv.DictReader(open(sys.argv[1]))}
tail = json.load(open(sys.argv[2]))
holder = sys.argv[3] if len(sys.argv) > 3 else "snapshot"
origin = int(tail["recording"]["origin_ns"])
bad, waited = [], 0
if len(tail["episodes"]) != len(want) or {e["key"] for e in tail["episodes"]} != set(want):
    bad.append(f"{len(tail['episodes'])} episodes of {len(want)} requests")
for e in tail["episodes"]:
    key, r = e["key"], want.get(e["key"])
    if not r:
        continue
    if (origin + e["start_ns"], origin + e["end_ns"]) != (int(r["start_ns"]), int(r["end_ns"])):
        bad.append(f"{key}: {e['start_ns'] + origin} to {e['end_ns'] + origin}, logged {r['start_ns']} to {r['end_ns']}")
    if e["tid"] != int(r["tid"]):
        bad.append(f"{key}: tid {e['tid']}, logged {r['tid']}")
    labels = {x["key"]: x["value"] for x in e["labels"]}
    if labels != {"route": r["route"], "lock_ns": r["lock_ns"]}:
        bad.append(f"{key}: {labels}")
    if e["run_ns"] + e["blocked_ns"] + e["runnable_ns"] + e["unknown_ns"] != e["duration_ns"]:
        bad.append(f"{key}: its parts do not sum up")
    lock = int(r["lock_ns"])
    if lock < 1_000_000 or e["suspect"]:
        continue
    waited += 1
    off = e["blocked_ns"] + e["runnable_ns"]
    if not lock - NOISE <= off <= e["duration_ns"]:
        bad.append(f"{key}: {off} ns off the CPU, {lock} at the lock")
    if e["root"]["comm"] != holder or e["root"]["cause"] != "sleep":
        bad.append(f"{key}: root {e['root']['comm']}, {e['root']['cause']}")
if not waited:
    bad.append("no request waited for the lock")
print(f"{len(want)} requests, {waited} waited for the lock, {len(bad)} wrong")
for b in bad[:8]:
    print("  " + b)
sys.exit(1 if bad else 0)
