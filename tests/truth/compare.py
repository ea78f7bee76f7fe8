#!/usr/bin/env python3
"""How often does `perfkit compare` raise a false alarm, and how often does it see a planted change?

    compare.py PERFKIT DIR [--record SLOWER CHANGED] [--runs N] [--draws N] [--peers]

--record makes DIR: N runs each (20) of tests/truth/slower with 0 (twice), 3, 5 and 10 percent, and ten
each of both sides of the changes that tests/truth/changed.c knows, by turns. Those ten and ten are
compared as they are. Then groups are drawn from the runs of slower, 10 and 10 runs, or N and N if
there are fewer, and 5 and 5: 200 times (--draws) both from the unchanged ones, half as often each
against a change. Groups of one set of recordings share runs, so the rates are of these recordings, not
of 200 times 20 new ones.

--peers prints what perf diff, pprof -diff_base and difffolded.pl (of $FLAMEGRAPH, a folder) show for
the same runs.
"""
import glob, json, os, random, subprocess, sys

SLOWER = ["0", "0b", "3", "5", "10"]
CHANGED = {"copies": ("30", "70"), "copies-long": ("30", "70"), "lock": ("0", "3000")}
CPU = ["-e", "cpu-clock:u", "-F", "997", "-g"]
SWITCHES = ["-a", "-N", "-m", "1024", "-g"] + [w for e in ("switch", "waking", "wakeup", "wakeup_new", "process_exit")
                                               for w in ("-e", "sched:sched_" + e)]


def perf(out, events, command):
    subprocess.run(["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", *events, "-o", out, "--", *command],
                   check=True, stdout=subprocess.DEVNULL)


def record(slower, changed, where, n):
    for i in range(1, n + 1):
        for plant in SLOWER:
            perf("%s/p%s.%d.data" % (where, plant, i), CPU, [slower, plant.rstrip("b"), "3000"])
        for what, sides in CHANGED.items() if i <= 10 else ():
            for side in sides:
                perf("%s/%s%s.%d.data" % (where, what, side, i), SWITCHES if what == "lock" else CPU,
                     [changed, what.split("-")[0], side, *(["6"] if "long" in what else [])])


def runs_of(where, plant):
    return sorted(glob.glob("%s/%s.*.data" % (where, plant)), key=lambda f: int(f.split(".")[-2]))


def compare(perfkit, before, after, *options):
    out = subprocess.run([perfkit, "compare", "-q", "--per", "recording", *options, "--format", "json", *before, "--", *after],
                         check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)["figures"]


def changes(figures):
    return [f for f in figures if f["verdict"] in ("more", "less")]


def seen(figures):
    return any(f["what"] == "self" and f["name"].startswith("hot,") and f["verdict"] == "more" for f in figures)


def told(f):
    share = "" if not f["before"] else " %+.1f %%" % (100 * f["difference"] / f["before"])
    what = f["what"] or f["kind"]
    return "%s %s%s%s: %s" % (what, f["name"], " p%g" % f["percent"] if f.get("percent") else "", share, f["verdict"])


def planted(perfkit, where):
    """The ten and ten runs of each plant; 1 if a verdict contradicts it."""
    bad = 0
    for name, before, after, options in (
            ("no change", runs_of(where, "p0")[:10], runs_of(where, "p0b")[:10], ()),
            ("hot() 3 % slower", runs_of(where, "p0")[:10], runs_of(where, "p3")[:10], ()),
            ("time moved between copies", runs_of(where, "copies30"), runs_of(where, "copies70"), ()),
            ("time moved between copies, --least 10", runs_of(where, "copies30"), runs_of(where, "copies70"), ("--least", "10")),
            ("time moved between copies, runs six times as long", runs_of(where, "copies-long30"), runs_of(where, "copies-long70"), ()),
            ("a lock held longer by 1 of 100", runs_of(where, "lock0"), runs_of(where, "lock3000"), ())):
        if not before or not after:
            continue
        figures = compare(perfkit, before, after, *options)
        rows = [f for f in figures if f["tested"]]
        print("%s, %d and %d runs: %d rows, %d more or less, %d same, %d cannot say"
              % (name, len(before), len(after), len(rows), len(changes(rows)), sum(f["verdict"] == "same" for f in rows),
                 sum(f["verdict"] == "cannot say" for f in rows)))
        for f in rows if "copies" in name else changes(rows):
            print("    " + told(f))
        bad |= "lock" in name and not any(f["kind"] == "wait" and f["verdict"] == "more" for f in rows)
        bad |= "copies" in name and bool(changes(rows))
    return bad


