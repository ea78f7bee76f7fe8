# compare --fail-on: every form of a condition, met (4), not met (0) and with too few runs or an unknown name (3), one
# line and one test case of valid JUnit XML each, alone and all together.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
data=$SRC/testdata/compare
for f in "$data"/*.data.gz; do
	gunzip -c "$f" >"$(basename "$f" .gz)"
done
kallsyms=$SRC/testdata/against/kallsyms
# the same binary with one function of another name
mkdir -p other/srv/perfkit
sed 's/\([^a-z_]\)store\([^a-z_]\)/\1stork\2/g' "$data/symfs/srv/perfkit/shift" >other/srv/perfkit/shift
for n in 1 2 3 4; do
	"$PERFKIT" pack -q --no-local --symfs "$data/symfs" --kallsyms "$kallsyms" wait0.$n.data -o old.$n.tar.zst
	"$PERFKIT" pack -q --no-local --symfs other --kallsyms "$kallsyms" wait50.$n.data -o new.$n.tar.zst
done
cat >gates.py <<'END'
import csv, json, subprocess, sys, glob
import xml.etree.ElementTree as xml
perfkit, src = sys.argv[1:]
data = src + "/testdata/compare"
names = ["-q", "--no-local", "--symfs", data + "/symfs", "--kallsyms", src + "/testdata/against/kallsyms"]
waits = names + ["--comm", "shift", "--idle"]

def run(verb, *words):
    p = subprocess.run([perfkit, verb, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return p.returncode, p.stdout, p.stderr

# each wait as a span, on the recordings' clock
with open("naps.csv", "w") as out:
    out.write("start_ns,end_ns,tid,key,name\n")
    for f in sorted(glob.glob("wait*.data")):
        origin = int(json.loads(run("tail", *waits, "--json", "--by", "wait", "--top", "1", f)[1])["recording"]["origin_ns"])
        for r in csv.DictReader(run("tail", *waits, "--csv", "--by", "wait", "--top", "0", f)[1].splitlines()):
            for k, name in enumerate(["nap", "hop"] + ["hop"] * ("wait50" in f)): # twice as many hops
                out.write("%d,%d,%s,%s-%s-%d,%s\n" % (origin + int(r["start_ns"]), origin + int(r["end_ns"]), r["tid"], f, r["rank"], k, name))

def sides(before, after, n):
    return sorted(glob.glob(before))[:n] + ["--"] + sorted(glob.glob(after))[:n]

CASES = [  # options, the runs, conditions that hold, that do not, that nothing can say
    (names + ["--per", "recording"], ("work0.*.data", "work25.*.data"),
     ["whole CPU* more 5%", "whole CPU time more", "function hot self more 10%", "function hot total more 10%", "function h?t more",
      "function hot, slower more 5%"],
     ["whole CPU* less", "function hot self less 5%", "function hot self more 80%", "function hot more 200%", "new function", "new span"],
     ["function nosuch more", "site nosuch less", "whole nosuch more", "span nosuch p99 more 5%"]),
    (waits + ["--per", "recording", "--with", "naps.csv"], ("wait0.*.data", "wait50.*.data"),
     ["wait p50 more 5%", "wait p90 more 5%", "wait p99 more 20%", "wait p999 more 20%", "span nap p50 more 5%", "span nap p90 more 5%",
      "span n* p99 more 20%", "span nap p999 more 20%", "span nap time more 5%", "span nap more 5%", "site *store* more 10%",
      "cause sleep more 5%", "whole waiting more 5%", "root *store* more 5%", "span hop count more 50%", "span h* count more"],
     ["wait p50 less", "wait p99 more 200%", "span nap p99 less", "span nap time less 1%", "span nap count more 5%", "span hop count less", "site *store* less", "cause sleep less 3%",
      "root *store* less 5%", "new site", "new cause", "new root", "new span"],
     ["site nosuch more", "cause nosuch more", "root nosuch more", "span nosuch count more"]),
    (["-q", "--no-local", "--comm", "shift", "--idle"], ("old.*.zst", "new.*.zst"), ["new site", "new root"], ["new cause", "wait p50 less"], [])]

def check(words, conditions, answer, status):
    flags = [w for c in conditions for w in ("--fail-on", c)]
    rc, out, err = run("compare", *words[0], *flags, *words[1])
    want = ["%s: %s: " % (answer, c) for c in conditions]
    lines = [l for l in out.splitlines() if l.startswith(("yes: ", "no: ", "cannot say: "))]
    assert rc == status and len(lines) == len(conditions) and all(l.startswith(w) for l, w in zip(lines, want)), (rc, want, lines, err)
    rc, out, err = run("compare", *words[0], "--format", "junit", *flags, *words[1])
    assert rc == status and out.startswith('<?xml version="1.0" encoding="UTF-8"?>'), (rc, out, err)
    root = xml.fromstring(out.encode())
    (suite,) = root
    cases = list(suite)
    assert (root.tag, suite.tag, suite.get("errors")) == ("testsuites", "testsuite", "0")
    assert [c.get("name") for c in cases] == conditions and all(c.tag == "testcase" and c.get("classname") for c in cases), out
    inside = {"yes": "failure", "no": None, "cannot say": "skipped"}[answer]
    assert all([x.tag for x in c] == ([inside] if inside else []) and all(x.get("message") for x in c) for c in cases), out
    assert int(suite.get("tests")) == len(cases) and sum(int(suite.get(k)) for k in ("failures", "skipped")) == len(cases) * bool(inside)

for options, (before, after), met, unmet, unknown in CASES:
    all_runs = (options, sides(before, after, 9))
    for answer, status, conditions in (("yes", 4, met), ("no", 0, unmet), ("cannot say", 3, unknown)):
        for c in conditions:
            check(all_runs, [c], answer, status)
        if conditions:
            check(all_runs, conditions, answer, status)
    one = [c for c in met if not c.startswith("new")]
    if one: # one run of each side can say nothing
        check((options, sides(before, after, 1)), one, "cannot say", 3)
    # a condition that holds decides, then one that cannot be said
    mixed = [w for c in (met[0], unmet[0], *unknown[:1]) for w in ("--fail-on", c)]
    assert run("compare", *options, *mixed, *all_runs[1])[0] == 4
    if unknown:
        assert run("compare", *options, "--fail-on", unmet[0], "--fail-on", unknown[0], *all_runs[1])[0] == 3
END
python3 gates.py "$PERFKIT" "$SRC"
