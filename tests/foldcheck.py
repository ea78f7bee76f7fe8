#!/usr/bin/env python3
"""foldcheck.py [options] WANT GOT: compare folded stacks, count the weight that differs by the
classes of tests/differences.md, and exit 1 when any of it belongs to no class or a class exceeds
its share.

WANT is what perf script and stackcollapse-perf.pl print (.gz or not), GOT what perfkit prints.

  --script SCRIPT.gz  perf script's text with offsets: shows return addresses that are the first
                      byte of a function (noreturn) and which files perf has names for
  --elf FILE          take the symbols of FILE (repeatable); --elf-of-script takes those of all
                      files that the script names and this machine has
  --inline            GOT is from `collapse --inline`: _[i] marks inlined functions, and WANT is
                      perf script's default output
  --callchains        the stacks are recorded callchains: perf shows no inlined functions
  --count COUNTED     GOT with --weight samples: perf's weights where samples carry no time
  --lbr SCRIPT.gz     perf script -G -F ip,sym,dso,brstacksym of LBR call stacks
  --allow PERCENT     of the weight may stay unclassified (0)
  --classes           list the classes

A stack that only WANT has is paired with one that only GOT has when every step from perfkit's
line to perf's has a name: frames removed at an end, frames dropped, frames renamed."""
import argparse
import collections
import glob
import gzip
import os
import re
import subprocess
import sys

# Classes whose line follows from perfkit's; and those whose line does not, with the share of all
# weight, in percent, that they may explain.
COMPUTED = """noreturn past-start truncated last-word cut-short leaf-alone leaf-dropped no-mapping
    skipped-caller max-stack vdso-name vdso-kernel local-name jit-callers plt-header plt-name
    dso-blank address-form template-arguments anonymous-namespace short-comm no-time
    data-symbol own-name first-query go-inlined chain-inlined lbr-leaf before-exec
    exited-task return-type jit-reused-address""".split()
CAPPED = {"wrong-caller": 1, "corrupt-callchain": 1, "ksymbol-overlap": 1, "lbr-empty": 1}

PERF_MAX_STACK = 127  # frames that perf script prints
VERSION = re.compile(r"@@?[A-Z][\w.]*$")
CLONE = re.compile(r"(\.(constprop|isra|part|cold|lto_priv|llvm|localalias)(\.\d+)*)+$")
SEVERAL = re.compile(r"\[perf-\d+\.map( <[0-9a-f]+>)?\]$")  # lines of several names
MARK = re.compile(r"_\[[kjiw]\]$")


def opened(path):
    opener = gzip.open if path.endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8", errors="surrogateescape", newline="\n")


def read(path):
    """Folded text → {stack: weight} in its order."""
    stacks = collections.OrderedDict()
    with opened(path) as f:
        for line in f:
            stack, _, weight = line.rstrip("\n").rpartition(" ")
            stacks[stack] = stacks.get(stack, 0) + int(weight)
    return stacks


def without_marks(marked):
    """{stack with _[i]: weight} → ({stack: weight}, {stack: which of its frames are inlined})."""
    stacks, inlined = collections.OrderedDict(), {}
    for stack, weight in marked.items():
        frames = stack.split(";")
        plain = ";".join(re.sub(r"_\[i\]$", "", f) for f in frames)
        stacks[plain] = stacks.get(plain, 0) + weight
        inlined[plain] = [f.endswith("_[i]") for f in frames]
    return stacks, inlined


def cut(name):
    """The script's cut at the first bracket (unless the name looks like Go's)."""
    if re.search(r"\.\(.*\)\.", name):
        return name
    return re.sub(r"\((?!anonymous namespace\)).*", "", name)


def without_return_type(name):
    """A name as __cxa_demangle writes it begins with the return type where the function is made
    from a template: all up to the last blank outside of brackets. The script may have cut the
    name inside of some."""
    depth, start = 0, 0
    for i, c in enumerate(name):
        if name.startswith("operator", i) and not depth:
            break
        depth += (c in "<([") - (c in ">)]")
        if c == " " and not depth:
            start = i + 1
    return name[start:]


def unqualified(name):
    """The last part of a name, without template arguments, version and mark of a clone; of an
    operator() what the script leaves of it."""
    name = VERSION.sub("", CLONE.sub("", name))
    head, operator, rest = re.match(r"(.*?)(\boperator\b|$)(.*)", name, re.S).groups()
    if operator:
        return operator + re.match(r"(?:\(\)|\[\]|[<>=!+*/%&|^~,-]+|\s*\w+)?", rest).group(0) \
            .replace("()", "")
    previous = None
    while previous != head:
        previous, head = head, re.sub(r"<[^<>]*>", "", head)
    return head.split("::")[-1].split("<")[0]