def rates(perfkit, where, n, draws):
    same, rng, bad = runs_of(where, "p0") + runs_of(where, "p0b"), random.Random(1), 0
    for size in sorted({min(n, 10), min(n, 5)}, reverse=True):
        alarms = 0
        for _ in range(draws):
            drawn = rng.sample(same, 2 * size)
            alarms += bool(changes(compare(perfkit, drawn[:size], drawn[size:])))
        print("%d and %d runs, no change: %d of %d comparisons claim one" % (size, size, alarms, draws), flush=True)
        bad |= alarms * 20 > draws
        for plant in SLOWER[2:]:
            found = sum(seen(compare(perfkit, rng.sample(same, size), rng.sample(runs_of(where, "p" + plant), size)))
                        for _ in range(draws // 2))
            print("%d and %d runs, hot() %s %% slower: seen in %d of %d" % (size, size, plant, found, draws // 2), flush=True)
    return bad


def show(title, command, lines, **how):
    try:
        out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **how).stdout
    except OSError:
        out = "(not installed)"
    print("--- " + title)
    print("\n".join([l for l in out.splitlines() if l.strip() and not l.startswith("#")][:lines]), flush=True)


def peers(perfkit, where):
    names = ["-q"]
    flame = os.environ.get("FLAMEGRAPH", "")
    for title, one, other in (("no change", "p0", "p0b"), ("hot() 3 % slower", "p0", "p3"), ("hot() 10 % slower", "p0", "p10"),
                              ("copies", "copies30", "copies70"), ("lock", "lock0", "lock3000")):
        before, after = runs_of(where, one)[:10], runs_of(where, other)[:10]
        print("=== " + title)
        show("perf diff, the first run of each", ["perf", "diff", "-q", before[0], after[0]], 6)
        how = ["--offcpu", "--comm", "changed"] if one == "lock0" else []
        for side, files in (("before", before), ("after", after)):
            for i, f in enumerate(files):
                base = "%s/peer.%s.%d" % (where, side, i)
                subprocess.run([perfkit, "export", "--to", "pprof", *names, *how, "-o", base + ".pb.gz", f], stderr=subprocess.DEVNULL)
                with open(base + ".folded", "w") as out:
                    subprocess.run([perfkit, "collapse", *names, *how, f], stdout=out, stderr=subprocess.DEVNULL)
            with open("%s/peer.%s.folded" % (where, side), "w") as out:
                for i in range(len(files)):
                    out.write(open("%s/peer.%s.%d.folded" % (where, side, i)).read())
        pb = {s: ["%s/peer.%s.%d.pb.gz" % (where, s, i) for i in range(10)] for s in ("before", "after")}
        show("pprof -diff_base, the first run of each", ["go", "tool", "pprof", "-top", "-nodecount=6", "-diff_base", pb["before"][0],
                                                          pb["after"][0]], 12)
        merged = []
        for s in pb:
            merged.append("%s/peer.%s.pb" % (where, s))
            with open(merged[-1], "wb") as out:
                subprocess.run(["go", "tool", "pprof", "-proto", "-output", merged[-1], *pb[s]], stderr=subprocess.DEVNULL)
        show("pprof -diff_base, ten runs of each", ["go", "tool", "pprof", "-top", "-nodecount=6", "-diff_base", *merged], 12)
        if flame:
            show("difffolded.pl, ten runs of each", ["perl", flame + "/difffolded.pl", "%s/peer.before.folded" % where,
                                                     "%s/peer.after.folded" % where], 12)


def number(option, default):
    return int(sys.argv[sys.argv.index(option) + 1]) if option in sys.argv else default


def main():
    perfkit, where = sys.argv[1:3]
    n, draws = number("--runs", 20), number("--draws", 200)
    if "--record" in sys.argv:
        record(*sys.argv[sys.argv.index("--record") + 1:][:2], where, n)
    if "--peers" in sys.argv:
        return peers(perfkit, where)
    return planted(perfkit, where) | (rates(perfkit, where, n, draws) if draws else 0)


sys.exit(main())
