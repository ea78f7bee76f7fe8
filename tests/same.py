#!/usr/bin/env python3
"""same.py PERFKIT SRC [--tenth SEED] [NAME]: one recording, one answer. Each recording is asked
from the file, from standard input, as a bundle and as a store, and from the file by WebAssembly in
node where `make npm` has built that; every answer (status, stdout and stderr) is the file's, but for
the input's name and, in node, instructions. What is asked, and of which of the four, is the table in
tests/same.md; a form that is not marked "yes" refuses with status 2, or 3 where it depends on the
recording.

The recordings: all of testdata (of bundles what is in them), those of $PERFKIT_CORPUS (FILE.zst,
in any folder; several are separated by colons), and 200 damaged ones, which tests/mutate.py makes
of testdata. --tenth asks half of it of a tenth of them, chosen by SEED. One line for each difference, the
count at the end."""
import concurrent.futures
import glob
import gzip
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutate

MUTANTS = 200
ENV = {k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}
ENV["LC_ALL"] = "C"
FORMS = ["file", "standard input", "bundle", "store"]


def questions(src):
    """[(words, forms that answer)] of the table in tests/same.md."""
    out, inside = [], False
    for line in open(src + "/tests/same.md"):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if cells[1:] == FORMS:
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and cells[0].startswith("`"):
            out.append((shlex.split(cells[0].strip("`")),
                        {f for f, c in zip(FORMS, cells[1:]) if c == "yes"}))
    assert len(out) >= 10, "no table of questions in tests/same.md"
    return out


class Recording:
    """`path` is a file or directory, or None: data() gives the bytes."""

    def __init__(self, name, data=None, path=None, symfs=None, kallsyms=None):
        self.name, self.data, self.path = name, data, path
        self.names = ["--no-local", "--buildid-dir", ""]
        if symfs:
            self.names += ["--symfs", symfs]
        if kallsyms:
            self.names += ["--kallsyms", kallsyms]

    def put(self, to):
        if self.path and os.path.isdir(self.path):
            shutil.copytree(self.path, to)
        else:
            with open(to, "wb") as f:
                f.write(self.data())


class Bundled(Recording):
    """What a bundle holds: the recording, and symbols in a folder beside it."""

    def put(self, to):
        folder = os.path.dirname(os.path.dirname(to)) + "/unpacked"
        for part in "/symfs", "/debug":
            os.makedirs(folder + part)
        with subprocess.Popen(["zstd", "-dqc", self.path], stdout=subprocess.PIPE) as zstd:
            subprocess.run(["tar", "xf", "-", "-C", folder], stdin=zstd.stdout, check=True)
        os.rename(folder + "/perf.data", to)
        self.names = ["--no-local", "--symfs", folder + "/symfs", "--buildid-dir",
                      folder + "/debug"]


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        return f.read()


def unzstd(path):
    return subprocess.run(["zstd", "-dqc", path], stdout=subprocess.PIPE, check=True).stdout


def args_of(folder):
    """--symfs and --kallsyms as the fixture's witness was given them."""
    opts, words = {}, []
    if os.path.exists(folder + "/args"):
        words = open(folder + "/args").read().split()
    for k, v in zip(words[::2], words[1::2]):
        opts[k[2:]] = os.path.normpath(folder + "/" + v)
    return opts


def bundled(src):
    for path in sorted(glob.glob(src + "/testdata/**", recursive=True)):
        name = os.path.relpath(path, src + "/testdata")
        if re.search(r"\.(data(\.gz)?|dir)$", path):
            yield Recording(name, lambda path=path: read(path), path,
                            **args_of(os.path.dirname(path)))
        elif path.endswith(".tar.zst"):
            yield Bundled(name, path=path)


def strangers(corpus):
    for path in sorted(glob.glob(corpus + "/**/*.zst", recursive=True)):
        yield Recording(os.path.relpath(path, corpus), lambda path=path: unzstd(path))


# Counters read in groups: a sample stands for the difference to the reading before. Where a damaged
# time changes the order, a file's order and a store's make other differences of the same readings.
GROUPS = {"doctor/no-inherit.data.gz"}


