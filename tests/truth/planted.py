#!/usr/bin/env python3
"""planted.py [-n N] [--turns] [--keep DIR] [--brief] [PATTERN] - how often is the cause named?

Records each program of this folder and each of its variants N times here, with frame pointers and
with copies of the stack (--turns: with one of them in turn), asks `perfkit tail` for the worst
episodes of the threads that suffer, and compares the group of rank 1 with what was planted: its
thread, its cause, its function. Every recording is asked twice: with all symbols, and with a C
library that has only its dynamic ones. Prints found/asked per variant, how many recordings were
made again because the machine lost scheduler records in them (AGAIN) or because another process
had the CPU for longer than what was planted, which is then the true cause (OTHERS), and what was
named instead at each miss. Where the program's own log says that what was planted was not the
longest (DENIED), the recording is no witness either. --keep DIR keeps the recordings of those; Ctrl-C and SIGTERM print what there is.

--brief is for `make check`: every second variant, all symbols, and a miss gets further chances, as
a neighbour on this machine may have been the louder cause. A variant none of whose recordings is a
witness is left out by name.

"feed" is asked by span, between two probes: p99.9 must also be the program's own, to 1 % and what
the probes cost.

Environment: O (build folder, build), PERFKIT (O/perfkit). Exit 0 all found, 1 not, 77 when nothing
can be recorded here (the last line says why)."""
import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
O = os.path.abspath(os.environ.get("O", os.path.join(SRC, "build")))
PERFKIT = os.environ.get("PERFKIT", os.path.join(O, "perfkit"))

PROBES_NS = 60000  # two uprobes and their returns on a virtual machine, at the most
CHANCES = 4     # of --brief
AGAIN = 10      # per cent of the asked episodes suspect: the recording is no witness, make another
TRIES = 6
OTHER = "another process: "
HELPERS = {"burn_ns", "cpu_ns", "sleep_ns", "sleep_until", "clock_gettime", "now_ns"}

# what was planted: thread, cause ("running": code that ran), the function at the chain's end, and
# the functions that stand for it where frame pointers lose it (C library functions have none, so
# their caller is not seen)
PLANTED = {
    "hold": ("snapshot", "running", "write_snapshot", "take_snapshot snapshots"),
    "hold-asleep": ("snapshot", "sleep", "write_snapshot", "take_snapshot snapshots"),
    "hold-arena": ("snapshot", "running", "write_snapshot", "take_snapshot snapshots"),
    "hold-alt": ("ckpt", "running", "dump_tables", "checkpoint snapshots"),
    "hog": ("hog", "running", "compute_index", "hogs"),
    "hog-alt": ("indexer", "running", "rebuild", "hogs"),
    "chain": ("back", "sleep", "slow_disk", "backs"),
    "chain-alt": ("store", "sleep", "stalled_volume", "backs"),
    "feed": ("logger", "running", "flush_log", "loggers"),
    "feed-alt": ("journal", "running", "sync_journal", "loggers"),
    "pool": ("worker", "sleep", "slow_job", "run_job"),
    "pool-alt": ("pooled", "sleep", "cold_report", "execute"),
    "coldmap": ("front", "fault", "lookup_page", "handle_request main"),
    "coldmap-alt": ("api", "fault", "read_record", "serve_query main"),
    "queue": ("worker", "sleep", "lookup_row", "workers"),
    "queue-alt": ("executor", "sleep", "scan_index", "workers"),
    "forkjoin": ("slowpart", "running", "slow_part", "parts"),
    "forkjoin-alt": ("bigshard", "running", "large_shard", "parts"),
    "periodic": ("hog", "running", "compute_index", "hogs"),
    "periodic-alt": ("indexer", "running", "rebuild", "hogs"),
}
# the threads that suffer, by program; -alt programs: the second
SUFFERS = {"pool": ("worker", "pooled"), "periodic": ("ticker", "metronome")}

