# check.py PLAINNAME - every pattern of frames.rules and causes.rules names a function that there is:
# one of names.txt. Where a rule of frames.rules says `until=LINUX` or `source`, its functions were read in
# sources and not seen. A misspelt pattern fails.
#
# REMAKE=1 makes names.txt again: the names that a pattern fits, of the packages below as they are
# installed here (nm of each file and of its debug file), of the running kernel, and of the stacks in
# the stores that $STACKS names; of what is not installed the old lines are kept, and so are the blocks
# `source` and `source-kernel`, which are written by hand: names of other versions, configurations and
# architectures, and of static functions that a distribution's binaries do not name.
import fnmatch, os, re, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.dirname(os.path.dirname(here))
plainname = os.path.abspath(sys.argv[1])
names_txt = os.path.join(here, "names.txt")

# A block of names.txt, its package, its files.
PACKAGES = [
    ("libc6", ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/crt1.o"]),
    ("musl", ["/lib/ld-musl-x86_64.so.1", "/usr/lib/x86_64-linux-musl/Scrt1.o", "/usr/lib/musl/lib/Scrt1.o"]),
    ("libstdc++6", ["/usr/lib/x86_64-linux-gnu/libstdc++.so.6"]),
    ("libgcc-s1", ["/lib/x86_64-linux-gnu/libgcc_s.so.1"]),
    ("libuv1", ["/usr/lib/x86_64-linux-gnu/libuv.so.1"]),
    ("libevent-core-2.1-7", ["/usr/lib/x86_64-linux-gnu/libevent_core-2.1.so.7"]),
    ("libglib2.0-0", ["/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0"]),
    ("libcurl4", ["/usr/lib/x86_64-linux-gnu/libcurl.so.4"]),
    ("libssl3", ["/usr/lib/x86_64-linux-gnu/libssl.so.3"]),
    ("libgomp1", ["/usr/lib/x86_64-linux-gnu/libgomp.so.1"]),
    ("libev4", ["/usr/lib/x86_64-linux-gnu/libev.so.4"]),
    ("libmariadb3", ["/usr/lib/x86_64-linux-gnu/libmariadb.so.3"]),
    ("mariadb-server-core", ["/usr/sbin/mariadbd"]),
    ("nginx", ["/usr/sbin/nginx"]),
    ("redis-server", ["/usr/bin/redis-server", "/usr/bin/redis-check-rdb"]),
    ("postgresql-15", ["/usr/lib/postgresql/15/bin/postgres"]),
    ("libpq5", ["/usr/lib/x86_64-linux-gnu/libpq.so.5"]),
    ("openjdk-17-jre-headless", ["/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
                                 "/usr/lib/jvm/java-17-openjdk-amd64/lib/libjli.so"]),
    ("nodejs", ["/usr/bin/node"]),
    ("python3.11", ["/usr/bin/python3.11"]),
]


def plain(names):
    out = subprocess.run([plainname], input="\n".join(names) + "\n", capture_output=True, text=True, check=True)
    return out.stdout.split("\n")[: len(names)]


def cause_plain(name):
    """As plain_name() of causes.c."""
    name = name.lstrip("_")
    name = name[3:].lstrip("_") if name.startswith("GI_") else name
    return re.split(r"(?<=.)(?:\.constprop\.|\.part\.|\.isra\.|\.cold|\.llvm\.|@|\()", name)[0]


def rules(path):
    with open(os.path.join(top, path), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.split("#")[0].strip() and not line.lstrip().startswith("#"):
                yield number, line.strip()


def frame_patterns():
    """(where, pattern, kernel, checked)"""
    path = "libsym/name/frames.rules"
    for number, line in rules(path):
        words = line.split("#")[0].split()
        kernel = words[0] in ("scheduler", "interrupt", "helper")
        checked = True
        for i, w in enumerate(words[1:], 1):
            if w == "kernel":
                kernel = True
            elif w == "source" or w.startswith("until="):
                checked = False
            elif not w.startswith("dso="):
                break
        for w in words[i:]:
            if w != "*":
                yield f"{path}:{number}", w, kernel, checked


def cause_patterns():
    path = "libtime/causes/causes.rules"
    for number, line in rules(path):
        if line.startswith("missing"):
            continue
        words = line.split()
        checked = not any(w == "source" or w.startswith("until=") for w in words)
        for w in words:
            key, _, value = w.partition("=")
            if key in ("kernel", "calls", "user", "waker"):
                for p in value.split("|"):
                    yield f"{path}:{number}", p, None if key == "waker" else key != "user", checked


def fits_frame(p, n):
    return n.startswith(p[:-1]) if p.endswith("*") else n == p


def fits_cause(p, n):
    p = p.lstrip("_")
    return fnmatch.fnmatchcase(n, p) if re.search(r"[*?\[]", p) else n == p


def all_patterns():
    for where, p, kernel, checked in frame_patterns():
        yield where, p, kernel, checked, fits_frame, 0
    for where, p, kernel, checked in cause_patterns():
        yield where, p, kernel, checked, fits_cause, 1


class Names:
    """Names of functions, plain in both ways."""

    def __init__(self, names):
        names = sorted(set(names))
        self.raw = names
        self.plain = [plain(names), [cause_plain(n) for n in plain(names)]]
        self.sets = [set(p) for p in self.plain]

    def any(self, p, fits, how):
        if not re.search(r"[*?\[]", p):
            return (p if how == 0 else p.lstrip("_")) in self.sets[how]
        return any(fits(p, n) for n in self.sets[how])


def read_names():
    blocks, block = {}, None
    if os.path.exists(names_txt):
        for line in open(names_txt, encoding="utf-8"):
            line = line.rstrip("\n")
            if line.startswith("# "):
                block = blocks.setdefault(line[2:], [])
            elif line:
                block.append(line)
    return blocks


def run(*args):
    r = subprocess.run(args, capture_output=True, text=True, errors="replace")
    return r.stdout if r.returncode == 0 else ""


def symbols(path):
    found = set()
    files = [path]
    build_id = re.search(r"Build ID: (\w\w)(\w+)", run("readelf", "-n", path))
    if build_id:
        files.append("/usr/lib/debug/.build-id/%s/%s.debug" % build_id.groups())
    for f in files:
        for option in ((), ("-D",)):
            for line in run("nm", "-C", *option, f).splitlines():
                m = re.match(r"[0-9a-f ]{16} ([tTwWiuU]) (.*)", line)
                if m and m.group(1) not in "U":
                    found.add(m.group(2))
    return found


def remake():
    import sqlite3
    old = read_names()
    new = {t: v for t, v in old.items() if t.startswith("source")}
    patterns = list(all_patterns())

    def keep(title, names, kernel):
        old_titles = [t for t in old if t.split(" ")[:1] == title.split(" ")[:1]]
        if not names:
            new.update({t: old[t] for t in old_titles})
            return
        n = Names(names)
        kept = set()
        for _, p, k, _, fits, how in patterns:
            if k in (kernel, None):
                one = [i for i, x in enumerate(n.plain[how]) if fits(p, x)]
                kept.update(n.plain[0][i] for i in one[:3])
        if kept:
            new[title] = sorted(kept)

    keep("kernel " + os.uname().release.split("-")[0] + " (/proc/kallsyms)",
         {l.split()[2] for l in open("/proc/kallsyms") if l.split()[1] in "tTwW"}, True)
    for package, files in PACKAGES:
        version = run("dpkg-query", "-W", "-f", "${Version}", package)
        names = set().union(*(symbols(f) for f in files if os.path.exists(f))) if version else set()
        keep(f"{package} {version} (nm)", names, False)
    stacks, kernel = set(), set()
    for store in os.environ.get("STACKS", "").split():
        db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        for name, kind in db.execute("SELECT DISTINCT s.name, f.kind FROM frames f JOIN symbols s ON s.id = f.symbol_id"):
            (kernel if kind == "kernel" else stacks).add(name)
    keep("stacks (recorded)", stacks, False)
    with open(names_txt, "w", encoding="utf-8") as f:
        f.write("\n\n".join("# " + t + "\n" + "\n".join(v) for t, v in sorted(new.items())) + "\n")


def check():
    kernel, user = [], []
    for title, names in read_names().items():
        (kernel if title.split(" ")[0] in ("kernel", "source-kernel") else user).extend(names)
    known = {True: Names(kernel), False: Names(user)}
    bad = n = unchecked = 0
    for where, p, k, checked, fits, how in all_patterns():
        n += 1
        if not checked:
            unchecked += 1
        elif not any(known[x].any(p, fits, how) for x in ([k] if k is not None else [True, False])):
            print(f"{where}: {p}: no such function in tests/rules/names.txt")
            bad += 1
    print(f"{n} patterns, {unchecked} of them from sources or for older kernels")
    return bad != 0


if os.environ.get("REMAKE"):
    remake()
sys.exit(check())
