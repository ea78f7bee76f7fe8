"""answer.py PERFKIT SRC - the first screen of reports, and what can be done to it, in a real browser.

Prints one line per failed check; exit 1 if any failed, 77 without a browser.
"""
import os
import re
import subprocess
import sys
import time

from webdriver import Browser, missing

PERFKIT, SRC = sys.argv[1:3]
DATA = SRC + "/testdata/"
ORDERS = DATA + "orders/orders.tar.zst"
LOCAL = ["-q", "--no-local", "--force"]
# Recordings whose truth is known, and what their first screen has to name.
ANSWERS = [("orders", [ORDERS], "snapshot held the lock"), ("disk", [DATA + "incidents/disk.tar.zst"], "waiting for a device"),
           ("serve", [DATA + "requests/serve.tar.zst", "--with", DATA + "requests/requests.csv"], "snapshot held the lock"),
           ("one-cpu", [DATA + "orders-one-cpu/orders.tar.zst"], "snapshot held the lock")]
FAILED = []


def check(what, got, want=True):
    if got != want:
        FAILED.append(what)
        print("FAILED %s: got %.300r, want %.300r" % (what, got, want))


def report(name, *options):
    out = os.path.abspath(name + ".html")
    subprocess.run([PERFKIT, "html", *LOCAL, "-o", out, *options], check=True, stderr=subprocess.DEVNULL)
    return out


def settled(b, script, want=True, seconds=4):
    for _ in range(20 * seconds):
        got = b.js("return " + script)
        if got == want:
            break
        time.sleep(0.05)
    return got


def show(b, path, fragment=""):
    b.open("about:blank")
    b.open("file://" + path + fragment)
    check(os.path.basename(path) + fragment + ": opens", settled(b, "document.documentElement.dataset.ready || ''", "1", 20), "1")


def first_screens(b):
    """The headline names the answer; its bar counts what it counts; threads on the screen are those of the episode."""
    for name, options, answer in ANSWERS:
        show(b, report(name, *options))
        said = b.js("return document.getElementById('answer').textContent")
        check("%s: the headline" % name, answer in said or said)
        of = re.match(r"(\d+) of (\d+) ", said)
        told = b.js("return report.head().told")
        if of:
            check("%s: its bar counts the same" % name, [told["count"], told["of"]], [int(x) for x in of.groups()])
        check("%s: shares" % name, 0 < told["ns"] <= told["of_ns"])
        check("%s: no more than three lines" % name, b.js("const a = document.getElementById('answer'); return a.getBoundingClientRect().height < 80"))
        check("%s: nothing says __schedule" % name, b.js("return [...document.querySelectorAll('#case .where, #case summary')].filter((x) => x.innerText.includes('__schedule')).length"), 0)
        shown = settled(b, "!!document.querySelector('#case .island')") and b.js(
            "return document.querySelector('#case .island').shadowRoot.querySelector('svg').timeline.panels[0].rows.filter((r) => r.kind === 2).map((r) => r.thread.tid)")
        ep = b.js("const all = report.caseEpisodes(), told = report.head().told.rank; const e = all.find((x) => x.rank === told) || all[0];"
                  "return [e.tid, ...(e.chain || []).map((x) => x.tid), ...(e.co_runners || e.ahead || []).map((x) => x.tid)]")
        check("%s: its thread has the first row" % name, shown[0] if shown else None, ep[0])
        check("%s: few rows" % name, len(shown) <= 8)


EARLY = """window.seen = {}; new MutationObserver(() => { const e = document.getElementById('early');
    if (e && !seen.early) seen.early = [performance.now(), e.textContent, document.documentElement.dataset.ready || ''];
    if (document.documentElement.dataset.ready && !seen.ready) seen.ready = performance.now(); }).observe(document, {subtree: true, childList: true, attributes: true});"""


def early(b):
    """The headline's bar and the worst episode are there before the rest is decoded, and then give way."""
    script = b.cdp("Page.addScriptToEvaluateOnNewDocument", source=EARLY)
    show(b, os.path.abspath("orders.html"))
    at, text, ready = b.js("return seen.early || [0, '', '']")
    check("the worst episode comes first", ("front-0/8859, 12.2 ms" in text, "held the lock" in text, ready), (True, True, ""))
    check("then the rest", 0 < at < b.js("return seen.ready"))
    check("which replaces it", b.js("return [document.querySelectorAll('#early').length, document.querySelectorAll('.told').length]"), [0, 1])
    b.cdp("Page.removeScriptToEvaluateOnNewDocument", **script)


