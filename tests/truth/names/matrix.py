#!/usr/bin/env python3
"""matrix.py [-n ROUNDS] [-k] [PATTERN] - is any name false? (make truth-names)

Programs that log in which chain of functions they spin, and when, are recorded in many ways: built by
several compilers, stripped, in a container, replaced while they run, in generated code. For each sample
inside a logged phase the log says which names are right; no symbolizer is asked. Each sample is one of

  false   a frame of the program has a name that is not in the chain
  none    the sampled function has no name
  part    all names are right, but not the whole chain: a cut stack, or a function under its caller's name
  right   all names, from the first function of the chain to the sampled one

PATTERN is a regular expression on cell names. -k keeps the recordings. Exit status: 1 if any name is
false or a cell has no samples. What cannot be run here is listed with its reason.
"""
import argparse
import bisect
import collections
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ.get("O", os.path.join(HERE, "../../../build"))
PERFKIT = os.path.abspath(os.environ.get("PERFKIT", os.path.join(OUT, "perfkit")))
EDGE = 60_000       # ns at each end of a phase in which the log may lag behind the program
SECONDS = "0.8"


class Skip(Exception):
    pass


def run(args, **kw):
    kw.setdefault("timeout", 120)
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kw)
    if p.returncode:
        raise Skip(f"{os.path.basename(args[0])}: {p.stdout.decode(errors='replace').strip()[-200:]}")
    return p.stdout.decode(errors="replace")


def need(tool):
    path = shutil.which(tool)
    if not path:
        raise Skip(f"no {tool}")
    return path


# How a cell is built and run. Each function gets an empty directory and returns the command to record.

def src(name):
    return os.path.join(HERE, name)


def cc(d, out, source="native.c", compiler="gcc", flags=()):
    path = os.path.join(d, out)
    run([need(compiler), "-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", *flags, "-o", path,
         src(source), "-ldl"])
    return path


OLD = ("-DV(x)=x##_old",)
NEW = ("-DV(x)=x##_new", "-DMOVED=9")


def c_program(compiler="gcc", flags=(), after=None, how=None):
    def make(d):
        prog = cc(d, "app", compiler=compiler, flags=flags)
        if after:
            run([*after, prog])
        return [prog, d + "/log", SECONDS] + ([how] if how else [])
    return make


def c_shell(text, flags=(), how=None):
    """The same, and a shell script makes something of "app"."""
    return c_program(flags=flags, how=how, after=("sh", "-e", "-c", 'cd "${0%/*}"\n' + text))


def script(text, **builds):
    """A shell script over several builds of native.c; $d is the directory, $s how long each runs."""
    def make(d):
        for name, flags in builds.items():
            cc(d, name, flags=flags)
        with open(d + "/run.sh", "w") as f:
            f.write(f"set -e\nd={d}\ns={SECONDS}\ncd $d\n{text}\n")
        return ["sh", d + "/run.sh"]
    return make


def plugin(text):
    def make(d):
        for name, flags in (("p1.so", ("-DTN(x)=x##_first",)), ("p2.so", ("-DTN(x)=x##_second", "-DMOVED=7"))):
            cc(d, name, "plugin.c", flags=("-shared", "-fPIC", *flags))
        return script(text, app=())(d)
    return make


CONTAINER = """
if [ "$1" != in ]; then
	mkdir -p new; mv app_new new/app; mv app_old app
	unshare -m sh run.sh in & ./app log $s; wait; exit
fi
mount --bind new/app app
exec ./app log $s"""
CHROOT = """
mv app_old app; mkdir -p root$d; cp app_new root$d/app; : >root$d/log
chroot root $d/app $d/log $s
cat root$d/log >>log"""
UPGRADE = """
mv app_old app; ./app log $s; mv app_new app; ./app log $s"""
UPGRADE_RUNNING = """
mv app_old app; ./app log $s & sleep 0.2; mv app_new app; ./app log $s; wait"""
DELETED = """
./app log $s & sleep 0.2; rm app; wait"""
OVERLAY = """
if [ "$1" != in ]; then
	mkdir -p low up work root
	mv app_old low/app; mv app_new app
	mount -t overlay overlay -o lowerdir=low,upperdir=up,workdir=work root 2>/dev/null ||
		{ mount -t tmpfs tmpfs up; mkdir up/up up/work; mount -t overlay overlay -o lowerdir=low,upperdir=up/up,workdir=up/work root; }
	./app log $s & unshare -m sh run.sh in; wait
	(sleep 3; umount root; umount up) >/dev/null 2>&1 &
	exit
fi
exec root/app log $s"""
REUSED = """
for i in 1 2 3 4 5 6 7 8 9; do
	: >log
	./app_old log 0.5 & first=$!; wait
	echo $((first - 1)) >/proc/sys/kernel/ns_last_pid
	./app_new log 0.5 & second=$!; wait
	[ $first = $second ] && exit 0
done
exit 1"""
LOADER = """
exec /lib64/ld-linux-x86-64.so.2 ./app log $s"""
SHARE = """
mv p1.so plugin.so; ./app log $s share $d/plugin.so & sleep 0.4; mv p2.so plugin.so; wait"""
OVERWRITTEN = """
mv p1.so plugin.so; exec ./app log $s $d/plugin.so $d/p2.so"""
PLUGIN = """
mv p1.so plugin.so; ./app log $s $d/plugin.so & sleep 0.4; mv p2.so plugin.so; wait"""


