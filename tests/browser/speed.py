"""speed.py PERFKIT RECORDING [OPTIONS of html...] - what a report of a recording costs: to make it, in
bytes, to open it, per frame while its timeline moves, from a brush to its flame graph; and the aims for
two million samples and a million waits.

Times in Chromium are CPU time of the page's main thread; of brushes that of all its threads (the worker's, too), and
beside it how long one had to wait on this machine, however busy.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from webdriver import Browser, missing

FRAMES = 60
# Moves the view by a little in each frame; says how many frames there were.
MOVE = """const [from, to, step] = arguments, t = report.timeline().timeline, done = arguments[arguments.length - 1];
let n = 0; const next = () => { if (n++ === %d) { done(n); return; }
    t.setView(t.panels[0], from + n * step, to + n * step); requestAnimationFrame(next); }; requestAnimationFrame(next);""" % FRAMES


def busy(b):
    """Seconds of the main thread so far."""
    found = {m["name"]: m["value"] for m in b.cdp("Performance.getMetrics")["metrics"]}
    return found["TaskDuration"]


def pages(b):
    """CPU seconds of all threads of the browser's pages so far."""
    parents, ticks = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as f, open("/proc/%s/cmdline" % pid) as g:
                fields, args = f.read().rsplit(")", 1)[1].split(), g.read()
        except OSError:
            continue
        parents[int(pid)] = int(fields[1])
        if "--type=renderer" in args:
            ticks[int(pid)] = int(fields[11]) + int(fields[12])

    def is_ours(pid):
        return pid == b.driver.pid or pid in parents and is_ours(parents[pid])
    return sum(n for pid, n in ticks.items() if is_ours(pid)) / os.sysconf("SC_CLK_TCK")


def wait(b, script):
    for _ in range(1200):
        if b.js("return " + script):
            return
        time.sleep(0.05)
    raise RuntimeError("not within a minute: " + script)


def frames(b, share, step):
    """ms a frame while the timeline shows `share` of the time and moves by `step` of that."""
    span = b.js("return report.head().span_ns")
    start = (1 - share) / 2 * span - FRAMES / 2 * step * share * span
    start = max(start, 0)
    b.call("POST", b.base + "/execute/async", {"script": MOVE, "args": [start, start + share * span, 0]})
    before = busy(b)
    n = b.call("POST", b.base + "/execute/async", {"script": MOVE, "args": [start, start + share * span, step * share * span]})
    return 1e3 * (busy(b) - before) / n


def brushes(b, kind):
    """ms from a brush to its flame graph: of CPU time in the mean, and as the page waited for each."""
    span, all_ms, before = b.js("return report.head().span_ns"), [], 0
    for i in range(22):
        before = pages(b) if i == 2 else before
        a = span * (i % 6) / 12
        b.js("window.before = document.getElementById('flame').ms; document.getElementById('flame').ms = null; report.choose({from: %d, to: %d}, null)"
             % (a, a + span / 2))
        wait(b, "document.getElementById('flame').ms !== null")
        all_ms.append(b.js("return document.getElementById('flame').ms"))
    return 1e3 * (pages(b) - before) / 20, all_ms[2:]


# From a page's begin: the first paint, the headline with the worst episode, the whole first screen.
TOLD = """window.told = 0; new MutationObserver((_, o) => { if (document.getElementById('early')) { told = performance.now(); o.disconnect(); } })
    .observe(document, {subtree: true, childList: true});"""
OPENED = """return [performance.getEntriesByType('paint')[0].startTime, window.told, window.readyAt]"""
READY = """new MutationObserver((_, o) => { if (document.documentElement.dataset.ready) { window.readyAt = performance.now(); o.disconnect(); } })
    .observe(document, {subtree: true, attributes: true});"""


def opening(b, page):
    """Medians of three: CPU seconds of the main thread, ms to the first paint, to the headline, to all of the first screen."""
    b.cdp("Page.addScriptToEvaluateOnNewDocument", source=TOLD + READY)
    rows = []
    for _ in range(3):
        b.open("about:blank")
        before = busy(b)
        b.open("file://" + page)
        wait(b, "document.documentElement.dataset.ready")
        rows.append([busy(b) - before, *b.js(OPENED)])
    return [statistics.median(column) for column in zip(*rows)]


def make(perfkit, page, options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([perfkit, "html", "-q", "--no-local", "--force", "-o", page, *options], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def main():
    perfkit, *options = sys.argv[1:]
    if missing():
        sys.exit("%s is not installed" % missing())
    with tempfile.TemporaryDirectory() as tmp, Browser(1280, 900) as b:
        page = os.path.join(tmp, "report.html")
        user, system = make(perfkit, page, options)
        print("made in %.1f s user, %.1f s system; %.1f MB (aim 25)" % (user, system, os.path.getsize(page) / 1e6))
        b.cdp("Performance.enable", timeDomain="threadTicks")
        opened = opening(b, page)
        data = b.js("const d = report.data(); return [d.sample.t.length, d.wait.n, d.run.n]")
        print("%d samples, %d waits, %d runs; open after %.2f s (aim 1.5)" % (*data, opened[0]))
        print("waited %.0f ms for the first paint, %.0f for the headline (aim 500), %.0f for the first screen" % tuple(opened[1:]))
        for kind in ("cpu", "off", "wall"):
            b.js("Object.assign(report.view, {pane: 'flame', graph: '%s'}); report.showPane()" % kind)
            if not b.js("return !!document.getElementById('tab-flame-%s')" % kind):
                continue
            wait(b, "!!report.flame('%s')" % kind)
            cpu, ms = brushes(b, kind)
            print("brush to flame graph, %s: %.0f ms of CPU time; waited %.0f ms (aim 100), at most %.0f" % (kind, cpu, statistics.median(ms), max(ms)))
        if data[1]:
            before = busy(b)
            b.js("report.choose(null, null); report.view.pane = 'timeline'; report.showPane()")
            wait(b, "!!report.timeline()")
            time.sleep(3)
            print("timeline after %.2f s" % (busy(b) - before))
            for share in (0.9, 0.5, 0.1, 0.01):
                print("a frame that shows %.0f %% of it: %.1f ms (aim 12)" % (100 * share, frames(b, share, 0.001)))


main()
