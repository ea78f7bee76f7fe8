#!/usr/bin/env python3
"""How often does `perfkit compare` raise a false alarm, and how often does it see a planted change?

    compare.py PERFKIT DIR [--record SLOWER] [--runs N] [--draws N]

--record makes DIR: N runs each (20) of tests/truth/slower with 0 (twice), 3, 5 and 10 percent, by
turns. Then groups are drawn from them, 10 and 10 runs, or N and N if there are fewer, and 5 and 5:
200 times (--draws) both from the unchanged ones, half as often each against a change. Groups of one
set of recordings share runs, so the rates are of these recordings, not of 200 times 20 new ones.
"""
import glob, json, random, subprocess, sys

PLANTS = ["0", "0b", "3", "5", "10"]


def record(slower, where, n):
    for i in range(n):
        for plant in PLANTS:
            subprocess.run(["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock:u", "-F", "997", "-g",
                            "-o", "%s/p%s.%d.data" % (where, plant, i + 1), slower, plant.rstrip("b"), "3000"],
                           check=True, stdout=subprocess.DEVNULL)


def compare(perfkit, before, after):
    out = subprocess.run([perfkit, "compare", "-q", "--no-local", "--trust-paths", "--per", "recording",
                          "--format", "json", *before, "--", *after], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)["figures"]


def changed(figures):
    return any(f["verdict"] in ("more", "less") for f in figures)


def seen(figures):
    return any(f["what"] == "self" and f["name"].startswith("hot,") and f["verdict"] == "more" for f in figures)


def number(option, default):
    return int(sys.argv[sys.argv.index(option) + 1]) if option in sys.argv else default


def main():
    perfkit, where = sys.argv[1:3]
    n, draws = number("--runs", 20), number("--draws", 200)
    if "--record" in sys.argv:
        record(sys.argv[sys.argv.index("--record") + 1], where, n)
    runs = {p: sorted(glob.glob("%s/p%s.*.data" % (where, p))) for p in PLANTS}
    same, rng = runs["0"] + runs["0b"], random.Random(1)
    bad = 0
    for size in sorted({min(n, 10), min(n, 5)}, reverse=True):
        alarms = 0
        for _ in range(draws):
            drawn = rng.sample(same, 2 * size)
            alarms += changed(compare(perfkit, drawn[:size], drawn[size:]))
        print("%d and %d runs, no change: %d of %d comparisons claim one" % (size, size, alarms, draws), flush=True)
        bad |= alarms * 20 > draws
        for plant in PLANTS[2:]:
            found = sum(seen(compare(perfkit, rng.sample(same, size), rng.sample(runs[plant], size))) for _ in range(draws // 2))
            print("%d and %d runs, hot() %s %% slower: seen in %d of %d" % (size, size, plant, found, draws // 2), flush=True)
    return bad


sys.exit(main())