def go(version, cgo=False, flags="", mode="exe"):
    def make(d):
        for f in ("main.go", "cgo.go"):
            shutil.copy(src(f), d)
        with open(d + "/go.mod", "w") as f:
            f.write("module names\n")
        env = dict(os.environ, GOTOOLCHAIN=f"go{version}", GOFLAGS="-mod=mod", CGO_ENABLED="1" if cgo else "0")
        run([need("go"), "build", "-tags", "withcgo" if cgo else "plain", "-buildmode=" + mode,
             "-ldflags", flags, "-o", "app"], cwd=d, env=env)
        return [d + "/app", d + "/log", SECONDS]
    return make


def python(version, *options):
    def make(d):
        found = [p for p in (os.environ.get("PYTHON" + version.replace(".", "")),
                             shutil.which("python" + version)) if p]
        found += sorted(f"{os.path.expanduser('~')}/.pyenv/versions/{v}/bin/python{version}"
                        for v in (os.listdir(os.path.expanduser("~/.pyenv/versions"))
                                  if os.path.isdir(os.path.expanduser("~/.pyenv/versions")) else [])
                        if v.startswith(version + "."))
        for p in found:
            if subprocess.run([p, "-c", ""], capture_output=True).returncode == 0:
                return [p, *options, src("names.py"), d + "/log", SECONDS]
        raise Skip(f"no python{version}")
    return make


def java(*options):
    def make(d):
        run([need("javac"), "-d", d, src("Names.java")])
        return [need("java"), *options, "-cp", d, "Names", d + "/log", SECONDS]
    return make


def node(*options):
    def make(d):
        return [need("node"), *options, src("names.js"), d + "/log", SECONDS]
    return make


def ocaml(d):
    for f in ("names.ml", "stubs.c"):
        shutil.copy(src(f), d)
    run([need("ocamlopt"), "-g", "-I", "+unix", "-o", "app", "names.ml", "stubs.c"], cwd=d)
    return [d + "/app", d + "/log", SECONDS]


def rust(*flags, strip=False):
    def make(d):
        run([need("rustc"), "-O", *flags, "-o", d + "/app", src("names.rs")])
        if strip:
            run([need("strip"), d + "/app"])
        return [d + "/app", d + "/log", SECONDS]
    return make


def inlined(compiler, *flags):
    def make(d):
        run([need(compiler), "-O2", "-g", *flags, "-o", d + "/app", src("inlined.cc")])
        return [d + "/app", d + "/log", SECONDS]
    return make


# How names look: FIND gets the program's function out of a frame's name (None: not one of the program's), ALLOW says
# which others may stand in the program's own file.

C_START = r"main|_start|__libc_.*|_dl_relocate_static_pie|clock_gettime|__clock_gettime.*|syscall|__syscall.*|_dl_.*|_init"
NATIVE = (r"(.*)", C_START + "|now|phases_until|frame_dummy|memcpy|__memmove.*|fprintf.*|mremap|mprotect|libc_start_main_stage2")
CPP = (r"(?:void )?(.*?)(?:\(.*\))?(?: const)?", C_START + "|now|fprintf")
GO = (r"(.*)", r"(?:internal/)?runtime[./].*|_rt0_.*|indexbytebody|main\.now|syscall\..*|_start|main|__libc.*|x_cgo.*|crosscall.*|threadentry"
      r"|internal/runtime.*|os\..*|fmt\..*|gogo|__GI_.*|_cgo_.*|start_thread")
