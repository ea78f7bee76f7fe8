"""html.py PERFKIT SRC - drive reports in a real browser; their sums against what perfkit prints.

Prints one line per failed check; exit 1 if any failed, 77 without a browser.
"""
import csv
import json
import os
import random
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.parse

import firefox
from webdriver import Browser, missing

PERFKIT, SRC = sys.argv[1:3]
JITTER = SRC + "/testdata/jitter/gaps.tar.zst"
ORDERS = SRC + "/testdata/orders/orders.tar.zst"
DEMO = SRC + "/testdata/demo/perf.data"
LOCAL = ["-q", "--no-local", "--force"]
FAILED = []
BRUSHES = 8
CHOSEN = {"--label", "--cgroup", "--pid"}  # which may leave nothing


def check(what, got, want):
    if got != want:
        FAILED.append(what)
        print("FAILED %s: got %r, want %r" % (what, got, want))


def ask(*args):
    return subprocess.run([PERFKIT, *args], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def report(name, path, *options):
    out = os.path.abspath(name + ".html")
    whole = [] if {"--comm", "--pid", "--all"} & set(options) else ["--all"]  # collapse, the witness, takes all
    subprocess.run([PERFKIT, "html", *LOCAL, *whole, *options, "-o", out, path], check=True, stderr=subprocess.DEVNULL)
    return out


def show(b, path, fragment=""):
    b.open("about:blank")
    b.open("file://" + path + fragment)
    for _ in range(200):
        ready = b.js("return document.documentElement.dataset.ready || ''")
        if ready:
            break
        time.sleep(0.05)
    check(os.path.basename(path) + fragment + ": opens", ready, "1")


def settled(b, script, want):
    """The value of a script once it is as wanted, or after two seconds."""
    for _ in range(40):
        got = b.js("return " + script)
        if got == want:
            break
        time.sleep(0.05)
    return got


def stretches(b, n):
    """Stretches of the recording, the whole one first: (from, to, as --time takes it)."""
    rng = random.Random(7)
    origin, span = int(b.js("return report.head().from_ns")), b.js("return report.head().span_ns")
    for i in range(n):
        a, z = sorted((rng.randrange(span), rng.randrange(span))) if i else (0, span)
        if i % 3 == 1:
            z = min(a + rng.randrange(1, 3000000), span)
        clock = ["%d.%09d" % divmod(origin + t, 10**9) for t in (a, z)]
        yield a, max(z, a + 1), ",".join(clock)


def folded(text):
    return sorted(line for line in text.decode("utf-8", "replace").splitlines() if not line.endswith(" 0"))


def bare(lines):
    """Folded stacks of names up to their arguments, which collapse leaves out."""
    sums = {}
    for stack, weight in (line.rsplit(" ", 1) for line in lines):
        key = ";".join(re.split("[<(]", frame)[0] for frame in stack.split(";"))
        sums[key] = sums.get(key, 0) + int(weight)
    return sorted("%s %d" % x for x in sums.items())


def compare(b, what, sums, args, path):
    """Stack by stack, to the nanosecond."""
    some = False
    for a, z, clock in stretches(b, BRUSHES):
        got = b.js("return report.foldTree(%s)" % (sums % (a, z)))
        some = some or len(got) > 0
        want = folded(ask("collapse", *LOCAL, *args, "--time", clock, path))
        if "--label" in args:
            got, want = bare(got), bare(want)
        check("%s in %s: there is some" % (what, clock), len(got) > 5 or z - a < 10**8 or not CHOSEN.isdisjoint(args), True)
        if sorted(got) != want:
            check("%s in %s" % (what, clock), [x for x in got if x not in want][:3], [x for x in want if x not in got][:3])
    return some


def notes(b):
    """Which panes say that the label chosen in the page does nothing to them."""
    found = {}
    views = [(x, None) for x in ("overview", "episodes", "sites")] + [("flame", x) for x in b.js("return [...new Set(report.given().map((g) => g.kind))]")]
    for pane, graph in views:
        if not b.js("return !!document.getElementById('tab-pane-%s')" % pane):
            continue
        b.js("Object.assign(report.view, {pane: arguments[0], graph: arguments[1] || report.view.graph}); report.showPane()", pane, graph)
        said = b.js("return [...document.querySelectorAll('#pane-%s .whole')].map((x) => x.innerText)" % pane)
        if said:
            found[graph or pane] = said[0]
    return found


def check_labels(b):
    """What has a label is what --label leaves: of samples, waits, both, and threads of the timeline."""
    for source, side, graph in (("labels/labelled.tar.zst", "labels/labels.txt", "cpu"), ("requests/serve.tar.zst", "requests/requests.csv", "off")):
        source, with_labels = SRC + "/testdata/" + source, ["--with", SRC + "/testdata/" + side]
        path = report("labelled", source, *with_labels)
        show(b, path)
        labels = b.js("const seen = {}; return report.labelChoices().filter((x) => { const k = x.split('=')[0];"
                      "return (seen[k] = (seen[k] || 0) + 1) <= 2; }).slice(0, 5)")
        check("%s: labels to choose" % side, len(labels) >= 3, True)
        some = {"cpu": 0, "off": 0}
        for text in labels:
            args = [*with_labels, "--label", text]
            show(b, path)
            check("label " + text, b.js("return report.chooseLabel(arguments[0])", text), True)
            some["off"] += compare(b, "off-CPU of " + text, "report.sumOff(%d, %d, null)", ["--offcpu", "--unit", "ns", *args], source)
            event = b.js("return report.head().events[report.view.event].name")
            if graph == "cpu":
                some["cpu"] += compare(b, "CPU of " + text, "report.sumCpu(%d, %d, report.view.event)", [*args, "--event", event], source)
            subprocess.run([PERFKIT, "svg", *LOCAL, "--all", "--wall", *args, source, "-o", "wall.svg"], check=True, stderr=subprocess.DEVNULL)
            got = b.js("const t = report.sumWall(0, report.head().span_ns); return [t.n, t.total[0], t.total1 ? t.total1[0] : 0]")
            b.open("file://" + os.path.abspath("wall.svg"))
            check("wall clock of " + text, got, b.js("const t = document.documentElement.flame.tree(); return [t.n, t.total[0], t.total1 ? t.total1[0] : 0]"))
        check("%s: some has them" % side, some[graph] > 0, True)
        show(b, path, "#pane=flame&graph=%s&label=" % graph + urllib.parse.quote(labels[0]))
        want = folded(ask("collapse", *LOCAL, *(["--offcpu", "--unit", "ns"] if graph == "off" else ["--event", event]), *with_labels,
                          "--label", labels[0], source))
        check("a link with a label", bare(b.js("return report.foldTree(report.flame('%s').flame.tree())" % graph)), bare(want))
        check("its worker", b.js("return report.ms().inWorker"), True)
        opened = report("opened", source, *with_labels, "--label", labels[0])
        show(b, opened, "#pane=flame&graph=%s" % graph)
        check("--label opens with it", b.js("return report.view.label"), labels[0])
        check("--label cuts as collapse", bare(b.js("return report.foldTree(report.flame('%s').flame.tree())" % graph)), bare(want))
        check("the program's own panes are of it, too", notes(b), {})
        show(b, opened, "#label=")
        check("it can be cleared", b.js("return report.view.label"), "")
        check("the program's own panes are still of it", all(labels[0] in x for x in notes(b).values()) and len(notes(b)) >= 2, True)
        show(b, path)
        check("without a label they say nothing", notes(b), {})
        show(b, path, "#label=" + urllib.parse.quote(labels[0]))
        found = notes(b)
        check("with one, that it is not applied", (len(found) >= 3, {x for x in found.values()}),
              (True, {"These are of all threads: the label %s is not applied here." % labels[0]}))
        compare_cut(b, path, source, with_labels, labels)


# Of the rows in sight: tid, labelled stretches, ns of each, samples; then what CPUs ran.
CUT = """const t = report.timeline().timeline.panels[0]; return [t.rows.filter((r) => r.kind === 2 && r.shown && !r.hidden).map((r) => [r.thread.tid, r.parts,
	[...r.segs.paint].slice(0, r.segs.n).reduce((sum, p, i) => sum + (p === 255 ? 0 : r.segs.start[i + 1] - r.segs.start[i]), 0), r.samples.n]),
	t.rows.filter((r) => r.kind === 0).map((r) => [...r.segs.paint].slice(0, r.segs.n).reduce((sum, p, i) => sum + (p === 255 ? 0 : r.segs.start[i + 1] - r.segs.start[i]), 0))]"""
# The same of the overview.
SUMS = """const s = report.sumThreads(0, report.head().span_ns), d = report.data();
	return [Object.fromEntries(s.threads.map((x) => [d.thread.tid[x.thread] - 1, x.run + x.blocked + x.unclear + x.runnable + x.preempted + x.unknown + x.hidden])), [...s.cpus]]"""
RUNNING = """const s = report.sumThreads(0, report.head().span_ns), d = report.data();
	return Object.fromEntries(s.threads.filter((x) => x.run).map((x) => [d.thread.tid[x.thread] - 1, x.run]))"""
MARKED = """const p = document.documentElement.timeline.panels[0], all = {}; for (const h of p.highlights)
	(all[p.rows[h.row].thread.tid] = all[p.rows[h.row].thread.tid] || []).push([h.t, h.t + h.length]); return all;"""


def compare_cut(b, path, source, with_labels, labels):
    """A label cuts the timeline's rows to the stretches that `perfkit timeline --label` marks."""
    for text in labels:
        subprocess.run([PERFKIT, "timeline", *LOCAL, "--all", *with_labels, "--label", text, "--system", source, "-o", "marked.svg"], check=True, stderr=subprocess.DEVNULL)
        b.open("file://" + os.path.abspath("marked.svg"))
        marked = b.js(MARKED)
        show(b, path, "#pane=timeline&label=" + urllib.parse.quote(text))
        settled(b, "report.timeline() !== null && report.timeline().timeline.panels[0].rows.some((r) => r.parts)", True)
        rows, cpus = b.js(CUT)
        sums, busy = b.js(SUMS)
        check("cut to %s: some rows" % text, len(rows) > 0, True)
        run = {int(x["tid"]): int(x["run_ns"]) for x in csv.DictReader(ask(
            "report", *LOCAL, *with_labels, "--label", text, "--all", "--by", "thread", "--csv", source).decode().splitlines())}
        check("%s: running as report says" % text, b.js(RUNNING), {str(k): v for k, v in run.items() if v})
        for tid, parts, ns, _ in rows:
            if len(parts) < 100:
                check("%s: stretches of %d" % (text, tid), parts, marked.get(str(tid)))
            check("%s: ns of %d" % (text, tid), (ns, sum(z - a for a, z in parts)), (sums.get(str(tid)),) * 2)
        check("%s: CPUs" % text, cpus, busy)
        tips = b.js(TIPS % "report.timeline()")
        check("%s: tooltips" % text, len(tips) > 0, True)
    b.js("document.getElementById('label').value = ''; document.getElementById('label').dispatchEvent(new Event('change'))")
    check("without a label rows are whole", settled(b, "report.timeline().timeline.panels[0].rows.every((r) => r.kind !== 2 || r.segs === r.whole && !r.hidden)", True), True)


def check_cgroups(b):
    """Threads of a cgroup, as --cgroup chooses them."""
    source = os.path.abspath("cgroups.data")
    with open(source, "wb") as f:
        subprocess.run(["tar", "--zstd", "-xOf", SRC + "/testdata/labels/labelled.tar.zst", "perf.data"], check=True, stdout=f)
    rows = list(csv.DictReader(ask("report", *LOCAL, "--all", "--by", "thread", "--system", "--csv", source).decode().splitlines()))
    pids = sorted({int(r["pid"]) for r in rows if int(r["pid"]) > 0})
    check("processes to put into cgroups", len(pids) > 3, True)
    cgroups, evil = ["/a/web", "/a/db", "/other"], "/a/</select><img src=x onerror=document.title=1>"
    with open(source + ".context", "w") as f:
        f.write("perfkit-context 1\nof %d\nsnapshot\n" % os.path.getsize(source))
        for i, pid in enumerate(pids):
            f.write("fact process\t%d\tcgroup\t%s\n" % (pid, (cgroups + [evil])[i % 4]))
    path = report("cgroups", source, "--system")
    show(b, path, "#pane=flame&graph=off")
    offered = b.js("return [...document.querySelectorAll('#flame-tabs option')].map((o) => o.value).filter((x) => x.startsWith('cgroup:'))")
    check("cgroups to choose", offered, ["cgroup:/a", "cgroup:" + evil, "cgroup:/a/db", "cgroup:/a/web", "cgroup:/other"])
    some = 0
    for name in offered:
        if name.endswith(evil):
            continue
        inside = [str(pid) for i, pid in enumerate(pids) if ((cgroups + [evil])[i % 4] + "/").startswith(name[7:] + "/")]
        for kind, script, options in (("off", "report.sumOff(%d, %d, null)", ["--offcpu", "--system", "--unit", "ns", "--cgroup", name[7:]]),
                                      ("cpu", "report.sumCpu(%d, %d, report.view.event)", ["--pid", ",".join(inside)])):
            event = ["--event", b.js("return report.head().events[report.view.event].name")] if kind == "cpu" else []
            b.js("report.view.who = arguments[0]", name)
            some += compare(b, "%s of %s" % (kind, name), script, [*options, *event], source)
        show(b, path, "#pane=flame&graph=off&who=" + urllib.parse.quote(name))
        check("the worker, too", b.js("return report.foldTree(report.flame('off').flame.tree())") if b.js("return !!report.flame('off')") else [],
              folded(ask("collapse", *LOCAL, "--offcpu", "--system", "--unit", "ns", "--cgroup", name[7:], source)))
    check("some are in cgroups", some >= 4, True)
    check("a cgroup's name is text", b.js("return document.querySelectorAll('img').length + (document.title === '1')"), 0)


def check_hostile_label(b):
    """A value of any bytes, a span's name and a side file's are text; a value is one word of the command that the page shows."""
    value = "it's $(id) </script><img src=x onerror=document.title='run'>\u2028\u2029\\"
    side, span = "<img src=x onerror=document.title='run'>.csv", "</text><script>document.title='run'</script><img src=x onerror=document.title='run'>"
    with open(SRC + "/testdata/requests/requests.csv") as f, open(side, "w") as g:
        head, *rows = f.read().replace("/pay", value).splitlines()
        g.write("\n".join([head + ",name"] + [row + "," + span for row in rows]) + "\n")
    path = report("hostile", SRC + "/testdata/requests/serve.tar.zst", "--with", side)
    show(b, path, "#map=span")
    check("the span's name is there", b.js("return report.labelChoices().includes('span=' + arguments[0])", span), True)
    label = b.js("return report.labelChoices().find((x) => x.includes('onerror'))")
    show(b, path, "#label=" + urllib.parse.quote(label))
    shown = b.js("return document.querySelector('#selected code').textContent")
    check("one word for a shell", shlex.split(shown), ["--label", label])
    for pane in b.js("return [...document.querySelectorAll('#nav button')].map((x) => x.id.slice(9))"):
        b.js("report.view.pane = arguments[0]; report.showPane()", pane)
    check("only text", b.js("return document.querySelectorAll('img').length + (document.title === 'run')"), 0)


def compare_wall(b, path, source):
    """Against the picture that `svg --wall` makes of the stretch."""
    for a, z, clock in list(stretches(b, BRUSHES)):
        subprocess.run([PERFKIT, "svg", *LOCAL, "--all", "--wall", "--time", clock, source, "-o", "wall.svg"], check=True,
                       stderr=subprocess.DEVNULL)
        show(b, path)
        got = b.js("const t = report.sumWall(%d, %d); return [t.n, t.total[0], t.total1[0]]" % (a, z))
        b.open("file://" + os.path.abspath("wall.svg"))
        want = b.js("const t = document.documentElement.flame.tree(); return [t.n, t.total[0], t.total1[0]]")
        check("wall clock in " + clock, got, want)
    show(b, path)


def compare_given(b, path):
    """What the program computed is what svg draws."""
    for kind, options in (("offwake", ["--offwake"]), ("chain", ["--chain"]), ("tail", ["--tail-diff", "--top", "20"])):
        subprocess.run([PERFKIT, "svg", *LOCAL, "--all", *options, ORDERS, "-o", "given.svg"], check=True, stderr=subprocess.DEVNULL)
        show(b, path, "#pane=flame&graph=" + kind)
        legend = "[...%s.querySelectorAll('#legend g')].map((g) => [g.querySelector('text').textContent, g.querySelector('rect').getAttribute('fill')])"
        settled(b, "!!report.flame('%s')" % kind, True)
        own = b.js("return " + legend % ("report.flame('%s')" % kind))
        got = b.js("const t = report.given().find((g) => g.kind === '%s' && !g.episode).tree;"
                   "return [t.n, t.total[0], t.total1 ? t.total1[0] : 0]" % kind)
        b.open("file://" + os.path.abspath("given.svg"))
        want = b.js("const t = document.documentElement.flame.tree(); return [t.n, t.total[0], t.total1 ? t.total1[0] : 0]")
        check("%s is svg's" % kind, got, want)
        if kind != "tail":
            check("%s: its legend is svg's" % kind, own, b.js("return " + legend % "document"))
    show(b, path, "#pane=flame&graph=tail&of=3")
    check("that of an episode", b.js("return report.flame('tail').flame.tree().total[0]"),
          b.js("return report.head().tail.episodes[2].duration_ns"))


THREADS = """const d = report.data(); return Object.fromEntries(report.sumThreads(0, report.head().span_ns).threads.map((x) =>
	[d.thread.tid[x.thread] - 1, [x.run, x.hidden, x.unclear, x.blocked, x.runnable + x.preempted, x.unknown]]))"""


def compare_states(b, path, source):
    """The overview's time of each thread by state is report's."""
    columns = ["run_ns", "idle_ns", "unclear_ns", "blocked_ns", "runnable_ns", "unknown_ns"]
    want = {x["tid"]: [int(x[c]) for c in columns] for x in csv.DictReader(ask(
        "report", *LOCAL, "--all", "--by", "thread", "--csv", source).decode().splitlines())}
    show(b, path)
    got = b.js(THREADS)
    check("states of threads", {tid: got.get(tid, [0] * 6) for tid in want}, want)


def check_threads(b, path):
    """The flame graphs of some threads are collapse's of them."""
    show(b, path, "#pane=flame&graph=off&who=comm:front-0")
    want = folded(ask("collapse", *LOCAL, "--offcpu", "--unit", "ns", "--comm", "front-0", ORDERS))
    check("off-CPU of one thread", b.js("return report.foldTree(report.flame('off').flame.tree())"), want)


def check_median_functions(b, path):
    """Beside the worst episodes' functions the median's, both where the program waited."""
    show(b, path, "#pane=flame&graph=tail")
    settled(b, "report.view.functions.length > 0", True)
    got = {n: x for n, *x in b.js("return report.view.functions.map((f) => [f.name, f.self, f.self1])")}
    total = b.js("const t = report.flame('tail').flame.tree(); return [t.total[0], t.total1[0]]")
    check("the worst waited in match_order", got["match_order"][0], total[0])
    check("the median's functions: their sum", sum(x[1] for x in got.values()), total[1])
    row = b.js("return [...document.querySelectorAll('#sandwich tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))[0]")
    check("their row", row[:4], ["match_order", "%.1f %%" % (100 * got["match_order"][1] / total[1]), row[2], "100.0 %"])


def check_waiting_functions(b, path):
    """Functions of waiting: where the program waited, as the store has it."""
    subprocess.run([PERFKIT, "import", *LOCAL, "-o", "orders.db", ORDERS], check=True, stderr=subprocess.DEVNULL)
    db = sqlite3.connect("orders.db")
    threads = {x for x, in db.execute("SELECT comm FROM comms")}
    want = [list(x) for x in db.execute("SELECT function, sum(wait_ns) FROM v_offcpu WHERE NOT system GROUP BY 1 ORDER BY 2 DESC LIMIT 12")
            if x[0] and x[0] not in threads]
    for graph in ("off", "wall"):
        show(b, path, "#pane=flame&graph=" + graph)
        settled(b, "report.view.functions.length > 0", True)
        got = dict(b.js("return report.view.functions.map((f) => [f.name, f.self])"))
        total = b.js("return report.flame('%s').flame.tree().total[0]" % graph)
        check("functions of %s: their sum" % graph, sum(got.values()), total)
        if graph == "off":
            check("functions of off-CPU time", (len(want) > 3, [[f, got.get(f)] for f, _ in want]), (True, want))
        check("%s: not the scheduler" % graph, got.get("__schedule", 0), 0)


def check_orders(b):
    path = report("orders", ORDERS)
    check_waiting_functions(b, path)
    check_median_functions(b, path)
    compare_given(b, path)
    check_threads(b, path)
    compare_states(b, path, ORDERS)
    show(b, path)
    compare(b, "off-CPU", "report.sumOff(%d, %d, null)", ["--offcpu", "--unit", "ns"], ORDERS)
    compare_wall(b, path, ORDERS)
    compare_timeline(b)
    show(b, path, "#ep=3")
    check("#ep=3 opens the third episode", b.js("return document.querySelector('#case .count').textContent"), "3/10")
    check("its picture", settled(b, "!!document.querySelector('#case .island').shadowRoot.querySelector('svg')", True), True)
    show(b, path, "#ep=3&pane=episodes")
    check("all about it", b.js("return document.querySelector('#episode h3').textContent.slice(0, 2)"), "#3")
    text = ask("tail", *LOCAL, "--all", "--top", "20", "--details", "3", ORDERS).decode()
    line = [x for x in text.splitlines() if x.startswith("#3  ")][0]
    check("its text is tail's", b.js("return document.querySelector('#episode pre').textContent.includes(arguments[0])", line), True)
    chain = json.loads(ask("tail", *LOCAL, "--all", "--top", "20", "--json", ORDERS))["episodes"][2]
    parts = [s for s in chain["shares"] if s["tid"] == chain["chain"][-1]["tid"]]
    last = b.js("return [...document.querySelectorAll('#episode .chain li')].pop().textContent")
    check("the end of the chain did several things", len(parts) > 2 and all(s["function"] in last for s in parts[:3]), True)
    for pane in ("overview", "flame"):
        b.js("document.getElementById('tab-pane-' + arguments[0]).click()", pane)
    b.js("history.back()")
    check("Back after an episode", settled(b, "report.view.pane", "overview"), "overview")
    show(b, path, "#ep=3&pane=episodes")
    settled(b, "!!document.querySelector('#episode .chain button')", True)
    b.js("document.querySelector('#episode .chain button').click()")
    check("a thread of the chain is shown in the timeline",
          settled(b, "report.timeline() ? report.timeline().timeline.selected() !== null : false", True), True)
    check("and in the address", "pane=" in b.js("return location.hash"), False)
    check("the episode's stretch is selected", b.js("return report.view.stretch !== null"), True)


def check_thinned(b):
    """Above --max-size, sums are off by what one grain holds at either end, for each thread."""
    most = os.path.getsize(report("exact", ORDERS)) * 0.99 / 1048576
    path = report("thinned", ORDERS, "--max-size", "%.6f" % most)
    show(b, path)
    grain, threads = b.js("return [report.head().grain_ns, new Set(report.data().wait.thread).size]")
    check("a grain", grain >= 10000, True)
    check("each view says so", b.js("return [...document.querySelectorAll('.grain')].map((x) => x.closest('section').id)"),
          ["map", "pane-timeline", "pane-flame", "pane-overview"])
    for a, z, clock in stretches(b, BRUSHES):
        got = b.js("return report.sumOff(%d, %d, null).total[0]" % (a, z))
        want = sum(int(x.split()[-1]) for x in folded(ask("collapse", *LOCAL, "--offcpu", "--unit", "ns", "--time", clock, ORDERS)))
        check("thinned: off-CPU in " + clock, abs(got - want) <= 2 * grain * threads or (got, want), True)
    whole = ask("collapse", *LOCAL, "--offcpu", "--unit", "ns", ORDERS)
    check("thinned: all of it is exact", b.js("return report.foldTree(report.sumOff(0, report.head().span_ns, null))"), folded(whole))


def gaps_shown(b):
    """Of the gaps in the timeline pane: place and length, and what took the CPU."""
    settled(b, "!!report.timeline()", True)
    return sorted(b.js("return report.timeline().timeline.panels[0].gaps.map((g) => "
                       "[g.cpu, g.isVague ? null : g.t, g.isVague ? null : g.t + g.length, g.ns, g.parts.map((p) => [p.name, p.ns])])"),
                  key=repr)


# Of each row of a timeline: what it is, its pieces, intervals but for the numbers of their stacks and
# states, samples and holders of locks.
ROWS = """return %s.timeline.panels[0].rows.map((r) => [r.kind, r.thread ? r.thread.comm + r.thread.tid : r.index,
	r.segs ? [[...r.segs.start].slice(0, r.segs.n + 1), [...r.segs.paint].slice(0, r.segs.n)] : null,
	r.offs ? [...r.offs].filter((x, i) => ![4, 5, 6, 8].includes(i %% 11)) : null, [...r.samples.t],
	r.held ? [...r.held].map(([i, h]) => [i, h.map((x) => [x.after, x.ns])]) : null]);"""
# What is missing, and what the tooltips say of every 40th interval.
TIPS = """const t = %s.timeline, all = t.panels[0].losses.map((l) => [l.t, l.length, l.cpu, l.kind, l.count]); t.panels[0].rows.forEach((r) => {
	for (let i = 0; r.offs && i < r.segs.n; i += 40) all.push(t.linesOf(r, i)); }); return all;"""


def compare_timeline(b):
    """The timeline has what `perfkit timeline` draws, and says of it what that says."""
    for options in ([], ["--comm", "front-0,front-1"]):
        subprocess.run([PERFKIT, "timeline", *LOCAL, "--all", *options, ORDERS, "-o", "tl.svg"], check=True, stderr=subprocess.DEVNULL)
        b.open("file://" + os.path.abspath("tl.svg"))
        want = [b.js(x % "document.documentElement") for x in (ROWS, TIPS)]
        show(b, report("rows", ORDERS, *options), "#pane=timeline")
        settled(b, "!!report.timeline()", True)
        for what, script, wanted in zip(("rows", "tooltips"), (ROWS, TIPS), want):
            got = b.js(script % "report.timeline()")
            check("timeline %s: some %s" % (options, what), len(wanted) > 3, True)
            if got != wanted:
                wrong = [(x, y) for x, y in zip(got, wanted) if x != y][:1] or [(len(got), len(wanted))]
                check("timeline %s: %s" % (options, what), str(wrong[0][0])[:500], str(wrong[0][1])[:500])


def gap_parts(gap):
    return [[p.get("vector") or ("%s %d" % (p["comm"], p["tid"]) if "comm" in p else "[%s]" % p["by"]), p["ns"]]
            for p in gap["parts"]]


def check_gaps(b):
    """The lanes of gaps have what `tail --by gap` says of them, to the nanosecond."""
    for name, file in (("exact", "gaps.txt"), ("placed", "sampler.csv,cpu=1")):
        with_gaps = ["--with", SRC + "/testdata/jitter/" + file]
        path = report("gaps-" + name, JITTER, *with_gaps)
        show(b, path, "#pane=timeline")
        told = json.loads(ask("tail", *LOCAL, "--all", "--by", "gap", "--top", "0", "--json", *with_gaps, JITTER))["episodes"]
        want = sorted(([g["cpu"], g["start_ns"], g["end_ns"], g["duration_ns"], gap_parts(g)] for g in told), key=repr)
        check("gaps, %s" % name, gaps_shown(b), want)
        check("their lane", b.js("return report.timeline().timeline.panels[0].rows.filter((r) => r.what === 'gaps')"
                                 ".map((r) => r.boxes.length)"), [len(told)])
        if name == "exact":
            most = os.path.getsize(path) * 0.999 / 1048576
            show(b, report("gaps-thinned", JITTER, "--max-size", "%.6f" % most, *with_gaps), "#pane=timeline")
            check("summed up, none is explained", gaps_shown(b), sorted((g[:4] + [[]] for g in want), key=repr))


def check_cut_gaps(b):
    """The lanes have of a gap what --time leaves of it, as `report --by gap` counts it."""
    with_gaps = ["--with", SRC + "/testdata/jitter/gaps.txt"]
    gap = json.loads(ask("tail", *LOCAL, "--all", "--by", "gap", "--top", "1", "--json", *with_gaps, JITTER))["episodes"][0]
    show(b, report("gaps-cut", JITTER, *with_gaps))
    middle = (gap["start_ns"] + gap["end_ns"]) // 2
    from_ns = int(b.js("return report.head().from_ns")) + middle
    window = ["--time", "%d.%09d," % divmod(from_ns, 10**9)]
    show(b, report("gaps-cut", JITTER, *with_gaps, *window), "#pane=timeline")
    rows = ask("report", *LOCAL, "--by", "gap", "--csv", *with_gaps, *window, JITTER).decode().splitlines()
    at = rows[0].split(",").index("total_ns")
    shown = gaps_shown(b)
    check("a gap is cut", [g[3] for g in shown if g[1] == 0], [gap["end_ns"] - middle])
    check("gaps under --time", sum(g[3] for g in shown), sum(int(r.split(",")[at]) for r in rows[1:]))


def check_merged(b):
    """--merge-threads: what svg draws of merged threads; the timeline's pools."""
    path = report("merged", ORDERS, "--merge-threads")
    show(b, path, "#pane=flame&graph=off")
    got = b.js("const t = report.flame('off').flame.tree(); return [t.n, t.total[0]]")
    names = b.js("return [...new Set(report.data().row.comm)].map((c) => report.frames().name[c])")
    check("merged names", "front-N" in names and "front-0" not in names, True)
    subprocess.run([PERFKIT, "svg", *LOCAL, "--all", "--offcpu", "--merge-threads", ORDERS, "-o", "merged.svg"], check=True, stderr=subprocess.DEVNULL)
    b.open("file://" + os.path.abspath("merged.svg"))
    check("merged is svg's", got, b.js("const t = document.documentElement.flame.tree(); return [t.n, t.total[0]]"))
    show(b, path, "#pane=timeline")
    settled(b, "!!report.timeline()", True)
    check("a pool in the timeline", b.js("return report.timeline().timeline.panels[0].rows.some((r) => r.pool && /^front/.test(r.thread.comm))"), True)


def check_keys(b, path):
    show(b, path)
    b.js("document.getElementById('heat').focus()")
    b.keys("Right", "Right", "Shift+Right", "Shift+Right", "Enter")
    check("keys select a stretch", b.js("return report.view.stretch !== null"), True)
    check("and the URL keeps it", "t=" in b.url(), True)
    kept, url = b.js("return [report.view.stretch.from, report.view.stretch.to]"), b.url()
    b.keys("Escape")
    check("Escape shows all", b.js("return report.view.stretch"), None)
    show(b, path, url[url.index("#"):])
    check("a link restores the stretch", b.js("return [report.view.stretch.from, report.view.stretch.to]"), kept)


def check_demo(b):
    path = report("demo", DEMO, "--symfs", SRC + "/testdata/demo/symfs")
    show(b, path, "#pane=flame")
    show(b, path, "#pane=overview")
    sums = {}
    for line in folded(ask("collapse", *LOCAL, "--symfs", SRC + "/testdata/demo/symfs", DEMO)):
        leaf, weight = line.split(";")[-1].rsplit(" ", 1)
        sums[leaf] = sums.get(leaf, 0) + int(weight)
    hot = settled(b, "[...document.querySelectorAll('#hot tbody tr')].length > 3", True)
    rows = b.js("return [...document.querySelectorAll('#hot table')[0].tBodies[0].rows].map((r) => [r.cells[0].innerText, r.cells[2].innerText])")
    leaves = [[k, "%.1f %%" % (100 * v / sum(sums.values()))] for k, v in sorted(sums.items(), key=lambda x: (-x[1], x[0]))]
    check("the overview's functions are collapse's leaves", (hot, rows), (True, leaves[:10]))
    b.js("document.querySelector('#hot button').click()")
    check("and lead to the flame graph", b.js("return [report.view.pane, report.view.fn]"), ["flame", rows[0][0]])
    show(b, path, "#pane=flame")
    compare(b, "CPU", "report.sumCpu(%d, %d, report.view.event)", ["--symfs", SRC + "/testdata/demo/symfs"], DEMO)
    check("no pane of waits without waits", b.js("return document.querySelectorAll('#nav button').length"), 2)
    b.js("document.querySelector('#sandwich tbody button').click()")
    check("a function of the table is the graph's focus", b.js("return report.flame('cpu').flame.state.focus"),
          b.js("return report.view.fn"))
    check_keys(b, path)
    b.js("report.view.pane = 'flame'; report.showPane()")
    settled(b, "!!report.flame('cpu')", True)
    boxes = b.js("return report.flame('cpu').flame.boxes().length")
    b.js("report.choose({from: 1000000000, to: 1001000000}, null)")
    check("a brush makes another graph", settled(b, "report.flame('cpu').flame.boxes().length !== %d" % boxes, True), True)
    check("made by a worker", b.js("return report.ms().inWorker"), True)
    for dark in (True, False):
        b.dark(dark)
    b.printed(True)
    b.printed(False)


def check_source(b):
    """A click on a frame opens its function's lines: those of `perfkit source`."""
    data, names = SRC + "/testdata/inlined/perf.data", ["--symfs", SRC + "/testdata/inlined/symfs", "--source-dir", SRC + "/testdata/inlined"]
    path = report("source", data, *names)
    show(b, path, "#pane=flame")
    settled(b, "!!report.flame('cpu')", True)
    hidden = "document.getElementById('source').hidden"
    check("no source before a click", b.js("return " + hidden), True)
    x, y = b.js("""const svg = report.flame('cpu'), p = svg.getBoundingClientRect(), c = svg.flame.boxes().find((x) => x.name === 'main');
        return [p.x + c.x + 4, p.y + c.y + 6]""")
    b.click(x, y)
    check("a click opens it", settled(b, hidden, False), False)
    rows = "[...document.querySelectorAll('#source .source-file tbody tr:not(.inlined)')].map((r) => [...r.cells].map((c) => c.textContent))"
    settled(b, rows + ".length > 3", True)
    compare_source(b, "its lines", rows, "main", *names, data)
    inlined = "[...document.querySelectorAll('#source tr.inlined')].filter((r) => !r.hidden).length"
    check("inlined calls are closed", b.js("return " + inlined), 0)
    b.js("document.querySelector('#source .opens').click()")
    check("and open", b.js("return " + inlined + " > 0"), True)
    check("the URL keeps it", "src=main" in b.url(), True)
    b.js("report.choose({from: 20000000, to: 70000000}, null)")
    at = [int(b.js("return String(report.head().from_ns)")) + t for t in (20000000, 70000000)]
    clock = ",".join("%d.%09d" % divmod(t, 10**9) for t in at)
    settled(b, "document.querySelector('#source .note').textContent.includes('selection')", True)
    compare_source(b, "lines of a selection", rows, "main", "--time", clock, *names, data)
    b.js("document.querySelector('#source .source-head button').click()")
    check("and closes", b.js("return " + hidden), True)
    show(b, report("unsourced", data, *names[:2], "--functions", "power"), "#pane=flame&src=power")
    settled(b, rows + ".length > 0", True)
    check("without roots no text", b.js("return [...new Set(%s.map((r) => r[3]))]" % rows), [""])
    b.js("report.view.src = 'main'; report.showPane()")
    check("--functions has it alone", settled(b, "document.querySelectorAll('#source tbody').length", 0), 0)
    show(b, report("waiting", ORDERS, "--idle"), "#pane=flame&graph=off&src=front")
    settled(b, rows + ".length > 3", True)
    compare_source(b, "lines that wait", rows, "front", "--offcpu", "--all", "--idle", ORDERS)
    check_instructions(b, data, *names)
    check_two_clicks(b)


def check_instructions(b, data, *names):
    """Weights of instructions are those of `perfkit source --asm`; jumps are arrows; a line marks its own."""
    shown = json.loads(ask("source", *LOCAL, "--json", "--asm", "main", *names, data))
    code = shown["shown"].get("instructions")
    show(b, report("asm", data, *names), "#pane=flame&src=main")
    settled(b, "document.querySelectorAll('#source tbody tr').length > 3", True)
    if not code:
        check("it says why there are none", b.js("return document.querySelector('#source').textContent.includes('Capstone')"), True)
        return
    rows = "[...document.querySelectorAll('#source .instructions tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    check("instructions are closed", b.js("return document.querySelector('#source .instructions').hidden"), True)
    b.js("document.querySelector('#source .instructions-button').click()")
    share = lambda x: "%.1f %%" % (100 * x / shown["of"]["weight"]) if x else ""
    want = [[share(i["self"]), share(i["total"]), str(i.get("line", "")), "%x" % int(i["address"]), i["text"]] for i in code if i["total"]]
    got = b.js("return " + rows)
    check("instructions with weight", [[*r[:4], r[5]] for r in got if r[1]], want)
    near = {"%x" % int(i["address"]): "%x" % int(i["target"]) if "target" in i else None for i in code}
    have = {r[3] for r in got}
    check("arrows", b.js("return document.querySelectorAll('#source .lanes path').length"),
          len([a for a in have if near.get(a) in have and near[a] != a]))
    line = next(i["line"] for i in code if i["total"] and "line" in i)
    b.js("[...document.querySelectorAll('#source .source-file tbody tr')].find((r) => r.cells[2].textContent.replace('+', '') === arguments[0]).click()", str(line))
    check("a line marks its instructions", b.js("return [...document.querySelectorAll('#source tr.of-line')].map((r) => r.cells[2].textContent)"),
          [r[2] for r in got if r[2] == str(line)])


def check_two_clicks(b):
    """From the first screen to the line that costs the worst waits, without the source tree."""
    show(b, report("book", ORDERS))
    held = "[...document.querySelectorAll('#case .short')].find((x) => x.textContent.includes('held the lock'))"
    settled(b, "!!" + held, True)
    for e in held + ".querySelector('summary')", "[...%s.querySelectorAll('button.link')].find((x) => x.textContent === 'write_pages')" % held:
        b.click(*b.js("const e = %s; e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.left + 5, r.top + r.height / 2]" % e))
    heavy = "[...document.querySelectorAll('#source .source-file tr.warm, #source .source-file tr.hot')].map((r) => r.cells[3].textContent.trim())"
    check("two clicks to the line", settled(b, heavy + ".length", 1) and b.js("return " + heavy), ["pause_ns(8700000); /* the disk is slow */"])


def compare_source(b, what, rows, *args):
    """The pane's lines with weight are those of `perfkit source`."""
    got = {r[2].lstrip("+"): (r[0], r[1], r[3]) for r in b.js("return " + rows) if r[1]}
    shown = json.loads(ask("source", *LOCAL, "--json", *args))
    share = lambda x: "%.1f %%" % (100 * x / shown["of"]["weight"]) if x else ""
    want = {str(l["line"] or ""): (share(l["self"] + l["inlined"]), share(l["total"]), l.get("text") or ("" if l["line"] else "(no line is known)"))
            for l in shown["shown"]["files"][0]["lines"]}
    check(what, got, want)


def check_one_thread(b):
    """A recording whose first thread has waits: no idle task stands before it."""
    source = SRC + "/testdata/deep/perf.data.gz"
    show(b, report("deep", source))
    want = folded(ask("collapse", *LOCAL, "--offcpu", "--unit", "ns", source))
    check("off-CPU of one thread", (sorted(b.js("return report.foldTree(report.sumOff(0, report.head().span_ns, null))")), len(want) > 1), (want, True))


def check_without_worker(b):
    """Where no worker can be made, the page sums up itself."""
    script = b.cdp("Page.addScriptToEvaluateOnNewDocument", source="window.Worker = undefined;")
    show(b, os.path.abspath("demo.html"), "#pane=flame")
    check("without a worker", b.js("return [report.ms().inWorker, report.flame('cpu').flame.boxes().length > 20]"), [False, True])
    b.cdp("Page.removeScriptToEvaluateOnNewDocument", **script)


SITES = """return [...document.querySelectorAll('#sites table')].flatMap((t) => [[...t.tHead.rows[0].cells].map((c) => c.innerText),
	...[...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.innerText))])"""


def check_sites(b):
    """The sites that are set apart, with their programs; where spans are ranked, too."""
    source, with_requests = SRC + "/testdata/requests/serve.tar.zst", ["--with", SRC + "/testdata/requests/requests.csv"]
    shown = []
    for options in ([], ["--by", "wait"]):
        path = report("sites", source, *with_requests, *options)
        show(b, path, "#pane=sites")
        shown.append(b.js(SITES))
    rows = json.loads(ask("report", *LOCAL, "--all", "--by", "site", "--json", source))["rows"]
    ranked = {s["id"] for s in json.loads(ask("tail", *LOCAL, "--all", "--json", source))["sites"] if s["shown_as"] == "likely"}
    unclear = sorted(r["site"] for r in rows if r["verdict"] == "unclear" and r["site_id"] not in ranked)
    check("sites of a report of spans", sorted(r[0] for r in shown[0][1:]), unclear)
    check("they are those of waits", shown[0], shown[1])
    check("their programs", (shown[0][0][:3], [r[:2] for r in shown[0] if r[0].startswith("servers")]),
          (["site", "program", "count"], [["servers: sleep in servers()", "serve"]]))
    show(b, os.path.abspath("orders.html"), "#pane=sites")
    check("of one program", b.js(SITES)[0][:2], ["site", "count"])


def check_map(b):
    """What the map shows is said beside it; what is missing is hatched."""
    path = os.path.abspath("sites.html")
    show(b, path)
    check("the map is explained", b.js("return document.getElementById('says').textContent"),
          "Spans by begin and length; dots: the 40 longest; triangles: the worst; hatched: missing")
    red = """const c = document.getElementById('heat'), g = c.getContext('2d'), red = (a, z) => {
        const at = (ns) => 62 + ns / report.head().span_ns * (c.clientWidth - 62), w = Math.max(Math.round(at(z) - at(a)) - 2, 1);
        const px = g.getImageData(Math.round(at(a)) + 1, 20, w, 40).data; let n = 0;
        for (let i = 0; i < px.length; i += 4) n += px[i] > px[i + 1] + 30 ? 1 : 0; return n / (px.length / 4); };
        const l = report.data().loss; return [l.t.length, red(l.t[0], l.t[0] + l.ns[0]), red(0, l.t[0] - 1)]"""
    left, hatched, blank = b.js(red)
    check("what is missing is hatched", (left > 0, 0.1 < hatched < 0.8, blank), (True, True, 0))


BOXES = """return Object.fromEntries(arguments[0].map((q) => { const e = document.querySelector(q), r = e && e.getBoundingClientRect();
	return [q, r ? [r.left, r.top, r.right, r.bottom].map(Math.round) : null]; }))"""
# Where a moment and a length lie on the map.
PLACE = """const c = document.getElementById('heat').getBoundingClientRect(), {heat} = report;
	return [c.left + heat().xOf(arguments[0]), c.top + 12 + heat().yOf(arguments[1])]"""


def drag(b, a, z, key=None):
    """With the mouse from one point to another."""
    moves = [{"type": "pointerMove", "x": round(a[0]), "y": round(a[1])}, {"type": "pointerDown", "button": 0},
             {"type": "pointerMove", "x": round((a[0] + z[0]) / 2), "y": round((a[1] + z[1]) / 2)},
             {"type": "pointerMove", "x": round(z[0]), "y": round(z[1])}, {"type": "pointerUp", "button": 0}]
    sources = [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": moves}]
    if key:
        moves.insert(0, {"type": "pause"})
        sources.insert(0, {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": key}] + [{"type": "pause"}] * 5 + [{"type": "keyUp", "value": key}]})
    b.call("POST", b.base + "/actions", {"actions": sources})
    b.call("DELETE", b.base + "/actions")


def check_first_screen(b):
    """The answer is on the first screen: headline, the worst episode's picture, what differs, the map."""
    b.size(1400, 900)
    path = os.path.abspath("orders.html")
    show(b, path)
    parts = ["#bar", "#answer", ".told", "#case .what", "#case .island", ".differs", "#heat"]
    boxes = b.js(BOXES, parts)
    check("the first screen has all", {q: r is not None and r[1] >= 0 and r[3] <= 900 for q, r in boxes.items()}, {q: True for q in parts})
    check("the picture is left, what differs right", boxes["#case .island"][2] <= boxes[".differs"][0], True)
    check("the headline is one line", boxes["#answer"][3] - boxes["#answer"][1] <= 28, True)
    check("the picture has no head and no tools", b.js("const s = document.querySelector('#case .island').shadowRoot.querySelector('svg');"
          "return ['#title', '#subtitle', '#tools'].map((q) => s.querySelector(q) ? s.querySelector(q).getBoundingClientRect().height : 0)"), [0, 0, 0])
    rows = b.js("return [...document.querySelectorAll('.differs tbody tr')].map((r) => r.innerText.split(/\\s*\\t\\s*/).map((x) => x.trim()).filter((x) => x))")
    check("what differs", ([rows[0][0], rows[0][-1]], [r for r in rows if r[-1] == "match_order"][0][:2]), (["12.2 ms", "waiting: lock"], ["100 %", "\u2013"]))
    check("no plumbing among it", [r[-1] for r in rows if r[-1] in ("__schedule", "entry_SYSCALL_64_after_hwframe", "start_thread", "__clone3")], [])
    b.js("document.querySelector('#case .stepper button:last-child').click()")
    check("the next one", settled(b, "document.querySelector('#case .count').textContent", "2/10"), "2/10")
    check("is in the address", "ep=2" in b.url(), True)
    b.js("history.back()")
    check("Back: the first again", settled(b, "document.querySelector('#case .count').textContent", "1/10"), "1/10")
    where = "const ep = report.head().tail.episodes[3]; return [Number(BigInt(report.head().tail.recording.origin_ns) + BigInt(ep.start_ns) - BigInt(report.head().from_ns)), ep.duration_ns]"
    x, y = b.js(PLACE, *b.js(where))
    b.click(x, y)
    check("a click on a dot opens its episode", b.js("return [report.view.ep, report.view.stretch]"), [4, None])
    b.click(x, boxes["#heat"][1] + 4)
    check("so does one on its triangle", b.js("return report.view.ep"), 4)
    mid = (boxes["#heat"][1] + boxes["#heat"][3]) / 2
    drag(b, (300, mid - 5), (500, mid + 15))
    check("a drag selects time, however crooked", b.js("return [report.view.stretch !== null, report.view.band]"), [True, None])
    drag(b, (300, mid - 15), (500, mid + 15), "\ue008")
    check("a Shift-drag a band of lengths", b.js("return report.view.band !== null && report.view.band.high > 10 * report.view.band.low"), True)
    show(b, os.path.abspath("demo.html"))
    settled(b, "!!report.flame('cpu')", True)
    parts = ["#case .answer", "#case .told", "#flame .island", "#sandwich table", "#heat"]
    boxes = b.js(BOXES, parts)
    check("without waits: graph, functions and map", {q: r is not None and r[1] >= 0 and r[1] < 780 for q, r in boxes.items()}, {q: True for q in parts})
    check("the map is seen whole", boxes["#heat"][3] <= 900, True)
    check("and the line that would record more", b.js("return document.querySelector('#case .line pre').textContent.startsWith('perfkit record ')"), True)
    for width in (375, 800):
        for name in ("orders", "demo", "labelled"):
            b.size(width, 800)
            show(b, os.path.abspath(name + ".html"))
            time.sleep(0.3)
            check("%s: %d px without sideways scroll" % (name, width), b.js("return document.documentElement.scrollWidth"), width)
    b.size(0, 0)


def check_bar(b):
    """The bar stays; programs, the selection, the search, the card of keys."""
    source = SRC + "/testdata/incidents/disk.tar.zst"
    path = report("programs", source)
    show(b, path)
    b.js("window.scrollTo(0, 700)")
    check("the bar stays on top", b.js("const r = document.getElementById('bar').getBoundingClientRect(); return [r.top, r.height]"), [0, 40])
    b.js("window.scrollTo(0, 0)")
    chips = b.js("return [...document.querySelectorAll('#chips button')].map((x) => x.textContent)")
    check("programs", (chips[0], len(chips) > 2), ("all", True))
    name = b.js("return report.programOf(report.data().thread.tid.indexOf(report.head().tail.episodes[0].tid + 1))")
    whole = b.js("return report.sumOff(0, report.head().span_ns, null).total[0]")
    b.js("report.chooseProgram('program:' + arguments[0])", name)
    pids = b.js("const t = report.data().thread; return [...new Set([...t.pid].filter((p, i) => p > 1 && report.programOf(i) === arguments[0]))].map((p) => p - 1)", name)
    want = folded(ask("collapse", *LOCAL, "--offcpu", "--unit", "ns", "--pid", ",".join(map(str, pids)), source))
    check("a program's waits are collapse's of its processes", b.js("return report.foldTree(report.sumOff(0, report.head().span_ns, null))"), want)
    check("which are fewer", sum(int(x.split()[-1]) for x in want) < whole, True)
    check("the options say so", b.js("return document.querySelector('#selected code').textContent"), "--pid " + ",".join(map(str, pids)))
    tids = b.js("return [...new Set(report.caseEpisodes().map((ep) => report.programOf(report.data().thread.tid.indexOf(ep.tid + 1))))]")
    check("the episodes are its own", tids, [name])
    check("the headline, too", name in b.js("return document.getElementById('answer').textContent"), True)
    b.js("document.getElementById('pane-overview').scrollIntoView()")
    check("what does not follow says so", settled(b, "document.querySelectorAll('.badge').length > 0", True), True)
    b.js("document.activeElement.blur()")
    b.keys("Escape")
    check("Escape clears", b.js("return [report.view.who, document.querySelectorAll('#selected .clear').length]"), ["", 0])
    b.keys("?")
    check("? shows all keys", b.js("return document.getElementById('help').open && document.querySelectorAll('#help dt').length > 20"), True)
    b.keys("Escape")
    check("Escape closes them", b.js("return document.getElementById('help').open"), False)
    show(b, os.path.abspath("demo.html"), "#pane=flame")
    b.js("document.getElementById('find').focus()")
    b.keys(*"sort")
    check("the search is of all views", settled(b, "report.flame('cpu').flame.state.search", "sort"), "sort")
    check("rows that do not match are dim", settled(b, "document.querySelectorAll('#sandwich tr.unmatched').length > 3", True), True)


def check_workspace(b):
    """Parts follow a click on a thread; plumbing is folded; Undo works after the first step; narrow windows."""
    path = os.path.abspath("orders.html")
    show(b, path, "#pane=timeline")
    settled(b, "!!report.timeline()", True)
    rows = "report.timeline().timeline.panels[0].rows.filter((r) => r.kind === 2 && r.shown).map((r) => r.thread.comm)"
    check("all threads have rows", {"front-0", "front-1", "orders", "snapshot"} <= set(b.js("return " + rows)), True)
    b.js("const n = [...report.timeline().querySelectorAll('.names .thread')].find((e) => e.textContent.startsWith('front-1'));"
         "n.dispatchEvent(new MouseEvent('click'))")
    tid = b.js("return report.timeline().timeline.panels[0].rows.find((r) => r.kind === 2 && r.thread.comm === 'front-1').thread.tid")
    check("a click on a name chooses the thread", settled(b, "report.view.who", "tid:%d" % tid), "tid:%d" % tid)
    check("and the timeline has its row", settled(b, rows, ["front-1"]), ["front-1"])
    b.js("report.view.pane = 'flame'; report.showPane()")
    first = "[...new Set(report.flame('off').flame.boxes().filter((x) => x.row === 1).map((x) => x.name))]"
    settled(b, "!!report.flame('off')", True)
    check("the flame graph its stacks", settled(b, first, ["front-1"]), ["front-1"])
    thin = "report.flame('off').flame.boxes().filter((x) => x.isThin).length"
    check("plumbing is thin", b.js("return %s > 0" % thin), True)
    b.js("history.replaceState(null, '', location.hash)")
    undo = "report.flame('off').querySelector('#b-undo').classList.contains('off')"
    b.js("report.flame('off').flame.setButtons()")
    check("nothing to undo", b.js("return " + undo), True)
    b.js("report.flame('off').querySelector('#b-plumbing').dispatchEvent(new MouseEvent('click'))")
    check("until plumbing is shown", (b.js("return " + thin), b.js("return " + undo)), (0, False))
    b.js("report.flame('off').querySelector('#b-undo').dispatchEvent(new MouseEvent('click'))")
    check("which Undo takes back", settled(b, thin + " > 0", True), True)
    for name in ("orders", "demo"):
        show(b, os.path.abspath(name + ".html"))
        for width in (375, 800):
            b.size(width, 800)
            time.sleep(1)
            check("%s at %d px does not scroll sideways" % (name, width), b.js("return document.documentElement.scrollWidth <= innerWidth"), True)
        b.size(0, 0)


def finger(b, points):
    """One finger, or two, along the points: [(x, y), ...] of each step."""
    b.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points[0])])
    for step in points[1:]:
        b.cdp("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(step)])
    b.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def check_timeline_pane(b):
    """The strip selects, the legend is a switch, the episode's wakeups are drawn unasked, fingers zoom, paper has all."""
    show(b, os.path.abspath("orders.html"), "#pane=timeline")
    settled(b, "!!report.timeline()", True)
    chain = "(report.timeline().querySelector('.arrows.chosen').getAttribute('d').match(/M/g) || []).length"
    check("wakeups of the worst episode, without pointing", settled(b, chain + " > 0", True), True)
    b.js("document.getElementById('pane-timeline').scrollIntoView()")
    keys = "Object.fromEntries([...report.timeline().querySelectorAll('#legend .key text')].map((t) => [t.firstChild.textContent, t.textContent]))"
    check("the legend tells the time in view", settled(b, keys + ".lock", "lock 216 ms"), "lock 216 ms")
    dim = "[...report.timeline().querySelectorAll('.bars path')].filter((p) => p.getAttribute('opacity') < 1).length"
    press = "[...report.timeline().querySelectorAll('#legend .key')].find((g) => g.textContent.includes('lock')).dispatchEvent(new MouseEvent('click'))"
    b.js(press)
    check("a click dims all else", settled(b, dim + " > 3", True), True)
    b.js(press)
    check("another shows all", settled(b, dim, 0), 0)
    left, top, right, foot = b.js("const r = document.getElementById('strip').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]")
    at, mid = lambda share: left + share * (right - left), (top + foot) / 2
    drag(b, (at(0.2), mid), (at(0.4), mid))
    near = "report.view.stretch && [report.view.stretch.from, report.view.stretch.to].map((t) => Math.round(10 * t / report.head().span_ns))"
    check("a drag over the strip selects", settled(b, near, [2, 4]), [2, 4])
    drag(b, (at(0.3), mid), (at(0.7), mid))
    check("one of its window moves that", settled(b, near, [6, 8]), [6, 8])
    drag(b, (at(0.8), mid), (at(0.9), mid))
    check("one of its edge that", settled(b, near, [6, 9]), [6, 9])
    shown = "Math.round(10 * report.timeline().timeline.view(0).from / report.head().span_ns)"
    check("the timeline follows", settled(b, shown, 6), 6)
    x, y = (left + right) / 2, foot + 160
    finger(b, [[(x - 20, y), (x + 20, y)], [(x - 80, y), (x + 80, y)], [(x - 160, y), (x + 160, y)]])
    check("two fingers zoom", settled(b, "report.view.stretch.to - report.view.stretch.from < report.head().span_ns / 10", True), True)
    show(b, os.path.abspath("orders.html"))
    b.size(718, 1000) # of A4
    b.printed(True)
    check("paper has all, and no more than its width", b.js("return [document.querySelectorAll('#flame .island').length > 0,"
          "document.querySelectorAll('#sandwich tr').length > 9, document.querySelectorAll('#sites tr').length > 1, document.documentElement.scrollWidth <= innerWidth]"), [True] * 4)
    b.printed(False)
    b.size(0, 0)


def check_losses(b):
    """Of losses before a CPU's first record only the end is known: they begin with the recording."""
    subprocess.run([PERFKIT, "timeline", *LOCAL, "--all", SRC + "/testdata/doctor/lost-records.data.gz", "-o", "lost.svg"], check=True, stderr=subprocess.DEVNULL)
    b.open("file://" + os.path.abspath("lost.svg"))
    losses = b.js("return document.documentElement.timeline.panels[0].losses.map((l) => [l.t, l.length])")
    check("losses from the begin on", (len(losses) > 5, min(t for t, _ in losses), min(ns for _, ns in losses) >= 0), (True, 0, True))


def check_capture(b):
    """The page survives having no width, as while all of it is captured."""
    path = os.path.abspath("orders.html")
    for pane in ("overview", "flame", "timeline", "episodes"):
        show(b, path, "#pane=" + pane)
        size = b.js("const r = document.documentElement; return [r.scrollWidth, r.scrollHeight]")
        png = b.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                    clip={"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1})
        check("%s: captured" % pane, len(png["data"]) > 10000, True)
        b.js("document.body.style.display = 'none'; window.innerWidth = 1; window.dispatchEvent(new Event('resize'))")
        check("%s: goes on" % pane, b.js("return 1"), 1)


def check_hostile(b):
    """Names of hostile recordings run nothing, and nothing is fetched."""
    for source in [SRC + "/testdata/worst-names/perf.data", "seeds/perfdata/story-nasty"]:
        path = report("hostile", source, "--idle", "--system", "--title", "<img src=x onerror=window.hacked=1>")
        show(b, path)
        for pane in b.js("return [...document.querySelectorAll('#nav button')].map((x) => x.id.slice(9))"):
            b.js("report.view.pane = arguments[0]; report.showPane()", pane)
        check("hostile names run nothing", b.js("return window.hacked || document.querySelectorAll('main img, header img').length"), 0)
        check("nothing hides or turns the text", b.js("return /[\\u200b-\\u200f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)"), False)
        check("nothing is fetched", b.js("return performance.getEntriesByType('resource').filter((r) => !r.name.startsWith('blob:')).length"), 0)


def check_axe(b):
    """No fault of accessibility, where axe-core is installed."""
    readers = os.path.join(os.path.dirname(os.path.abspath(PERFKIT)), "readers", "node_modules")
    axe = os.environ.get("AXE_CORE", os.path.join(readers, "axe-core", "axe.min.js"))
    if not os.path.exists(axe):
        print("left out: axe-core is not here (make readers)")
        return
    views = [("orders", x) for x in ("", "#pane=flame", "#pane=flame&graph=tail&of=3", "#pane=timeline", "#ep=3", "#pane=sites")]
    views += [("demo", ""), ("demo", "#pane=flame&fn=main"), ("gaps-exact", "#pane=timeline"), ("labelled", "#pane=flame&label=table%3Dusers")]
    for name, fragment, dark in [(*x, False) for x in views] + [(*views[0], True), (*views[6], True)]:
        b.dark(dark)
        show(b, os.path.abspath(name + ".html"), fragment)
        time.sleep(0.3)
        b.cdp("Runtime.evaluate", expression=open(axe).read())
        b.js("window.found = null; axe.run({resultTypes: ['violations']}).then((r) => { window.found = r.violations"
             ".map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 90)).join(' | ')); });")
        for _ in range(200):
            found = b.js("return window.found")
            if found is not None:
                break
            time.sleep(0.05)
        check("axe-core, %s%s, %s" % (name, fragment, "dark" if dark else "light"), found, [])
    b.dark(False)


def check_firefox():
    """Firefox opens a report, and sums and draws as Chromium does."""
    if not firefox.program():
        print("left out: Firefox is not installed")
        return
    with firefox.Firefox() as b:
        path = os.path.abspath("orders.html")
        show(b, path)
        compare(b, "Firefox: off-CPU", "report.sumOff(%d, %d, null)", ["--offcpu", "--unit", "ns"], ORDERS)
        compare_wall(b, path, ORDERS)
        show(b, os.path.abspath("demo.html"))
        compare(b, "Firefox: CPU", "report.sumCpu(%d, %d, report.view.event)", ["--symfs", SRC + "/testdata/demo/symfs"], DEMO)
        show(b, path, "#pane=flame&graph=off")
        a, z, clock = list(stretches(b, 3))[2]
        check("Firefox: boxes are drawn", b.js("return report.flame('off').flame.boxes().length") > 50, True)
        b.js("report.choose({from: %d, to: %d}, null); report.view.pane = 'timeline'; report.showPane()" % (a, z))
        check("Firefox: the timeline follows",
              settled(b, "report.timeline() ? Math.round(report.timeline().timeline.view(0).from) : -1", a), a)


def main():
    if missing():
        print("%s is not installed" % missing())
        sys.exit(77)
    with Browser(1280, 900) as b:
        check_orders(b)
        check_thinned(b)
        check_gaps(b)
        check_cut_gaps(b)
        check_merged(b)
        check_labels(b)
        check_cgroups(b)
        check_hostile_label(b)
        check_demo(b)
        check_source(b)
        check_one_thread(b)
        check_without_worker(b)
        check_hostile(b)
        check_sites(b)
        check_map(b)
        check_first_screen(b)
        check_bar(b)
        check_workspace(b)
        check_timeline_pane(b)
        check_losses(b)
        check_capture(b)
        check_axe(b)
    try:
        check_firefox()
    except firefox.DoesNotStart as e:
        print("left out: %s" % e)
    sys.exit(1 if FAILED else 0)


main()
