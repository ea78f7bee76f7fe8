#!/usr/bin/env python3
"""check_ldb.py TRUTH SPANS: tests/truth/ldb.c's log beside the spans that perfkit made of ldb.data, as
lines "name key start end" of its store: the same, to the nanosecond."""
import sys


def main():
    said, made = {}, {}
    for line in open(sys.argv[1]):
        what, number, _, start, end = line.split()
        key = number if what in ("request", "queue", "part") else ""
        said.setdefault(what, []).append((key, int(start), int(end)))
    names = {"request": "request", "request part": "part", "in queue": "queue", "mutex wait": "wait",
             "mutex hold": "hold"}
    for line in open(sys.argv[2]):
        name, key, start, end = line.rstrip("\n").split("|")
        made.setdefault(names.get(name, "call"), []).append((key, int(start), int(end)))
    assert set(said) == set(made), (set(said), set(made))
    for what in said:
        a, b = sorted(said[what]), sorted(made[what])
        assert a == b, (what, len(a), len(b), sorted(set(a) ^ set(b))[:4])
    assert len(said["request"]) == 61 and len(said["queue"]) == 61


main()