RUST = (r"(.*?)(?:::h[0-9a-f]{16})?", C_START + r"|std::.*|core::.*|names::now|<.* as core::.*|<.* as std::.*|__rust_.*|clock_gettime")
OCAML = (r"(?:Names|Dune__exe__Names)\.(\w+?)(?:_\d+)?", r"caml_.*|tn_now|tn_tid|main|_start|Names\.entry|camlStd.*|Stdlib.*|clock_gettime.*|__.*")
PYTHON = (r"py::(.*?):.*", None)
JAVA = (r".*\bNames(?:\.|::)(\w+).*", None)
NODE = (r".*?:?[*~^+]?(outer(?:One|Two)|leaf(?:One|Two)|phase) .*names\.js.*", None)

Cell = collections.namedtuple("Cell", "name make lang stacks env")
CELLS = []


def cell(name, make, lang=NATIVE, stacks=("fp", "dwarf"), env=None):
    for s in stacks:
        CELLS.append(Cell(f"{name}, {s}", make, lang, s, env or {}))


for compiler in ("gcc", "clang"):
    cell(f"C {compiler}", c_program(compiler))
    cell(f"C {compiler}, no PIE", c_program(compiler, ("-no-pie",)))
    cell(f"C {compiler}, static", c_program(compiler, ("-static",)))
    cell(f"C {compiler}, stripped", c_program(compiler, (), ("strip",)))
    cell(f"C++ {compiler}, inlined", inlined("g++" if compiler == "gcc" else "clang++"), CPP)
cell("C gcc, 32-bit", c_program("gcc", ("-m32",)))
cell("C gcc, forked", c_program(how="fork"))
cell("C gcc, remapped text", c_program(how="hugify"))
cell("C gcc, remapped text, no PIE", c_program(flags=("-no-pie",), how="hugify"))
cell("container: one path, two files", script(CONTAINER, app_old=OLD, app_new=NEW))
cell("chroot: another file at the path", script(CHROOT, app_old=OLD, app_new=("-static", *NEW)))
cell("upgraded between two runs", script(UPGRADE, app_old=OLD, app_new=NEW))
cell("upgraded while it runs", script(UPGRADE_RUNNING, app_old=OLD, app_new=NEW))
cell("deleted while it runs", script(DELETED, app=()))
cell("plugin replaced and loaded again", plugin(PLUGIN))
cell("plugin written over and loaded again", plugin(OVERWRITTEN))
cell("plugin loaded by a process that shares the memory", plugin(SHARE))
cell("overlay, another file at the path", script(OVERLAY, app_old=OLD, app_new=NEW))
cell("pid used again by another file", script(REUSED, app_old=OLD, app_new=NEW))
cell("run by the dynamic loader", script(LOADER, app=()))
for how in ("memfd", "thread", "protect", "jit"):
    cell("C gcc, " + how, c_program(how=how))
for linker in ("bfd", "gold", "lld", "mold"):
    ld = "-fuse-ld=" + linker
    cell("C " + linker, c_program(flags=(ld,)), stacks=("dwarf",))
    if linker != "gold":
        one = "-Wl,--no-rosegment" if linker == "lld" else "-Wl,-z,noseparate-code"
        cell(f"C {linker}, one segment", c_program(flags=(ld, one)), stacks=("dwarf",))
    cell(f"C {linker}, exports only", c_program(flags=(ld, "-rdynamic"), after=("strip",)))
cell("C gcc, another base", c_program(flags=("-pie", "-Wl,-Ttext-segment=0x10000000")), stacks=("dwarf",))
cell("C gcc, another base, no PIE, big pages", c_program(flags=("-no-pie", "-Wl,-z,max-page-size=0x200000")), stacks=("dwarf",))
cell("C gcc, LTO", c_program(flags=("-flto",)), stacks=("dwarf",))
cell("C gcc, functions in sections", c_program(flags=("-ffunction-sections", "-Wl,--gc-sections")), stacks=("dwarf",))
cell("C musl, static", c_program("musl-gcc", ("-static", "-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu")),
     stacks=("dwarf",))
SPLIT_OFF = """objcopy --only-keep-debug %s app app.debug; strip app; objcopy --add-gnu-debuglink=app.debug app"""
for way in ("", "--compress-debug-sections=zlib", "--compress-debug-sections=zstd"):
    cell("C gcc, split debug " + way.split("=")[-1], c_shell(SPLIT_OFF % way), stacks=("dwarf",))