def meaning(b):
    """A key of a legend leaves only that, everywhere; Escape, its own button and Back show all again."""
    path = report("orders", ORDERS)
    show(b, path, "#pane=timeline")
    settled(b, "!!report.timeline()")
    sums = "Object.fromEntries([...document.querySelectorAll('#heat-keys .key')].map((x) => [x.childNodes[1].textContent, x.querySelector('.dim').textContent.trim()]))"
    check("the map tells its colours", b.js("return " + sums)["lock"], "216 ms")
    whole = b.js("return report.sumOff(0, report.head().span_ns, null).total[0]")
    locks = [x.split(";") for x in subprocess.run([PERFKIT, "collapse", *LOCAL, "--offcpu", "--unit", "ns", ORDERS], check=True, stdout=subprocess.PIPE,
                                                  stderr=subprocess.DEVNULL).stdout.decode().splitlines()]
    want = sum(int(x[-1].rsplit(" ", 1)[1]) for x in locks if "__lll_lock_wait" in x and "[runnable]" not in ";".join(x))
    dots = b.js("return report.heat().dots.length")
    b.js("[...report.timeline().querySelectorAll('#legend .key')].find((g) => g.textContent.startsWith('lock')).dispatchEvent(new MouseEvent('click'))")
    check("a key of the timeline", settled(b, "report.view.only", "lock"), "lock")
    check("only its waits, to the nanosecond", b.js("return report.sumOff(0, report.head().span_ns, null).total[0]"), want)
    check("only its dots", b.js("const d = report.heat().dots; return [d.length > 0, d.length < arguments[0], d.every((x) => x.name === 'lock')]", dots), [True] * 3)
    b.js("report.view.graph = 'off'; report.view.pane = 'flame'; report.showPane()")
    check("the table, too", settled(b, "[...document.querySelectorAll('#sandwich tbody tr')].map((r) => r.cells[0].innerText)[0]", "match_order"), "match_order")
    check("and the graph, made by the worker", settled(b, "report.flame('off') && report.flame('off').flame.tree().total[0]", want), want)
    check("the episode's timeline", settled(b, "document.querySelector('#case .island').shadowRoot.querySelector('svg').timeline.state.only", "lock"), "lock")
    url = b.url()
    b.js("document.activeElement.blur()")
    b.keys("Escape")
    check("Escape shows all", settled(b, "report.sumOff(0, report.head().span_ns, null).total[0]", whole), whole)
    check("in the timelines, too", settled(b, "report.timeline().timeline.state.only", ""), "")
    b.js("history.back()")
    check("Back takes that back", settled(b, "report.view.only", "lock"), "lock")
    show(b, path, url[url.index("#"):])
    check("a link restores it", b.js("return [report.view.only, document.querySelector('#selected strong').textContent]"), ["lock", "lock"])
    b.js("document.querySelector('#heat-keys .key').click()")
    check("a key of the map shows all", settled(b, "report.view.only", ""), "")


def cut(b):
    """A report made with --time says where that lies, and counts from the recording's begin."""
    show(b, report("orders", ORDERS))
    check("a whole one does not", b.js("return document.querySelectorAll('#selected .cut').length"), 0)
    at = int(b.js("return report.head().from_ns"))
    span, ep = b.js("return [report.head().span_ns, report.head().tail.episodes[0].start_ns]")
    time_option = ",".join("%d.%09d" % divmod(at + t, 10**9) for t in (400000000, 700000000))
    show(b, report("cut", ORDERS, "--time", time_option))
    band = b.js("const p = document.querySelector('#selected .cut .part'), o = p.parentNode.getBoundingClientRect(), r = p.getBoundingClientRect();"
                "return [(r.left - o.left) / o.width, r.width / o.width]")
    check("its band", [abs(band[0] - 400000000 / span) < 0.03, abs(band[1] - 300000000 / span) < 0.03], [True, True])
    check("its option", b.js("return document.querySelector('#selected .cut').title"), "--time " + time_option)
    check("moments are the recording's", "+%d ms" % round(ep / 1e6) in b.js("return document.querySelector('#case .where').textContent"))


BOX = "document.getElementById('%s').getBoundingClientRect()"