class Symbols:
    """What nm says of some files: which names share an address, which are data, which Go's."""

    def __init__(self):
        self.places, self.data, self.go = {}, {}, set()

    def add(self, path, name=None):
        text = ""
        for options in ("-C", "-CD"):
            text += subprocess.run(["nm", options, path], capture_output=True, text=True,
                                   errors="surrogateescape").stdout
        is_go = re.search(r" T runtime\.goexit(\.abi0)?$", text, re.M)
        for line in text.splitlines():
            m = re.match(r"([0-9a-f]+) (\w) (.+)$", line)
            if not m:
                continue
            symbol = cut(m.group(3))
            for s in {symbol, VERSION.sub("", symbol)}:
                self.places.setdefault(s, set()).add((name or path, m.group(1)))
            if m.group(2) in "bBdDrRvV":
                self.data.setdefault(symbol, set()).add(os.path.basename(name or path))
            if is_go and m.group(2) in "tT":
                self.go.add(symbol)

    def add_with_debug_file(self, path):
        self.add(path)
        notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
        m = re.search(r"Build ID: (..)([0-9a-f]+)", notes)
        for debug in glob.glob("/usr/lib/debug/.build-id/%s/%s.debug" % m.groups()) if m else []:
            self.add(debug, path)

    def aliases(self, a, b):
        def at(name):
            return self.places.get(name) or self.places.get(VERSION.sub("", name), set())
        return bool(at(a) & at(b))


class Recording:
    """What is known besides the two folded outputs."""

    def __init__(self):
        self.after_noreturn = set()  # functions whose first byte is a return address; [DSO]s
        self.jitted = set()          # names from perf-PID.map
        self.symbols = Symbols()
        self.dsos = set()
        self.kernel = set()          # names of kernel functions
        self.inlined = {}            # GOT's stack → flags of its frames
        self.no_inlined = False      # perf shows none in the whole recording
        self.lbr = set()             # (sampled function, target of the last call)

    def read_script(self, path):
        leaf = True
        for line in opened(path):
            if not line.startswith("\t"):
                leaf = True
                continue
            m = re.match(r"\s*[0-9a-f]+ (.+) \((.*)\)$", line)
            if m and m.group(2).startswith("/"):
                self.dsos.add(m.group(2))
            elif m and re.match(r"\[(?!vdso|vsyscall|unknown|stack|heap)", m.group(2)):
                self.kernel.add(cut(re.sub(r"\+0x[0-9a-f]+$", "", m.group(1))))
            m = re.match(r"\s*[0-9a-f]+ (.+)\+0x([0-9a-f]+) \((?:.*/)?([^/]+)\)$", line)
            if m:
                self.after_noreturn.add("[%s]" % m.group(3))
                if m.group(2) == "0" and not leaf:
                    self.after_noreturn.add(m.group(1))
            m = re.match(r"\s*[0-9a-f]+ (.+)\+0x[0-9a-f]+ \((/.*/perf-\d+\.map|.*//anon)\)$",
                         line)
            if m:
                self.jitted.add(m.group(1))
            leaf = False

    def read_lbr(self, path):
        """A line a sample: "IP SYMBOL (DSO)FROM(DSO)/TO(DSO)/... FROM(DSO)/TO(DSO)/..."."""
        place = r"(.+?)(?:\+0x[0-9a-f]+)?\([^()]*\)/"
        for line in opened(path):
            m = re.match(r"\s*[0-9a-f]+ (.+?) \([^()]*\) ?" + place + place, line)
            if m:
                self.lbr.add((cut(m.group(1)), cut(m.group(3))))


class Pair:
    """perf's frames and perfkit's, root first, on the way to becoming equal; the comm is [0]."""

    def __init__(self, want, got, rec):
        self.w, self.g = want.split(";"), got.split(";")
        flags = rec.inlined.get(got)
        self.inlined = list(flags) if flags else [False] * len(self.g)
        self.rec, self.why = rec, set()

    def drop(self, indices, why):
        """Take frames away from perfkit's."""
        gone = set(indices)
        self.g = [f for i, f in enumerate(self.g) if i not in gone]
        self.inlined = [f for i, f in enumerate(self.inlined) if i not in gone]
        self.why |= {why} if gone else set()

    def function_of(self, i):
        """perfkit's function that frame i is inlined into."""
        while i and self.inlined[i]:
            i -= 1
        return self.g[i]