# letter of the planted cause, what was planted, program and its options, how many of the worst are
# looked at (about as many as are planted)
VARIANTS = [
    ("a", "hold", "hold", 8),
    ("a", "hold", "hold --loud", 8),
    ("a", "hold-alt", "hold-alt", 8),
    ("a", "hold", "hold --lock rwlock --loud", 8),
    ("a", "hold-alt", "hold-alt --lock semaphore", 8),
    ("a", "hold", "hold --lock spin", 8),
    ("a", "hold-arena", "hold --arena", 6),
    ("a", "hold-asleep", "hold --asleep", 8),
    ("b", "hog", "hog --loud", 10),
    ("b", "hog-alt", "hog-alt", 10),
    ("b", "hog", "hog --neighbour", 10),
    ("b", "hog-alt", "hog-alt --neighbour --loud", 10),
    ("c", "chain", "chain --loud", 10),
    ("c", "chain-alt", "chain-alt --lock semaphore", 10),
    ("c", "chain", "chain --lock rwlock", 10),
    ("c", "chain-alt", "chain-alt --lock spin --loud", 10),
    ("d", "feed", "feed --loud", 0),
    ("d", "feed-alt", "feed-alt --lock spin", 0),
    ("d", "feed", "feed --lock rwlock", 0),
    ("e", "pool", "pool --loud", 8),
    ("e", "pool-alt", "pool-alt", 8),
    ("f", "coldmap", "coldmap --loud", 200),
    ("f", "coldmap-alt", "coldmap-alt", 200),
    ("g", "queue", "queue --loud", 9),
    ("g", "queue-alt", "queue-alt", 9),
    ("h", "forkjoin", "forkjoin --loud", 12),
    ("h", "forkjoin-alt", "forkjoin-alt", 12),
    ("i", "periodic", "periodic --loud", 10),
    ("i", "periodic-alt", "periodic-alt", 10),
]
# which waits belong to work where nothing but a word of the user's settles it (docs/sites.md)
WORK = {"pool": "slow_job|run_job|cold_report|execute", "queue": "ask|handle_request|serve_query"}
# everything a program of this folder calls its threads
OWN = set("""snapshot ckpt front api hogmain boss hog indexer middle cache back store market engine pricer
logger journal dispatcher scheduler worker pooled executor slowpart bigshard quickpart shard periodic
clockwork ticker metronome heartbeat keepalive cruncher miner hold keep chain queue forkjoin pool
coldmap feed""".split())
PROBED = {"feed": "process_packet", "feed-alt": "on_tick"}


def run(*args, **kw):
    return subprocess.run(args, capture_output=True, text=True, **kw)


def can(*args):
    try:
        return run(*args).returncode == 0
    except OSError:
        return False