def hands(b):
    """Wheel, w a s d, Escape, Undo, Enter, touch."""
    show(b, os.path.abspath("orders.html"), "#pane=timeline")
    settled(b, "!!report.timeline()")
    b.js("document.getElementById('pane-timeline').scrollIntoView()")
    b.js("report.timeline().querySelector('[tabindex][role=application]').focus()")
    span = "Math.round(report.timeline().timeline.view(0).to - report.timeline().timeline.view(0).from)"
    whole = b.js("return " + span)
    b.keys("w", "w")
    check("w zooms", b.js("return " + span), round(whole / 4))
    start = b.js("return report.timeline().timeline.view(0).from")
    b.keys("d")
    check("d moves", b.js("return report.timeline().timeline.view(0).from") > start)
    b.keys("a", "s")
    check("a and s go back", b.js("return " + span), round(whole / 2))
    check("the page follows", settled(b, "report.view.stretch !== null"))
    undo = "report.timeline().querySelector('#b-undo')"
    check("Undo is on", settled(b, "!%s.classList.contains('off')" % undo))
    b.js("document.activeElement.blur()")
    b.keys("Escape")
    check("Escape clears", settled(b, "report.view.stretch", None), None)
    b.js(undo + ".dispatchEvent(new MouseEvent('click'))")
    check("Undo takes that back", settled(b, "report.view.stretch !== null"))
    box = b.js("const r = %s; return [r.left + r.width / 2, r.top + 150]" % (BOX % "timeline-box"))
    for ctrl, what in ((0, "scrolls"), (2, "zooms")):
        before = b.js("return [scrollY, %s]" % span)
        b.cdp("Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0, deltaY=120 if not ctrl else -120, modifiers=ctrl)
        time.sleep(0.6)
        after = b.js("return [scrollY, document.getElementById('timeline-box').scrollTop, %s]" % span)
        moved = after[0] != before[0] or after[1] > 0
        check("the wheel %s" % what, (moved, after[2] < before[1]), (not ctrl, bool(ctrl)))
    show(b, os.path.abspath("orders.html"), "#pane=flame&graph=off")
    settled(b, "!!report.flame('off')")
    b.js("document.getElementById('find').focus()")
    b.keys(*"sync")
    time.sleep(0.5)
    b.keys("Enter")
    widest = b.js("const hit = report.flame('off').flame.boxes().filter((x) => /sync/.test(x.name)); return hit.sort((a, b) => b.w - a.w)[0].name")
    check("Enter goes to the widest hit", settled(b, "report.flame('off').querySelector('#details').textContent.includes('%s')" % widest))


LONG = "std::map<std::vector<std::pair<int, std::basic_string<char, std::char_traits<char>, std::allocator<char> > > >, Book<%s> >::insert_order" % ("Limit, " * 60)


def names(b):
    """A name of 600 characters takes a line of its place; its own name is whole."""
    with open("long.folded", "w") as f:
        f.write("app;main;%s;work 900\napp;main;other 100\n" % LONG)
    subprocess.run([PERFKIT, "svg", "-q", "long.folded", "-o", "long.svg"], check=True)
    b.open("file://" + os.path.abspath("long.svg"))
    shown = b.js("return [...document.querySelectorAll('#frames text')].map((t) => t.textContent).filter((t) => t.includes('insert_order'))")
    check("long names end in their own", len(shown) > 0 and all(len(x) < 200 and x.endswith("insert_order") for x in shown))


def narrow(b):
    """375 to 3840 px: no sideways scroll, room for the plot."""
    for width in (375, 800, 1400, 3840):
        b.size(width, 900)
        for name in ("orders", "disk", "serve"):
            show(b, os.path.abspath(name + ".html"))
            settled(b, "!!document.querySelector('#case .island')")
            time.sleep(0.3)
            check("%s at %d px: no sideways scroll" % (name, width), b.js("return document.documentElement.scrollWidth <= innerWidth"))
            b.js("for (const s of document.querySelectorAll('select')) s.append(new Option('cgroup /a-long-path'.repeat(20), ''))")
            check("%s at %d px: nor by a long choice" % (name, width), b.js("return document.documentElement.scrollWidth <= innerWidth"))
            plot = b.js("const i = document.querySelector('#case .island'), s = i.shadowRoot.querySelector('svg'); return s.timeline.plotX / i.getBoundingClientRect().width")
            check("%s at %d px: names leave room" % (name, width), plot < 0.4)
            small = b.js("return [...document.querySelector('#case .island').shadowRoot.querySelectorAll('text')].filter((t) => t.textContent && t.getBoundingClientRect().width"
                         "&& parseFloat(getComputedStyle(t).fontSize) < 11).length")
            check("%s at %d px: no label below 11 px" % (name, width), small, 0)
    b.size(0, 0)


def faults(b):
    """What a critical designer found wrong, once more."""
    path = os.path.abspath("disk.html")
    show(b, path)
    check("map, timeline and difference on the first screen", b.js("return ['case', 'heat'].map((x) => document.getElementById(x).getBoundingClientRect().bottom <= 900)"), [True, True])
    check("decades on the map", b.js("return Number.isInteger(report.heat().low) && Number.isInteger(report.heat().high)"))
    check("marks of the worst", b.js("return report.heat().marked().length > 3"))
    box = b.js("const r = %s; return [r.left, r.top, r.width]" % (BOX % "heat"))
    dot = b.js("const h = report.heat(), d = h.dots.find((x) => x.ep > 1); return d && [h.xOf(d.t), h.yOf(d.ns) + 12, d.ep]")
    if dot:
        b.click(box[0] + dot[0], box[1] + dot[1])
        check("a click on a dot opens its episode", settled(b, "report.view.ep", dot[2]), dot[2])
    b.js("report.view.pane = 'timeline'; report.showPane()")
    settled(b, "!!report.timeline()")
    quiet = b.js("const p = report.timeline().timeline.panels[0]; return [report.timeline().timeline.state.quiet, p.rows.filter((r) => r.shown && ['irqs', 'probes'].includes(r.what)).length]")
    check("interrupts and own probes are off until asked", quiet, [False, 0])
    check("no arguments of probes in tooltips", b.js("const p = report.timeline().timeline; return p.panels[0].rows.flatMap((r) => r.offs ? p.linesOf(r, 0) : []).filter((l) => /mutex=|owner=/.test(JSON.stringify(l))).length"), 0)
    listed = b.js("return [...document.querySelectorAll('#flame-tabs select')].map((s) => s.options.length)")
    threads = b.js("return report.data().thread.tid.length")
    check("no more threads to choose than the report has, and their names", all(n <= 2 * threads + 1 for n in listed) or (listed, threads))
    check("an episode's number is one line", b.js("return [...document.querySelectorAll('#episodes td:first-child a')].every((a) => a.getClientRects().length === 1)"))
    check("episodes have bars and moments from the begin", settled(b, "document.querySelectorAll('#episodes .length').length > 3")
          and b.js("return [...document.querySelectorAll('#episodes tbody tr')].every((r) => r.cells[1].textContent.startsWith('+'))"))
    b.js("report.choose({from: report.head().span_ns / 4, to: report.head().span_ns / 2}, null)")
    b.js("window.scrollTo(0, document.body.scrollHeight)")
    check("what does not follow says so", settled(b, "[...document.querySelectorAll('.badge')].filter((x) => x.textContent === 'whole recording').length > 0"))
    demo = report("demo", DATA + "demo/perf.data", "--symfs", DATA + "demo/symfs")
    show(b, demo)
    show(b, report("cxx", DATA + "cxx-names/perf.data", "--symfs", DATA + "cxx-names/symfs"))
    check("long names leave room for the numbers", settled(b, "document.querySelectorAll('#sandwich tbody tr').length > 9")
          and b.js("const s = document.getElementById('sandwich'); return s.scrollWidth <= s.clientWidth && [...s.querySelectorAll('.scroll')].every((x) => x.scrollWidth <= x.clientWidth)"))
    show(b, report("lost", DATA + "doctor/lost-records.data.gz"))
    check("what was lost is said first", "perf lost 14,207 records" in b.js("return document.getElementById('case').textContent"))
    show(b, demo)
    check("and where nothing was, nothing", b.js("return document.querySelectorAll('.doubt').length"), 0)
    line = b.js("return document.querySelector('#case .line pre').textContent")
    check("what to record can be copied", line.startswith("perfkit record ") and b.js("return !!document.querySelector('#case .line button')"))


def main():
    if missing():
        print("%s is not installed" % missing())
        sys.exit(77)
    with Browser(1400, 900) as b:
        first_screens(b)
        early(b)
        meaning(b)
        cut(b)
        hands(b)
        names(b)
        narrow(b)
        faults(b)
    sys.exit(1 if FAILED else 0)


main()