def damaged(src):
    models = [r for r in bundled(src) if r.data and os.path.isfile(r.path) and
              os.path.getsize(r.path) < 1 << 20]
    for seed in range(MUTANTS):
        model = models[seed % len(models)]
        if model.name in GROUPS:
            continue
        r = Recording("mutant %d of %s" % (seed, model.name),
                      lambda m=model, s=seed: mutate.mutate(m.data(), s))
        r.names = model.names
        yield r


class Asking:
    """One recording in its four forms, each called stdin in a folder of its own."""

    def __init__(self, recording, cwd, perfkit, asked):
        self.recording, self.cwd, self.perfkit, self.asked = recording, cwd, perfkit, asked
        package = os.path.dirname(perfkit) + "/npm/package/perfkit-cli.js"
        self.node = ["node", package] if shutil.which("node") and os.path.exists(package) else None
        self.differing, self.count, self.node_runs, self.skipped = [], 0, 0, ""

    def run(self, folder, args, stdin=False, program=None):
        feed = open(self.cwd + "/" + folder + "/stdin", "rb") if stdin else None
        try:  # through a pipe: what is redirected from a file is a file
            cat = stdin and subprocess.Popen(["cat"], stdin=feed, stdout=subprocess.PIPE)
            p = subprocess.run((program or [self.perfkit]) + args, cwd=self.cwd + "/" + folder, env=ENV,
                               stdin=cat.stdout if stdin else subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
            if stdin:
                cat.stdout.close()
                cat.wait()
        finally:
            if feed:
                feed.close()
        self.count += 1
        return p.returncode, self.named(p.stdout, stdin), self.named(p.stderr, stdin)

    @staticmethod
    def named(text, stdin):
        """The input's name is not compared, nor what the recording cost, whose bytes a store does not know;
        binary files have none."""
        text = re.sub(rb"^  cost    .*\n(?: {10}.*\n)*", b"", text, flags=re.M)
        if stdin and b"\0" not in text:
            text = re.sub(rb"(^|: |[ (])-(?=[:,])|(doctor |; |: )-(?=[ \n])|(\"file\":\")-(?=\")",
                          rb"\1\2\3stdin", text, flags=re.M)
        return text

    def make(self):
        for folder in "file", "bundle", "store", "addresses":
            os.mkdir(self.cwd + "/" + folder)
        self.recording.put(self.cwd + "/file/stdin")
        names = self.recording.names
        self.made = {"file": True,
                     "standard input": os.path.isfile(self.cwd + "/file/stdin")}
        # of a stream late records are moved, of a file they are sorted
        if b"came too late" in self.run("file", ["doctor"] + self.recording.names + ["stdin"])[1]:
            self.made["standard input"] = False
        self.write_spans()
        self.run("file", ["import", "-q", "-f", "--addrs"] + names + ["stdin", "-o", "../addresses/stdin"])
        for form, args in (("bundle", ["pack", "-q"]), ("store", ["import", "-q", "-f"])):
            got = self.run("file", args + names + ["stdin", "-o", "../%s/stdin" % form])
            self.made[form] = got[0] == 0
            if got[0] == 0 or got == self.run("file", args + names + ["stdin", "-o", "/dev/null"]):
                continue
            self.refusal(form, got)

    def write_spans(self):
        """spans.csv, for --with: the longest waits and a little more, with their threads and
        without."""
        rc, text, _ = self.run("file", ["tail", "-q", "--force", "--json", "--top", "20"] +
                               self.recording.names + ["stdin"])
        try:
            got = json.loads(text) if rc == 0 else {}
        except ValueError:  # a name that is no UTF-8
            got = {}
        origin = int(got.get("recording", {}).get("origin_ns") or 0)
        rows = ["start_ns,end_ns,tid,key,route"]
        for i, e in enumerate(got.get("episodes", [])):
            rows.append("%d,%d,%s,key %d,%s" % (
                origin + e["start_ns"] - 1000, origin + e["end_ns"] + 100000,
                e["tid"] if i % 3 else "", i, "/a" if i % 2 else "/b"))
        for folder in "file", "bundle", "store":
            with open("%s/%s/spans.csv" % (self.cwd, folder), "w") as f:
                f.write("\n".join(rows + ["5,7,1,short,/c"]) + "\n")

    def refusal(self, form, got):
        """What cannot be packed or imported cannot be read either."""
        was = self.run("file", ["report"] + self.recording.names + ["stdin"])
        if was[0] == 0:
            self.complain(form, ["made"], "status %d: %s" % (
                got[0], got[2].decode(errors="replace").strip()[:300]))

    def complain(self, form, words, why):
        self.differing.append("%s: %s: %s: %s" % (self.recording.name, form, " ".join(words), why))

    def ask(self, words, form):
        if form == "store":
            return self.run("addresses" if "--addrs" in words else "store", words + ["stdin"])
        folder = "bundle" if form == "bundle" else "file"
        args = words[:1] + self.recording.names + words[1:]
        stdin = form == "standard input"
        return self.run(folder, args + ["-" if stdin else "stdin"], stdin,
                        self.node if form == "node" else None)

    def all(self, questions):
        self.make()
        for words, answers in questions:
            if not self.asked(self.recording.name + " ".join(words)):
                continue
            was = self.ask(words, "file")
            if self.node and "--asm" not in words:
                here, there = but_instructions(was), but_instructions(self.ask(words, "node"))
                self.node_runs += 1
                if here != there:
                    self.complain("node", words, first_difference(here, there))
            for form in FORMS[1:]:
                if not self.made[form]:
                    continue
                now = self.ask(words, form)
                if form not in answers:
                    if now[0] not in (2, 3) or now[1] or not now[2]:
                        self.complain(form, words, "not refused: status %d" % now[0])
                elif now != was:
                    self.complain(form, words, first_difference(was, now))


def but_instructions(answer):
    """Without the lines of a page that differ where there is no Capstone, as in WebAssembly."""
    return answer[0], re.sub(rb'(?m)^<script [^>]*id="(columns|source-data)">.*', b"", answer[1]), answer[2]


def first_difference(was, now):
    if was[0] != now[0]:
        return "status %d, was %d: %s | %s" % (
            now[0], was[0], now[2].decode(errors="replace").strip()[:300],
            was[2].decode(errors="replace").strip()[:300])
    for a, b, what in ((was[1], now[1], ""), (was[2], now[2], "stderr ")):
        la, lb = a.split(b"\n"), b.split(b"\n")
        for i in range(max(len(la), len(lb))):
            x, y = (l[i] if i < len(l) else b"(end)" for l in (la, lb))
            if x != y:
                return "%sline %d of %d and %d\n    - %s\n    + %s" % (
                    what, i + 1, len(la), len(lb), x.decode(errors="replace")[:240],
                    y.decode(errors="replace")[:240])
    return "?"


def through(recording, perfkit, asked, questions):
    with tempfile.TemporaryDirectory(prefix="same") as cwd:
        a = Asking(recording, cwd, perfkit, asked)
        a.all(questions)
        return a


def main():
    args = sys.argv[1:]
    perfkit, src = os.path.abspath(args[0]), os.path.abspath(args[1])
    tenth = args[3] if args[2:3] == ["--tenth"] else None
    only = args[4:] if tenth else args[2:]
    recordings = list(bundled(src)) + list(damaged(src))
    for corpus in filter(None, os.environ.get("PERFKIT_CORPUS", "").split(":")):
        recordings += strangers(os.path.abspath(corpus))
    recordings = [r for r in recordings if all(w in r.name for w in only)]

    def asked(what):
        return tenth is None or random.Random(tenth + what).random() < 0.5

    if tenth:
        recordings = [r for r in recordings if random.Random(tenth + r.name).random() < 0.1]
        print("seed %s: %d recordings" % (tenth, len(recordings)))
    runs = differing = in_node = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        todo = questions(src)
        for a in pool.map(lambda r: through(r, perfkit, asked, todo), recordings):
            runs += a.count
            in_node += a.node_runs
            differing += len(a.differing)
            for line in a.differing:
                print(line, flush=True)
    print("%d recordings, %d runs, %d of them in node, differing: %d" % (len(recordings), runs, in_node, differing))
    return 1 if differing or not recordings else 0


if __name__ == "__main__":
    sys.exit(main())