cell("C gcc, split debug, dwz", c_shell("cp app two; dwz -m app.dwz app two; " + SPLIT_OFF % ""), stacks=("dwarf",))
cell("C gcc, .dwo", c_program(flags=("-gsplit-dwarf",)), stacks=("dwarf",))
cell("C gcc, .dwp", c_shell("llvm-dwp -e app -o app.dwp; rm -f *.dwo", ("-gsplit-dwarf",)), stacks=("dwarf",))
cell("C gcc, assembler without sizes", c_program(flags=(src("sizeless.S"), "-DASM")))
cell("C gcc, assembler without sizes, exports only", c_program(flags=(src("sizeless.S"), "-DASM", "-rdynamic"), after=("strip",)))
for v in ("1.21.13", "1.22.12", "1.23.12", "1.24.13", "1.25.7", "1.26.8"):
    minor = v.rsplit(".", 1)[0]
    cell(f"Go {minor}", go(v), GO, ("fp",))
    cell(f"Go {minor}, stripped", go(v, flags="-s -w"), GO, ("fp",))
    cell(f"Go {minor}, cgo", go(v, True), GO, ("fp",))
    cell(f"Go {minor}, cgo, stripped", go(v, True, "-s -w"), GO, ("fp", "dwarf"))
    cell(f"Go {minor}, cgo, PIE, stripped", go(v, True, "-s -w", "pie"), GO, ("fp",))
    cell(f"Go {minor}, external linking, stripped", go(v, True, "-s -w -linkmode=external"), GO, ("fp",))
for v in ("3.11", "3.12", "3.13"):
    cell(f"Python {v}", python(v), PYTHON, ("fp",))
    if v != "3.11":
        cell(f"Python {v} -X perf", python(v, "-X", "perf"), PYTHON)
    if v == "3.13":
        cell(f"Python {v} -X perf_jit", python(v, "-X", "perf_jit"), PYTHON, ("dwarf",))
cell("Java, perf map", java("-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"), JAVA, ("fp",))
cell("Node, perf map", node("--perf-basic-prof"), NODE, ("fp",))
cell("Node, perf map, interpreted frames", node("--perf-basic-prof", "--interpreted-frames-native-stack"), NODE, ("fp",))
cell("Node, jitdump", node("--perf-prof"), NODE, ("fp",))
cell("OCaml", ocaml, OCAML, ("dwarf",))
cell("Rust", rust("-Cforce-frame-pointers=yes"), RUST)
cell("Rust, v0 mangling", rust("-Cforce-frame-pointers=yes", "-Csymbol-mangling-version=v0"), RUST)
cell("Rust, stripped", rust(strip=True), RUST, ("dwarf",))


RECORDERS = {
    "perf": ["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock:u", "-F", "497"],
    "perf --buildid-mmap": ["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock:u", "-F", "497", "--buildid-mmap"],
    "perfkit record": [PERFKIT, "record", "cpu", "-e", "cpu-clock:u", "-F", "497"],
}


def alone(d):
    """An environment in which perf and perfkit find no file that another cell left in a cache."""
    return dict(os.environ, HOME=d)


def record(how, stacks, data, command, cwd):
    args = RECORDERS[how] + (["--stacks", stacks] if how.startswith("perfkit") else
                             ["--call-graph", "fp" if stacks == "fp" else "dwarf,8192"])
    run([*args, "-o", data, "--", *command], cwd=cwd, env=alone(cwd))


class Phases:
    """Which chain a time belongs to. Programs that run at once are told apart by thread, where the log has one."""

    def __init__(self, log):
        self.by_tid = collections.defaultdict(list)
        for line in open(log):
            tid, start, end, chain = line.rstrip("\n").split(" ", 3)
            self.by_tid[int(tid)].append((int(start) + EDGE, int(end) - EDGE, tuple(chain.split(";"))))
        for rows in self.by_tid.values():
            rows.sort()

    def at(self, tid, t, comm):
        rows = self.by_tid.get(tid) or (self.by_tid.get(0) if comm == "java" else None)
        if not rows:
            return None
        i = bisect.bisect_right(rows, (t, 1 << 63, ())) - 1
        return rows[i][2] if i >= 0 and rows[i][0] <= t <= rows[i][1] else None


class Paths:
    """A store's stacks: for each call path the frames, root first, as (name, mapped file)."""

    def __init__(self, db):
        self.nodes = {i: (parent, name or "", dso or "") for i, parent, name, dso in db.execute(
            "SELECT p.id, p.parent_id, y.name, d.name FROM call_paths p JOIN frames f ON f.id = p.frame_id "
            "LEFT JOIN symbols y ON y.id = f.symbol_id LEFT JOIN dsos d ON d.id = f.dso_id")}
        self.known = {}

    def get(self, i):
        if i not in self.known:
            frames = []
            at = i
            while at in self.nodes:
                parent, name, dso = self.nodes[at]
                frames.append((name, dso))
                at = parent
            self.known[i] = frames[::-1]
        return self.known[i]