class Recorder:
    """Records in front of this machine's other users, who would be true causes too."""

    def __init__(self, where):
        self.data, self.log = os.path.join(where, "live.data"), os.path.join(where, "live.log")
        self.first = ["chrt", "-r", "20"] if can("chrt", "-r", "20", "true") else []
        self.realtime = ["--realtime", "50"] if self.first else []
        self.where, self.bare = where, os.path.join(where, "bare")

    def line(self, stacks, events, hz):
        switch = "fp" if stacks == "fp" else "dwarf,stack-size=4096"
        line = ["perf", "record", "-q", "-a", "-N", *self.realtime, "-k", "CLOCK_MONOTONIC",
                "-m", "4096", "-c", "1"]
        for e in [f"sched:sched_switch/call-graph={switch}/", "sched:sched_waking/call-graph=fp/",
                  "sched:sched_wakeup", "sched:sched_wakeup_new", "sched:sched_process_exit",
                  f"cpu-clock/freq={hz},call-graph=fp/", *events]:
            line += ["-e", e]
        return line + ["-o", self.data]

    def record(self, stacks, words):
        program = os.path.join(O, "tests", "truth", words[0])
        events, hz = (["perfkit_f:*"], 4999) if words[0] in PROBED else ([], 997)
        r = run(*self.line(stacks, events, hz), "--", *self.first, program, self.log, *words[1:],
                cwd=self.where)
        return r.returncode, r.stderr

    def probe(self, program):
        """0, or 1 where no probe can be set."""
        run("perf", "probe", "-q", "-d", "perfkit_f:*")
        f, path = PROBED[program], os.path.join(O, "tests", "truth", program)
        return not all(can("perf", "probe", "-q", "-x", path, f"perfkit_f:packet={f}{end}")
                       for end in ("", "%return"))

    def symbols(self, program):
        """The options that leave only the program's and libc's own symbols."""
        path = os.path.join(O, "tests", "truth", program)
        for f in [path, *self.libraries(path)]:
            if not os.path.exists(self.bare + f):
                os.makedirs(self.bare + os.path.dirname(f), exist_ok=True)
                shutil.copy(f, self.bare + f)
        return ["--no-local", "--symfs", self.bare, "--kallsyms", "/proc/kallsyms"]

    def libraries(self, path):
        """Paths of shared libraries, by which name they are mapped, too."""
        found = set()
        for line in run("ldd", path).stdout.splitlines():
            for w in line.split():
                if w.startswith("/"):
                    found |= {w, os.path.realpath(w)}
                    if os.path.realpath(w).startswith("/usr/lib"):
                        found.add(os.path.realpath(w)[4:])
        return found


def asked(planted, top, log):
    """The options of the question."""
    name = planted.split("-")[0]
    if name == "feed":
        return ["--by", "span:packet", "--p999"]
    comm = SUFFERS.get(name, ("front", "api"))[planted.endswith("-alt")]
    options = ["--comm", comm, "--top", str(top)]
    if name in WORK:
        options += ["--work-frame", "^(%s)$" % WORK[name]]
    if name == "coldmap":  # filling the file waits, too
        faults = [list(map(int, w[2:4])) for w in map(str.split, open(log)) if w[0] == "fault"]
        options += ["--time", f"{faults[0][0] / 1e9:.6f},{faults[-1][1] / 1e9:.6f}"]
    return options


def suspects(tail):
    p = tail["population"]
    return p["suspect"] * 100 >= AGAIN * (p["count"] + p["suspect"])


def stack_of(tail, root):
    for ep in tail["episodes"]:
        r = ep["root"]
        if all(r.get(k) == root.get(k) for k in ("comm", "cause", "function")):
            return ep["chain"][-1]["stack"]
    return []


def judge(tail, planted, stacks):
    """None when the group of rank 1 is what was planted, else what was named instead."""
    comm, cause, function, callers = PLANTED[planted]
    if not tail["groups"]:
        return "no episodes"
    root = tail["groups"][0]["root"]
    got = (root.get("comm"), root.get("cause") or root.get("state"), root.get("function"))
    allowed = {function} | (set(callers.split()) if stacks != "dwarf" or cause == "running" else set())
    named = got[2] in allowed
    if got[2] in HELPERS:
        named = bool(allowed & set(stack_of(tail, root)))
    if planted == "hold-arena":  # the C library's own work, whose frames lose their callers
        named = True
    if got[0] == comm and got[1] == cause and named:
        return None
    share = tail["groups"][0]["share"]
    other = OTHER if root.get("state") == "running" and got[0] not in OWN else ""
    return f"{other}{got[0]}, {got[1]}, {got[2]}, share {share:.2f}"


