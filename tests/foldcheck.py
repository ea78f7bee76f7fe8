#!/usr/bin/env python3
"""foldcheck.py [--script SCRIPT.gz] WANT GOT: compare folded stacks; count the weight that
differs, by the classes of docs/differences.md; exit 1 when any of it belongs to none.

WANT is what perf script and stackcollapse-perf.pl say (.gz or not), GOT what perfkit says. Two
stacks that stand on one side only are paired when they have the same number of frames (or WANT
has none at all) and every frame that differs does so for a reason with a name. --script gives perf script's text, which
shows offsets: there a caller's return address at +0x0 of a function means that the call was the
last instruction of the one before (class noreturn)."""
import collections
import glob
import gzip
import os
import re
import sys


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    stacks = collections.OrderedDict()
    with opener(path, "rt", encoding="utf-8", errors="surrogateescape", newline="\n") as f:
        for line in f:
            stack, _, weight = line.rstrip("\n").rpartition(" ")
            stacks[stack] = stacks.get(stack, 0) + int(weight)
    return stacks


def zero_offset_callers(path):
    """Names of functions that a caller's return address is the first byte of; and, in square
    brackets, the DSOs that perf has names for."""
    names, leaf = set(), True
    with gzip.open(path, "rt", encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            if not line.startswith("\t"):
                leaf = True
                continue
            m = re.match(r"\s*[0-9a-f]+ .+\+0x[0-9a-f]+ \((?:.*/)?([^/]+)\)$", line)
            if m:
                names.add("[%s]" % m.group(1))
            m = re.match(r"\s*[0-9a-f]+ (.+)\+0x[0-9a-f]+ \((/.*/perf-\d+\.map|.*//anon)\)$", line)
            if m:
                jitted.add(m.group(1))
            m = re.match(r"\s*[0-9a-f]+ (.+)\+0x0 \(", line)
            if m and not leaf:
                names.add(m.group(1))
            leaf = False
    return names


def reused_addresses(directory):
    """Pairs of names whose code overlaps in a perf-PID.map: a JIT compiler used the place
    twice, and the map does not say when."""
    pairs = set()
    for path in glob.glob(directory + "/tmp/perf-*.map"):
        entries = []
        for line in open(path, errors="surrogateescape"):
            start, size, name = line.rstrip("\n").split(" ", 2)
            entries.append((int(start, 16), int(start, 16) + int(size, 16), name))
        for a in entries:
            pairs |= {(a[2], b[2]) for b in entries if a[0] < b[1] and b[0] < a[1]}
    return pairs


def frame_class(want, got, position, depth, after_noreturn, under_kernel):
    if position == 0:
        return "exited-task" if re.match(r"(:-1|swapper)(-|$)", want) else None
    strip = re.compile(r"_\[[kji]\]$")
    if (strip.sub("", want), strip.sub("", got)) in reused:
        return "jit-reused-address"
    bare = re.sub(r" <[0-9a-f]+>\]$", "]", strip.sub("", want))
    if position < depth - 1 and bare in after_noreturn:
        return "noreturn"
    if want == got + "_[k]" and got in ("[[vdso]]", "[[vsyscall]]"):
        return "vdso-kernel"
    if want == "[[vdso]]" and got.startswith("__vdso_"):
        return "vdso-name"
    if got.startswith(want + "::"):
        return "local-name"
    if want.startswith("[") and got == ".plt":
        return "plt-header"
    if (want == "@plt" or want.startswith("[")) and got.endswith("@plt"):
        return "plt-name"
    if want == "[unknown] " and re.match(r"\[.+ $", got):  # the caller cut "(deleted)]"
        return "dso-blank"
    if want.startswith("bpf_") and got.startswith("bpf_"):
        return "ksymbol-overlap"
    if got == "[unknown]" and want.startswith("[") and under_kernel:
        return "before-exec"
    bracket = re.compile(r" <[0-9a-f]+>\]$")
    if depth == 2 and bracket.sub("", want) == bracket.sub("", got):
        return "address-form"
    return None


def is_root(frame):
    return re.match(r"(_start|(__)?clone3?|start_thread|ret_from_fork\w*|runtime\.goexit(\.abi0)?)"
                    r"(@|$)", frame)


def end_class(w, g):
    """How the outer ends of two unwound stacks differ; what differs is taken away from both."""
    found = None
    beyond = len(w) > 1 and w[1] in ("[unknown]", "[unknown <ffffffffffffffff>]")
    if g[1:2] == ["[truncated]"]:
        del g[1]
        found = "truncated"
        if beyond and g[1:2] != w[1:2]:
            del w[1]
        if len(g) == len(w) + 1:
            del g[1]
            found = "last-word"
    elif beyond and len(w) == len(g) and len(g) > 1 and \
            (is_root(g[1]) or g[1].startswith("[")):
        del w[1], g[1]
        found = "last-word"
    if len(w) > 1 and len(g) > len(w) and (found == "truncated" or is_root(g[1])):
        found = "jit-callers" if re.match(r"\[perf-\d+\.map\]", w[1]) or w[1] in jitted \
            else "cut-short"
        del g[1:1 + len(g) - len(w)]
    elif len(w) == 2 and len(g) > 2 and not found:
        found = "leaf-alone"
        del g[1:-1]
        if w[1] == "[[vdso]]":  # perf 6.1 lacks its names, too
            del w[1], g[1]
    return found


def stack_class(want, got, after_noreturn):
    w, g = want.split(";"), got.split(";")
    if len(w) == 1 and g[0] == w[0]:
        return "corrupt-callchain"
    found = end_class(w, g)
    if found and w == g:
        return found
    seen = [f for f in g[1:] if not f.startswith("(")]
    cut = [re.sub(r"\((?!anonymous namespace\)).*", "", f) for f in seen]
    found = "anonymous-namespace" if len(seen) < len(g) - 1 else \
        "template-arguments" if cut != seen else found
    g[1:] = cut
    if len(w) != len(g):
        return None
    for i, (a, b) in enumerate(zip(w, g)):
        if a != b:
            kernel = i + 1 < len(w) and w[i + 1].startswith(("[vmlinux", "[[kernel"))
            found = frame_class(a, b, i, len(w), after_noreturn, kernel)
            if not found:
                return None
    return found


def lost_step_class(want, got):
    """A caller that libunwind passes over; or it takes a wrong one, and never comes to a root."""
    w, g = want.split(";"), got.split(";")
    if w[0] != g[0] or w[-1] != g[-1] or not (is_root(g[1]) or g[1] == "[truncated]"):
        return None
    jit = re.match(r"\[perf-\d+\.map\]", w[1]) or w[1] in jitted
    if jit and len(w) > 2 and g[-len(w):-2] == w[1:-1]:
        return "skipped-caller"
    if is_root(w[1]) and len(g) == len(w) + 1 and \
            any(g[:i] + g[i + 1:] == w for i in range(2, len(g) - 1)):
        return "skipped-caller"
    if len(g) > len(w) > 2 and not jit and not is_root(w[1]) and g[1] != "[truncated]":
        return "wrong-caller"
    if len(w) == 3 and len(g) > 3 and not jit:
        return "wrong-caller"
    return None


reused, jitted = set(), set()


def main():
    args = sys.argv[1:]
    if os.path.isdir("symfs/tmp"):
        reused.update(reused_addresses("symfs"))
    after_noreturn = set()
    if args and args[0] == "--script":
        after_noreturn = zero_offset_callers(args[1])
        args = args[2:]
    want, got = read(args[0]), read(args[1])
    total = sum(want.values())
    rest = {s: n - got.get(s, 0) for s, n in want.items() if n != got.get(s, 0)}
    rest.update({s: -n for s, n in got.items() if s not in want})
    classes = collections.Counter()
    for classify in (lambda w, g: stack_class(w, g, after_noreturn), lost_step_class):
        for w in [s for s, n in rest.items() if n > 0]:
            for g in [s for s, n in rest.items() if n < 0]:
                found = classify(w, g)
                n = min(rest[w], -rest[g])
                if found and n > 0:
                    classes[found] += n
                    rest[w] -= n
                    rest[g] += n
    left = {s: n for s, n in rest.items() if n}
    if classes["wrong-caller"] * 10 > total:  # it would explain nearly anything
        left["(wrong-caller, above a tenth of all)"] = classes["wrong-caller"]
    for name, n in sorted(classes.items()):
        print("%s: %d of %d (%.3f %%)" % (name, n, total, 100.0 * n / max(total, 1)))
    if left:
        missing = sum(n for n in left.values() if n > 0)
        extra = -sum(n for n in left.values() if n < 0)
        print("unclassified: %d missing, %d extra of %d" % (missing, extra, total))
        for s, n in sorted(left.items(), key=lambda x: -abs(x[1]))[:6]:
            # stacks differ at their leaves more often than at their roots
            print("  %s %s %d" % ("-" if n > 0 else "+", s if len(s) < 360 else "..." + s[-360:], abs(n)))
        return 1
    if list(want) != list(got) and not classes:
        print("same stacks, another order")
        return 1
    return 0


sys.exit(main())