def is_root(frame):
    return re.match(r"(_start|(__)?clone3?|start_thread|ret_from_fork\w*|runtime\.goexit(\.abi0)?)"
                    r"(@|$)", frame)


def is_jit(name, rec):
    return re.match(r"\[perf-\d+\.map\]", name) or name in rec.jitted


# --- the ends of a stack: what differs is taken away from both ---------------------------------

def drop_inlined(p):
    """perf before 6.14 looks for inlined functions in unwound stacks only, and addr2line knows
    none of Go's."""
    if p.rec.no_inlined:
        p.drop([i for i, inlined in enumerate(p.inlined) if inlined], "chain-inlined")
    p.drop([i for i, inlined in enumerate(p.inlined)
            if inlined and p.function_of(i) in p.rec.symbols.go], "go-inlined")


def drop_anonymous(p):
    if not any(f.startswith("(") for f in p.w[1:]):
        p.drop([i for i, f in enumerate(p.g) if i and f.startswith("(")], "anonymous-namespace")


def drop_leaf(p):
    """perf gives no user frame at all where the file of the sampled address is absent (libdw), nor
    where an exec has just replaced the program."""
    n, kernel = len(p.g) - len(p.w), p.w[1:]
    if n < 1 or kernel != p.g[n + 1:] or not all(is_kernel(f, p.rec) for f in kernel):
        return
    if re.match(r"\[(?!unknown\]|truncated\])[^\[\]]+\]$", p.g[n]):
        p.drop(range(1, n + 1), "leaf-dropped")
    elif n == 1 and p.g[1] == "[unknown]" and kernel and \
            (kernel[0].startswith("[") or any("execve" in f for f in kernel)):
        p.drop([1], "before-exec")


def is_kernel(name, rec):
    """By perf's word; without a name also what may be the kernel's."""
    return MARK.sub("", name) in rec.kernel or \
        name.startswith(("[[kernel", "[vmlinux", "[unknown]"))


def drop_depth(p):
    """perf script stops at 127 frames, inlined ones not counted."""
    functions = [i for i in range(1, len(p.g)) if not p.inlined[i]]
    if len(functions) > PERF_MAX_STACK and len(p.w) < len(p.g):
        p.drop(range(1, functions[-PERF_MAX_STACK]), "max-stack")


def drop_beyond(p):
    """Where perfkit says [truncated], or perf has an address of no mapping for a root."""
    w = p.w
    beyond = len(w) - len(p.g)
    if beyond > 1 and is_root(p.g[1]) and p.g[1] != "main" and w[1 + beyond] == p.g[1]:
        del w[1:1 + beyond]
        p.why.add("past-start")
    unmapped = w[1:2] in (["[unknown]"], ["[unknown <ffffffffffffffff>]"]) and \
        not all(is_kernel(f, p.rec) for f in w[2:] or w)
    if p.g[1:2] == ["[truncated]"]:
        p.drop([1], "truncated")
        if unmapped and p.g[1:2] != w[1:2]:
            del w[1]
        if len(p.g) == len(w) + 1:
            p.drop([1], "last-word")
    elif unmapped and len(w) == len(p.g) and w[1] != p.g[1] and \
            (is_root(p.g[1]) or p.g[1].startswith("[")):
        del w[1]
        p.drop([1], "last-word")
    elif unmapped and len(w) == len(p.g) + 1 and len(w) > 2:
        del w[1]
        p.why.add("no-mapping")


def drop_roots(p):
    """Where perf's stack ends before perfkit's, which has a root (or a file without names)."""
    w, g = p.w, p.g
    nameless = g[1:2] and g[1].startswith("[") and w[1:] == g[len(g) - len(w) + 1:] and \
        not all(is_kernel(f, p.rec) for f in w[1:])
    if len(w) > 1 and len(g) > len(w) and ("truncated" in p.why or is_root(g[1]) or nameless):
        p.drop(range(1, 1 + len(g) - len(w)),
               "jit-callers" if is_jit(w[1], p.rec) else "cut-short")
    elif len(w) == 2 and len(g) > 2 and not is_kernel(w[1], p.rec) and \
            not p.why & {"truncated", "last-word"}:
        p.drop(range(1, len(g) - 1), "leaf-alone")
        if w[1] == "[[vdso]]":  # perf 6.1 lacks its names, too
            del w[1]
            p.drop([1], "leaf-alone")