def p999_wrong(recorder):
    """Spans must have the program's own p99.9; None when they do. Where the thread was interrupted
    between the program's clock and the probe beside it, the program knows no better."""
    rows = csv.DictReader(run(PERFKIT, "tail", "-q", "--csv", "--open", "--by", "span:packet",
                              "--over", "1ns", recorder.data).stdout.splitlines())
    spans = [int(r["duration_ns"]) for r in sorted(rows, key=lambda r: int(r["start_ns"]))]
    lines = [w for w in map(str.split, open(recorder.log)) if w[0] == "packet"]
    own = [int(w[3]) - int(w[2]) for w in sorted(lines, key=lambda w: int(w[2]))]
    if len(own) != len(spans):
        return f"{len(spans)} spans, {len(own)} packets"
    pairs = [(o if o - s <= PROBES_NS else s, s) for o, s in zip(own, spans)]
    rank = -(-len(own) * 999 // 1000) - 1
    theirs, mine = (sorted(x)[rank] for x in zip(*pairs))
    if sum(o - s > PROBES_NS for o, s in zip(own, spans)) * 50 > len(own):
        return "most packets were interrupted at the probes"
    return None if abs(mine - theirs) <= theirs // 100 + PROBES_NS else f"p99.9 {mine}, its own {theirs}"


def ask(recorder, options, planted, top, stacks):
    """What is named instead of the planted cause (None: nothing), and whether the machine lost the
    records that the answer rests on."""
    r = run(PERFKIT, "tail", "-q", "--json", *options, *asked(planted, top, recorder.log), recorder.data)
    if r.returncode == 3:
        why = r.stderr.strip().splitlines()[-1]
        return why, "cannot say" in why or "refused" in why
    if r.returncode:
        return f"exit {r.returncode}: {r.stderr.strip()}", False
    tail = json.loads(r.stdout)
    wrong = judge(tail, planted, stacks)
    if not wrong and planted in PROBED:
        wrong = p999_wrong(recorder)
    return wrong, suspects(tail)


class Score:
    def __init__(self):
        self.found = self.of = self.again = self.others = self.denied = 0
        self.misses = []


def times(log, kind):
    """What the program logged of a kind: [(start, end)]."""
    return [(int(w[2]), int(w[3])) for w in map(str.split, open(log)) if w[0] == kind]


def total(spans):
    return sum(end - start for start, end in spans)


def denied(planted, log):
    """Does the program's own log say that something else lasted longer than what was planted?"""
    if planted.startswith("feed"):  # the packets from p99.9 on: did they mostly wait for the lock?
        packets = sorted(times(log, "packet"), key=lambda p: p[1] - p[0])
        worst = packets[-(-len(packets) * 999 // 1000) - 1:]
        waits = times(log, "gap")
        held = [p for p in worst if 2 * total(w for w in waits if p[0] <= w[0] <= p[1]) > p[1] - p[0]]
        return 2 * total(held) <= total(worst)
    if planted.startswith("coldmap"):  # pages, or the run queue
        return total(times(log, "page")) <= total(times(log, "queued"))
    return False


def answer(recorder, variant, stacks, score):
    """Record, and again while the machine loses records to speak of, whatever the answer is, and
    where the CPU belonged to others. What is named instead of the planted cause (None: nothing),
    and whether the last recording, too, is no witness."""
    for left in reversed(range(TRIES)):
        code, err = recorder.record(stacks, variant[2].split())
        if code:
            return f"not recorded: {err.strip()[-70:]}", False
        wrong, lost = ask(recorder, [], variant[1], variant[3], stacks)
        other = bool(wrong and wrong.startswith(OTHER))
        no = denied(variant[1], recorder.log)
        if not (lost or other or no) or not left:
            return wrong, lost or no
        score.again += lost
        score.others += other and not lost
        score.denied += no and not other and not lost


def keep_recording(recorder, where, name):
    shutil.copy(recorder.data, os.path.join(where, name + ".data"))
    shutil.copy(recorder.log, os.path.join(where, name + ".log"))


def count(score, wrong, what):
    score.of += 1
    score.found += not wrong
    if wrong:
        score.misses.append(what + wrong)


def one_run(recorder, variant, stacks, score, keep, number):
    _, planted, words, top = variant
    wrong, _ = answer(recorder, variant, stacks, score)
    count(score, wrong, f"run {number}: ")
    bare = recorder.symbols(words.split()[0])
    bare_wrong, _ = ask(recorder, bare, planted, top, stacks)
    count(score, bare_wrong, f"run {number}, bare libc: ")
    if keep and (wrong or bare_wrong):
        keep_recording(recorder, keep, f"{stacks}-{words.replace(' ', '_')}-{number}")


def brief_run(recorder, variant, stacks, score):
    for _ in range(CHANCES):
        wrong, no_witness = answer(recorder, variant, stacks, score)
        if not wrong or no_witness:
            break
        print("       not at first:", wrong)
    if wrong and no_witness:
        print(f"left out: {variant[2]} ({stacks}): {TRIES} recordings are no witness: {wrong}")
    else:
        count(score, wrong, "")


def row_of(recorder, variant, stacks, a, number, score):
    program = variant[2].split()[0]
    if program in PROBED and recorder.probe(program):
        score.misses = ["no probes here"]
    elif a.brief:
        brief_run(recorder, variant, stacks, score)
    else:
        one_run(recorder, variant, stacks, score, a.keep, number)


def rounds(recorder, a, scores):
    """Round by round, so that an interrupted run has asked every variant equally often."""
    begun = time.monotonic()
    for number in range(1, a.n + 1):
        if number > 1 and not a.brief:
            left = (time.monotonic() - begun) / (number - 1) * (a.n - number + 1)
            print(f"round {number} of {a.n}, about {left / 60:.0f} minutes left", file=sys.stderr)
        for i, v in enumerate(VARIANTS):
            if a.pattern not in v[2] or (a.brief and i % 2):
                continue
            in_turn = (("fp", "dwarf")[(number + i // (1 + a.brief)) % 2],)
            for stacks in in_turn if a.brief or a.turns else ("fp", "dwarf"):
                row_of(recorder, v, stacks, a, number, scores.setdefault((i, stacks), Score()))


def table(scores):
    print(f"{'':2} {'program and options':32} {'stacks':6} {'found':>8} {'again':>5} {'others':>6} {'denied':>6}")
    for (i, stacks), score in sorted(scores.items(), key=lambda x: (x[0][0], x[0][1] == "dwarf")):
        print(f"{VARIANTS[i][0]:2} {VARIANTS[i][2]:32} {stacks:6} {score.found:4}/{score.of:<3} {score.again:5} "
              f"{score.others:6} {score.denied:6}")
        for m in score.misses:
            print("      ", m)
    found, of, again, others, no = (sum(getattr(s, k) for s in scores.values())
                                    for k in ("found", "of", "again", "others", "denied"))
    print(f"{found} of {of} found; recordings made again: {again} for lost scheduler records, "
          f"{others} where another process had the CPU longer, {no} where the program's log "
          "says that what was planted was not the longest")
    if not of:
        print("no recording here is a witness")
        return 77
    return found != of


def cannot_record(where):
    if not shutil.which("perf"):
        return "perf is not installed"
    r = run("perf", "record", "-q", "-a", "-e", "sched:sched_switch", "-o",
            os.path.join(where, "try.data"), "true")
    return r.stderr.strip().splitlines()[-1] if r.returncode else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-n", type=int, default=1)
    p.add_argument("--keep")
    p.add_argument("--turns", action="store_true")
    p.add_argument("--brief", action="store_true")
    p.add_argument("pattern", nargs="?", default="")
    a = p.parse_args()
    where = tempfile.mkdtemp(prefix="planted-")
    recorder = Recorder(where)
    if a.keep:
        os.makedirs(a.keep, exist_ok=True)
    why = cannot_record(where)
    if why:
        print("none can be recorded here:", why)
        return 77
    scores = {}
    for s in signal.SIGINT, signal.SIGTERM:
        signal.signal(s, signal.default_int_handler)
    try:
        rounds(recorder, a, scores)
    except KeyboardInterrupt:
        print("interrupted; so far:")
    run("perf", "probe", "-q", "-d", "perfkit_f:*")
    shutil.rmtree(where)
    return table(scores)


sys.exit(main())
