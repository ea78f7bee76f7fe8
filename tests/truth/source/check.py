"""check.py BUILD SRC [WORD] - are the lines of `perfkit source` those of other readers of DWARF?

Builds a program with the compilers that are installed, at each level of optimization, and asks for
10,000 random addresses of its functions: files and lines of all inlined frames against addr2line -i
of binutils, and where the two differ, of LLVM. Records it, and compares the functions' sums with
report --by function and the instructions with objdump's; of another machine's programs, which cannot be
recorded, the instructions of all functions. WORD: only variants with it in their name.
"""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SRC = (os.path.abspath(x) for x in sys.argv[1:3])
WORD = sys.argv[3] if len(sys.argv) > 3 else ""
PERFKIT, FRAMES_AT, CODE_AT = BUILD + "/perfkit", BUILD + "/tests/prog/frames_at", BUILD + "/tests/prog/code_at"
HERE = SRC + "/tests/truth/source"
ADDRESSES = 10000
ARM64 = "aarch64-linux-gnu-"
bad = 0


def run(*args, text=None, **more):
    return subprocess.run(args, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, **more).stdout


def variants():
    """Name, commands that make ./prog."""
    cc = SRC + "/testdata/inlined/inlined.cc"
    for family in "g++", "clang++":
        compiler = next((c for c in (family, *(family + "-%d" % n for n in range(30, 10, -1))) if shutil.which(c)), None)
        if not compiler:
            print("left out: %s is not installed" % family)
            continue
        for o in "-O0", "-O1", "-O2", "-O3":
            yield compiler + " " + o, [[compiler, "-g", o, "-o", "prog", cc]]
        for name, flags in (("-gdwarf-4", ["-gdwarf-4"]), ("LTO", ["-flto"]), ("split", ["-gsplit-dwarf"])):
            yield compiler + " -O2 " + name, [[compiler, "-g", "-O2", *flags, "-o", "prog", cc]]
        if shutil.which("dwz"):
            yield compiler + " -O2 dwz", [[compiler, "-g", "-gdwarf-4", "-O2", "-o", "prog", cc], ["dwz", "prog"]]
    if shutil.which("rustc"):
        for o in "0", "1", "2", "3":
            yield "rustc -O" + o, [["rustc", "-g", "-Copt-level=" + o, "-o", "prog", HERE + "/main.rs"]]
        yield "rustc -O2 LTO", [["rustc", "-g", "-Copt-level=2", "-Clto=fat", "-o", "prog", HERE + "/main.rs"]]
    if shutil.which("go"):
        yield "go", [["go", "build", "-ldflags=-compressdwarf=false", "-o", "prog", HERE + "/main.go"]]
        yield "go -N -l", [["go", "build", "-gcflags=all=-N -l", "-o", "prog", HERE + "/main.go"]]


    cc, c = ARM64 + "gcc", SRC + "/testdata/orders/orders.c"
    if not shutil.which(cc):
        print("left out: %s is not installed" % cc)
        return
    for name in "-O0", "-O1", "-O2", "-O3", "-O2 -gdwarf-4", "-O2 -flto", "-O2 -gsplit-dwarf", "-O2 -static":
        yield cc + " " + name, [[cc, "-g", *name.split(), "-pthread", "-o", "prog", c]]
    if shutil.which("dwz"):
        yield cc + " -O2 dwz", [[cc, "-g", "-gdwarf-4", "-O2", "-pthread", "-o", "prog", c], ["dwz", "prog"]]


def functions():
    spans = []
    for line in run("nm", "-S", "--defined-only", "prog").splitlines():
        f = line.split()
        if len(f) >= 4 and f[2] in "tTwW" and int(f[1], 16):
            spans.append((int(f[0], 16), int(f[1], 16)))
    return sorted(spans)


def addresses():
    spans, rng = functions(), random.Random(1)
    return [a + rng.randrange(n) for a, n in rng.choices(spans, [n for _, n in spans], k=ADDRESSES)]


def place(text):
    """A file's path without . and .., and its line."""
    text = re.sub(r" \(discriminator \d+\)$", "", text)
    file, line = text.rsplit(":", 1)
    line = line if line.isdigit() else "0"
    return ("??", "0") if file == "??" or line == "0" else (os.path.normpath(file), line)