# --- one frame --------------------------------------------------------------------------------

def comm_class(want, got):
    if re.match(r"(:-1|swapper)(-|$)", want):
        return "exited-task"
    m = re.match(r"(.)_(-.*)?$", want)
    return "short-comm" if m and got == m.group(1) + (m.group(2) or "") else None


def inlined_class(p, i):
    """A name that perf has from addr2line: of an inlined function, or of the function itself."""
    want, got = without_return_type(p.w[i]), p.g[i]
    symbols = p.rec.symbols
    if p.inlined[i]:
        function = cut(p.function_of(i))
        innermost = i + 1 == len(p.g) or not p.inlined[i + 1]
        if innermost and (want == function or symbols.aliases(want, function)):
            return "first-query"
        return None
    own = unqualified(got)
    bare = unqualified(want) if want.startswith("operator") else want.split("<")[0]
    return "own-name" if bare == own or symbols.aliases(want, cut(got)) else None


def frame_class(p, i):
    want, got, last = p.w[i], p.g[i], len(p.w) - 1
    bare = re.sub(r" <[0-9a-f]+>\]$", "]", MARK.sub("", want))
    address = re.compile(r" <[0-9a-f]+>\]$")
    if SEVERAL.match(MARK.sub("", got)) and not want.startswith("["):
        return "jit-reused-address"
    if i < last and bare in p.rec.after_noreturn:
        return "noreturn"
    if want == got + "_[k]" and got in ("[[vdso]]", "[[vsyscall]]"):
        return "vdso-kernel"
    if want == "[[vdso]]" and got.startswith("__vdso_"):
        return "vdso-name"
    if got.startswith(want + "::"):
        return "local-name"
    if want == cut(got):
        return "template-arguments"
    if without_return_type(want) in (got, cut(got)):
        return "return-type"
    if want.startswith("[") and got == ".plt":
        return "plt-header"
    if (want == "@plt" or want.startswith("[")) and got.endswith("@plt"):
        return "plt-name"
    if want == "[unknown] " and re.match(r"\[.+ $", got):  # the caller cut "(deleted)]"
        return "dso-blank"
    if got[1:-1] in p.rec.symbols.data.get(want, ()):
        return "data-symbol"
    if want.startswith("bpf_") and got.startswith("bpf_"):
        return "ksymbol-overlap"
    if got == "[unknown]" and want.startswith("[") and i < last and \
            p.w[i + 1].startswith(("[vmlinux", "[[kernel")):
        return "before-exec"
    if last == 1 and address.sub("", want) == address.sub("", got):
        return "address-form"
    if i == last and (got, want) in p.rec.lbr:
        return "lbr-leaf"
    return inlined_class(p, i) if p.rec.inlined else None


# --- a pair of stacks -------------------------------------------------------------------------

def stack_class(want, got, rec):
    """The classes that lead from perfkit's stack to perf's, or None."""
    p = Pair(want, got, rec)
    drop_anonymous(p)
    drop_inlined(p)
    drop_depth(p)
    drop_leaf(p)
    drop_beyond(p)
    drop_roots(p)
    if len(p.w) != len(p.g):
        return None
    for i, (a, b) in enumerate(zip(p.w, p.g)):
        if a != b:
            found = frame_class(p, i) if i else comm_class(a, b)
            if not found:
                return None
            p.why.add(found)
    return p.why


def one_class(want, got, rec):
    """The likeliest pairs first: those that a single class explains."""
    why = stack_class(want, got, rec)
    return why if why and len(why) == 1 else None


def lost_step_class(want, got, rec):
    """A caller that libunwind passes over; or it takes a wrong one, and never comes to a root."""
    w, g = want.split(";"), got.split(";")
    if w[0] != g[0] or w[-1] != g[-1] or not (is_root(g[1]) or g[1] == "[truncated]"):
        return None
    jit = is_jit(w[1], rec)
    if jit and len(w) > 2 and g[-len(w):-2] == w[1:-1]:
        return {"skipped-caller"}
    if is_root(w[1]) and len(g) == len(w) + 1 and \
            any(g[:i] + g[i + 1:] == w for i in range(2, len(g) - 1)):
        return {"skipped-caller"}
    if len(g) > len(w) > 2 and not jit and not is_root(w[1]) and g[1] != "[truncated]":
        return {"wrong-caller"}
    if len(w) == 3 and len(g) > 3 and not jit:
        return {"wrong-caller"}
    return None