def unnamed(name):
    return not name or name.startswith("[") or re.fullmatch(r"0x[0-9a-f]+", name) is not None


def judge(frames, chain, lang, own):
    """The verdict on one stack, and the frame that decides it."""
    find, allow = lang
    names, leaf_named = [], True
    for name, dso in frames:
        if dso.startswith("[kernel") or dso == "[vdso]":
            continue
        if allow is None:
            m = re.fullmatch(find, name)
            if m:
                names.append(m[1])
            elif name.startswith("[") and not dso.startswith("/"):
                leaf_named = False
            continue
        if dso != own and not re.search(r"/plugin\.so|/app(_old|_new)?$|/memfd:app|^app$|^/tmp/perf-\d+\.map$", dso):
            continue
        if unnamed(name):
            leaf_named = False
            continue
        m = re.fullmatch(find, name)
        word = m[1] if m else name
        if word in chain:
            names.append(word)
            leaf_named = True
        elif not re.fullmatch(allow, word) and not re.fullmatch(allow, name):
            return "false", name
    if any(n not in chain and n != "<module>" for n in names):
        return "false", next(n for n in names if n not in chain)
    if not names:
        return "none", ""
    order = [chain.index(n) for n in names if n in chain]
    if order != sorted(order):
        return "false", ";".join(names)
    if chain[-1] in names and names[0] == chain[0] and leaf_named:
        return "right", ""
    return ("part" if leaf_named else "none"), ""


def measure(c, how, keep):
    d = tempfile.mkdtemp(prefix="names-")
    try:
        command = c.make(d)
        data = d + "/perf.data"
        record(how, c.stacks, data, command, d)
        if c.lang is PYTHON and "perf_jit" in c.name and not any(f.endswith(".dump") for f in os.listdir("/tmp")):
            raise Skip("this Python writes no jitdump")
        run([PERFKIT, "import", "-q", "-f", "-o", d + "/run.db", data], env=alone(d))
        db = sqlite3.connect(d + "/run.db")
        phases, paths = Phases(d + "/log"), Paths(db)
        own = d + "/app"
        counts, examples = collections.Counter(), collections.Counter()
        for t, tid, comm, period, path in db.execute(
                "SELECT time_ns, tid, comm, period, call_path_id FROM v_samples"):
            chain = phases.at(tid, t, comm)
            if not chain:
                continue
            verdict, why = judge(paths.get(path), chain, c.lang, own)
            counts[verdict] += 1
            if verdict == "false":
                examples[why + " in " + ";".join(chain)] += 1
        return counts, examples
    finally:
        for f in os.listdir("/tmp"):  # those of native.c's "jit"
            if re.fullmatch(r"perf-\d+\.map", f) and "tn_jit_one" in open("/tmp/" + f, errors="replace").read(200):
                os.unlink("/tmp/" + f)
        if keep:
            print("    kept:", d, flush=True)
        else:
            shutil.rmtree(d, ignore_errors=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-n", type=int, default=1)
    p.add_argument("-k", action="store_true")
    p.add_argument("pattern", nargs="?", default="")
    a = p.parse_args()
    if not os.access(PERFKIT, os.X_OK):
        sys.exit(f"no {PERFKIT}: run make first")
    bad, skipped = 0, []
    print(f"{'program':44} {'recorded by':20} {'samples':>7}  false   none   part  right", flush=True)
    for c in CELLS:
        for how in RECORDERS:
            name = f"{c.name}, {how}"
            if not re.search(a.pattern, name):
                continue
            several = " file" in c.name or "upgraded" in c.name or "plugin" in c.name or "deleted" in c.name
            if how != "perf" and not several:
                continue
            counts, examples = collections.Counter(), collections.Counter()
            try:
                for _ in range(a.n):
                    n, e = measure(c, how, a.k)
                    counts += n
                    examples += e
            except (Skip, subprocess.TimeoutExpired, OSError) as e:
                skipped.append((name, str(e).splitlines()[0] if str(e) else type(e).__name__))
                continue
            total = sum(counts.values())
            bad += counts["false"] > 0 or total < 50
            share = "  ".join(f"{100 * counts[v] / total if total else 0:5.1f}" for v in ("false", "none", "part", "right"))
            print(f"{c.name:44} {how:20} {total:7}  {share}", flush=True)
            for text, n in examples.most_common(2):
                print(f"    {n} times {text}")
    reasons = collections.defaultdict(list)
    for name, why in skipped:
        reasons[why].append(name)
    for why, names in reasons.items():
        print(f"not run ({len(names)}): {why}: {'; '.join(names)}")
    print(f"{bad} of the cells above have a false name or too few samples")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
