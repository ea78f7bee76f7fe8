#!/usr/bin/env python3
"""corpus_verbs.py CORPUS PERFKIT [NAME]: every recording of CORPUS (FILE.zst, in any folder)
through every verb, from the file, a pipe, its bundle, the unpacked bundle and its store. A run
ends by itself with status 0 to 3, within BOUND seconds of processor time, without a word of a
sanitizer; a bundle and a store answer as the recording does. Meant for a build of `make asan`:

    PERFKIT_CORPUS=DIR make asan T=corpus_verbs

One line for each run that does not, the count of runs by status at the end."""
import collections
import concurrent.futures
import glob
import os
import resource
import signal
import subprocess
import sys
import tempfile

corpus, perfkit = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
only = sys.argv[3] if len(sys.argv) > 3 else ""
BOUND = 30  # seconds of processor time; by the clock three times as long, for busy machines
SANITIZER = (b"AddressSanitizer", b"LeakSanitizer", b"runtime error:", b"ThreadSanitizer")
ENV = dict(os.environ, ASAN_OPTIONS="exitcode=99:detect_leaks=1", UBSAN_OPTIONS="exitcode=99",
           LC_ALL="C")

# What is asked of each form of a recording. Those of SAME give one answer for all forms.
SAME = [
    ["collapse"],
    ["collapse", "--all-events", "--weight", "samples", "--all"],
    ["collapse", "--offcpu"],
    ["collapse", "--offwake", "--force"],
    ["collapse", "--tail", "--p50"],
    ["svg"],
    ["svg", "--offcpu", "--force"],
    ["svg", "--wall"],
    ["svg", "--chain", "--no-script"],
    ["tail", "--p50", "--rows", "5"],
    ["tail", "--by", "activation", "--p50", "--json"],
    ["timeline"],
    ["doctor"],
    ["doctor", "--json", "--for", "tail", "--for", "cpu"],
    ["export", "--to", "pprof"],
    ["export", "--to", "pprof", "--wall"],
    ["export", "--to", "speedscope"],
    ["export", "--to", "speedscope", "--by-time"],
    ["export", "--to", "perfetto"],
]
REPORT = ["report"]
# Options that need the recording itself.
RECORDING = [
    ["collapse", "--srcline", "--simplify"],
    ["svg", "--split", "cgroup"],
    ["collapse", "--all-events", "--addrs"],
    ["export", "--to", "pprof", "--srcline"],
    ["export", "--to", "pprof", "--offcpu", "--cgroup", "--force"],
    ["svg", "--flamechart", "--max-stack", "3"],
    ["report", "--stats"],
]


class Runs:
    """The runs of one recording, in a folder of its own."""

    def __init__(self, name, cwd):
        self.name, self.cwd = name, cwd
        self.statuses, self.complaints = collections.Counter(), []

    def complain(self, args, why):
        self.complaints.append("%s: %s: %s" % (self.name, " ".join(args), why))

    def run(self, args, stdin=subprocess.DEVNULL):
        """Status and what it printed; a status outside 0 to 3 is told."""
        def bounded():
            resource.setrlimit(resource.RLIMIT_CPU, (BOUND, BOUND + 5))
        p = subprocess.Popen([perfkit] + args, cwd=self.cwd, stdin=stdin, env=ENV,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             preexec_fn=bounded)
        try:
            out, err = p.communicate(timeout=3 * BOUND)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
            self.complain(args, "did not end within %d s" % (3 * BOUND))
            return None, out
        self.statuses[p.returncode] += 1
        said = [w for w in SANITIZER if w in err]
        if said or p.returncode not in (0, 1, 2, 3):
            status = p.returncode if p.returncode >= 0 else signal.Signals(-p.returncode).name
            self.complain(args, "status %s\n    %s" % (
                status, err.decode(errors="replace")[:2000].replace("\n", "\n    ")))
        elif p.returncode == 2 and b"is folded text" not in err:
            self.complain(args, "usage: " + err.decode(errors="replace").strip())
        elif p.returncode and not err and args[0] != "doctor":
            self.complain(args, "status %d without a word" % p.returncode)
        return p.returncode, out

    def answers(self, form, local):
        self.run(REPORT + local + [form])
        return [self.run(args[:1] + local + args[1:] + [form]) for args in SAME]

    def all(self):
        first = self.answers("perf.data", LOCAL)
        for args in RECORDING:
            self.run(args[:1] + LOCAL + args[1:] + ["perf.data"])
        self.run(["collapse", "perf.data"])  # with whatever lies on this machine
        for args in SAME[0], SAME[9], REPORT:
            with open(self.cwd + "/perf.data", "rb") as f:
                self.run(args[:1] + LOCAL + args[1:] + ["-"], stdin=f)
        if self.run(["pack", "-q", "--no-local", "perf.data", "-o", "b/perf.data"])[0] == 0:
            self.same(first, "b", LOCAL)
            self.run(["unpack", "-q", "b/perf.data", "-C", "u/perf.data"])
            self.same(first, "u", LOCAL)
        if self.run(["import", "-q"] + LOCAL + ["perf.data", "-o", "s/perf.data"])[0] in (0, 3):
            self.same(first, "s", [])

    def same(self, first, folder, local):
        """The form in FOLDER says what the recording says."""
        self.cwd, back = self.cwd + "/" + folder, self.cwd
        for args, was, now in zip(SAME, first, self.answers("perf.data", local)):
            if was != now:
                self.complain([folder] + args, "another answer (status %s, was %s)" %
                              (now[0], was[0]))
        self.cwd = back


LOCAL = ["--no-local", "--buildid-dir", ""]


def through(path):
    name = path[len(corpus) + 1:-len(".zst")]
    with tempfile.TemporaryDirectory() as cwd:
        for folder in "b", "s", "u":
            os.mkdir(cwd + "/" + folder)
        with open(cwd + "/perf.data", "wb") as f:
            subprocess.run(["zstd", "-dqc", path], stdout=f, check=True)
        runs = Runs(name, cwd)
        runs.all()
        return runs


def main():
    paths = [p for p in sorted(glob.glob(corpus + "/**/*.zst", recursive=True)) if only in p]
    statuses, wrong = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for runs in pool.map(through, paths):
            statuses.update(runs.statuses)
            wrong += len(runs.complaints)
            for line in runs.complaints:
                print(line, flush=True)
    print("%d recordings, %d runs, %d wrong; statuses: %s" % (
        len(paths), sum(statuses.values()), wrong,
        ", ".join("%s: %d" % (s, n) for s, n in sorted(statuses.items()))))
    return 1 if wrong or not paths else 0


sys.exit(main())