def lost_frames_class(want, got, rec):
    """What perf shows of a callchain with a word it does not understand; and of a branch stack
    without entries, where it reads what follows the sample. Nothing in GOT tells of either."""
    w, g = want.split(";"), got.split(";")
    if w == g[:1]:
        return {"corrupt-callchain"}
    return {"lbr-empty"} if rec.lbr and w[0] == g[0] else None


def differing(want, got):
    rest = {s: n - got.get(s, 0) for s, n in want.items() if n != got.get(s, 0)}
    rest.update({s: -n for s, n in got.items() if s not in want})
    return rest


def classify(rest, rec):
    """Pair what WANT lacks with what GOT lacks; what is explained is taken from rest."""
    weights = collections.Counter()
    for explain in (one_class, stack_class, lost_step_class, lost_frames_class):
        for w in [s for s, n in rest.items() if n > 0]:
            for g in [s for s, n in rest.items() if n < 0]:
                n = min(rest[w], -rest[g])
                if n <= 0:
                    continue
                why = explain(w, g, rec)
                for name in why or ():
                    weights[name] += n
                if why:
                    rest[w] -= n
                    rest[g] += n
    for g in [s for s, n in rest.items() if n < 0 and re.match(r".-", s)]:
        weights["short-comm"] -= rest.pop(g)  # lost by the script with --pid, --tid
    return weights


def arguments():
    a = argparse.ArgumentParser(add_help=False)
    a.add_argument("--script")
    a.add_argument("--elf", action="append", default=[])
    a.add_argument("--elf-of-script", action="store_true")
    a.add_argument("--inline", action="store_true")
    a.add_argument("--callchains", action="store_true")
    a.add_argument("--count")
    a.add_argument("--lbr")
    a.add_argument("--allow", type=float, default=0)
    a.add_argument("--classes", action="store_true")
    a.add_argument("files", nargs="*")
    return a.parse_args()


def recording(args):
    rec = Recording()
    rec.no_inlined = args.callchains
    if args.script:
        rec.read_script(args.script)
    if args.lbr:
        rec.read_lbr(args.lbr)
    for path in args.elf:
        rec.symbols.add(path)
    for path in sorted(rec.dsos) if args.elf_of_script else []:
        if os.path.isfile(path):
            rec.symbols.add_with_debug_file(path)
    return rec


def report(weights, rest, total, allowed):
    """Print the shares; 1 when more than `allowed` percent is unclassified or a class exceeds
    its share."""
    bad = 0
    for name, n in sorted(weights.items()):
        assert name in COMPUTED or name in CAPPED, name
        above = n * 100 > total * CAPPED.get(name, 100)
        bad |= above
        print("%s: %d of %d (%.3f %%)%s" % (name, n, total, 100.0 * n / max(total, 1),
                                           ", above its share" if above else ""))
    left = {s: n for s, n in rest.items() if n}
    if left:
        missing = sum(n for n in left.values() if n > 0)
        extra = -sum(n for n in left.values() if n < 0)
        print("unclassified: %d missing, %d extra of %d (%.3f %%)" %
              (missing, extra, total, 100.0 * max(missing, extra) / max(total, 1)))
        bad |= max(missing, extra) * 100 > total * allowed
        for s, n in sorted(left.items(), key=lambda x: -abs(x[1]))[:6]:
            # stacks differ at their leaves more often than at their roots
            print("  %s %s %d" % ("-" if n > 0 else "+", s if len(s) < 360 else "..." + s[-360:],
                                  abs(n)))
    return int(bad)


def main():
    args = arguments()
    if args.classes:
        print("\n".join(sorted(COMPUTED + list(CAPPED))))
        return 0
    rec = recording(args)
    want, got = read(args.files[0]), read(args.files[1])
    total, weights = sum(want.values()), collections.Counter()
    if args.count:
        got = read(args.count)
        weights["no-time"] = total
    if args.inline:
        got, rec.inlined = without_marks(got)
    rest = differing(want, got)
    weights += classify(rest, rec)
    bad = report(weights, rest, total, args.allow)
    if not bad and not rest and not args.inline and list(want) != list(got):
        print("same stacks, another order")
        return 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