def by_addr2line(tool, at):
    out, frames = run(tool, "-a", "-i", "-e", "prog", text="\n".join(map(hex, at)) + "\n"), []
    for line in out.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+:?", line):
            frames.append([])
        elif line:
            frames[-1].append(place(line))
    return frames


def by_perfkit(at):
    out = run(FRAMES_AT, "prog", text="\n".join(map(hex, at)) + "\n")
    return [[place(x) for x in block.splitlines()[1::2]] for block in out.split("\n\n") if block.strip()]


def compare_lines(at):
    """Equal to binutils; of the others, equal to LLVM; equal to neither, with an example."""
    ours, gnu = by_perfkit(at), by_addr2line("addr2line", at)
    assert len(ours) == len(gnu) == len(at), (len(ours), len(gnu))
    llvm = by_addr2line("llvm-addr2line", at) if shutil.which("llvm-addr2line") else gnu
    same = [i for i in range(len(at)) if ours[i] == gnu[i]]
    other = [i for i in range(len(at)) if ours[i] != gnu[i]]
    neither = [i for i in other if ours[i] != llvm[i]]
    example = "" if not neither else "0x%x: ours %s, binutils %s, LLVM %s" % (
        at[neither[0]], ours[neither[0]], gnu[neither[0]], llvm[neither[0]])
    return len(same), len(other) - len(neither), len(neither), example


def boundaries(tools=""):
    out = run(tools + "objdump", "-d", "-w", "--no-show-raw-insn", "prog")
    return sorted(int(a, 16) for a in re.findall(r"^ +([0-9a-f]+):\t", out, re.M))


def compare_functions():
    """Functions whose sums and whose instructions are as they should be, of how many."""
    run("perf", "record", "-q", "-N", "-g", "-e", "cpu-clock:u", "-F", "997", "-o", "perf.data", "./prog")
    ask = lambda *args: json.loads(run(PERFKIT, *args, "perf.data"))
    rows = ask("report", "-q", "--json", "--by", "function", "--top", "0")["rows"]
    want = {(r["function"], r["module"]): (r["self_ns"], r["total_ns"]) for r in rows}
    all_of = ask("source", "-q", "--json", "--rows", "0")["functions"]
    sums = sum(want.get((f["name"], f["module"])) == (f["self"], f["total"]) for f in all_of)
    assert len(want) == len(all_of)
    theirs, shown, right = boundaries(), 0, 0
    for f in [f for f in all_of if f["module"] == "prog" and not f["name"].startswith("[")][:12]:
        code = ask("source", "-q", "--json", "--asm", f["name"])["shown"].get("instructions")
        if not code:
            continue
        at = [int(i["address"]) for i in code]
        shown += 1
        right += at == [a for a in theirs if at[0] <= a <= at[-1]]
    return sums, len(all_of), right, shown


def compare_code():
    """Functions of another machine's program whose instructions are objdump's, of all."""
    theirs, right, spans = set(boundaries(ARM64)), 0, functions()
    for at, n in spans:
        ours = {int(x, 16) for x in run(CODE_AT, "prog", text="%x %x\n" % (at, at + n)).split()}
        right += ours == {a for a in theirs if at <= a < at + n}
    return right, len(spans)


print("| program | as binutils | as LLVM | as neither | sums | instructions |\n|---|---|---|---|---|---|")
for name, commands in variants():
    if WORD not in name:
        continue
    with tempfile.TemporaryDirectory() as dir:
        os.chdir(dir)
        for c in commands:
            run(*c)
        same, llvm, neither, example = compare_lines(addresses())
        sums, of = "\u2013", 0
        if name.startswith(ARM64):
            right, shown = compare_code()
        else:
            sums, of, right, shown = compare_functions()
            bad += sums < of
            sums = "%d of %d" % (sums, of)
        bad += neither > 0 or right < shown or not shown
        print("| %s | %d | %d | %d | %s | %d of %d |" % (name, same, llvm, neither, sums, right, shown), flush=True)
        if example:
            print(example, file=sys.stderr)
        os.chdir("/")
sys.exit(bad > 0)
