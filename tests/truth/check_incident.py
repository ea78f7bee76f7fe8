"""check_incident.py ANSWER.json LOG PERCENT: what `perfkit tail --json` says of the requests that a program logged as slow.

Prints how many of the log's "wait" lines the answer explains as its first group does: waits with that root cover half
of the logged time or more. Exit status 1 where these are fewer than PERCENT.
"""
import json
import sys

answer = json.load(open(sys.argv[1]))
origin = int(answer["recording"]["origin_ns"])


def root(r):
    # of several processes that had the CPU the process counts, of a mechanism who was behind it, else what it did
    if r["via"] == "cpu":
        return r["process"]
    return r["comm"], r["mechanism"] or (r["state"], r["cause"])


if not answer["groups"]:
    sys.exit("no episodes")
first = root(answer["groups"][0]["root"])
like = [(e["start_ns"] + origin, e["end_ns"] + origin, e["tid"]) for e in answer["episodes"] if root(e["root"]) == first]
logged = explained = 0
for line in open(sys.argv[2]):
    kind, tid, start, end = line.split()
    tid, start, end = int(tid), int(start), int(end)
    if kind != "wait":
        continue
    logged += 1
    covered = sum(max(0, min(end, b) - max(start, a)) for a, b, t in like if t == tid)
    explained += 2 * covered >= end - start
print(f"{explained} of {logged} logged")
sys.exit(100 * explained < int(sys.argv[3]) * logged)
