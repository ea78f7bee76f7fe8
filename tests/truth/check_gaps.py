#!/usr/bin/env python3
"""check_gaps.py ORIGIN_NS TRUTH GAPS.json [SAMPLER.json]: what tests/truth/gaps.c did, beside what
`tail --by gap --top 0 --json` says. Parts add up to their gap, and each thing that the program did to
itself is in the gap around it, as long as it was, and blamed on nobody else."""
import json
import sys

NEAR = 60_000  # ns: switching threads, entering and leaving interrupts


def start_of(answer):
    return answer["episodes"], answer["population"]["count"]


def parts_by(e, by, comm=None):
    return sum(p["ns"] for p in e["parts"]
               if p["by"] == by and (comm is None or p.get("comm") == comm))


def around(gaps, origin, a, b):
    found = [e for e in gaps if e["start_ns"] + origin <= a and b <= e["end_ns"] + origin]
    assert len(found) == 1, f"{len(found)} gaps around {a} to {b}"
    return found[0]


def check_event(kind, length, e):
    taken = parts_by(e, "interrupt") + parts_by(e, "records missing")
    others = sum(p["ns"] for p in e["parts"] if p["by"] == "thread" and p["comm"] != "disturber")
    mine = {"disturber": parts_by(e, "thread", "disturber"),
            "itself": parts_by(e, "unexplained"),
            "asleep": parts_by(e, "spinner not running")}
    others += mine["disturber"] if kind == "asleep" else 0
    assert length - taken - others - NEAR <= mine[kind] <= length + NEAR, (kind, length, e)
    if kind == "itself":
        assert mine["disturber"] == 0, (kind, e)


def main():
    origin = int(sys.argv[1])
    gaps, count = start_of(json.load(open(sys.argv[3])))
    assert len(gaps) == count
    for e in gaps:
        assert sum(p["ns"] for p in e["parts"]) == e["duration_ns"], e
        assert e["placed"] and e["spinner"]["comm"] == "spinner"
    seen = {}
    for line in open(sys.argv[2]):
        kind, a, b = line.split()
        check_event(kind, int(b) - int(a), around(gaps, origin, int(a), int(b)))
        seen[kind] = seen.get(kind, 0) + 1
    assert seen["disturber"] == 20 and seen["itself"] >= 2 and seen["asleep"] >= 2, seen
    if len(sys.argv) < 5:
        return
    rough, _ = start_of(json.load(open(sys.argv[4])))
    placed = [e for e in rough if e["placed"]]
    assert len(placed) * 2 >= len(rough), f"{len(placed)} of {len(rough)} placed"
    for e in placed:
        near = [x for x in gaps if x["start_ns"] <= e["end_ns"] and e["start_ns"] <= x["end_ns"]]
        assert any(abs(x["duration_ns"] - e["duration_ns"]) < 2000 for x in near), e
        assert sum(p["ns"] for p in e["parts"]) == e["duration_ns"], e


main()
