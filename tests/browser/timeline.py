"""timeline.py TIMELINEAPI - drive timelines in a real browser; figures are worked out by hand.

Prints one line per failed check; exit 1 if any failed, 77 without a browser.
"""
import os
import subprocess
import sys
import time
import xml.dom.minidom

import timelines
from timelines import MS
from webdriver import Browser, missing

API = sys.argv[1]
FAILED = []
CHECKS = 0
T = "document.documentElement.timeline"
PLOT_X, PLOT_W = 200, 990  # 1200 px wide: names to 200, 10 px at the right


def check(what, got, want):
    global CHECKS
    CHECKS += 1
    if got != want:
        FAILED.append(what)
        print("FAILED %s: got %r, want %r" % (what, got, want))


def near(what, got, want, by):
    check(what, got is not None and abs(got - want) <= by or got, True)


def says(what, text, part):
    check(what, part in (text or "") or text, True)


def draw(name, text):
    path = os.path.abspath(name + ".svg")
    subprocess.run([API, path], input=text.encode("utf-8", "surrogateescape"), check=True)
    xml.dom.minidom.parse(path)
    return path


def show(b, path, fragment=""):
    b.open("about:blank")
    b.open("file://" + path + fragment)


def settle(b, seconds=0.35):
    """Wait for the drawing, the blocks out of sight, and the URL."""
    time.sleep(seconds)
    for _ in range(100):
        if not b.js("return %s.plots.some((p) => p.blocks.some((x) => x.stale))" % T):
            return
        time.sleep(0.05)


def view(b, panel=0):
    v = b.js("return %s.view(%d)" % (T, panel))
    return v["from"], v["to"]


def text(b, what):
    return b.js("return document.querySelector('%s').textContent" % what)


def tip(b):
    return b.js("return [...document.querySelectorAll('#tip text')].map((t) => t.textContent)")


def row_y(b, name, panel=0):
    """The middle of the row of a thread."""
    return b.js("const p = %s.plots[%d].panel, r = p.rows.find((r) => r.kind === 2 && "
                "r.thread.comm === '%s'); return r.y + r.h / 2" % (T, panel, name))


def x_of(b, ns, panel=0):
    return b.js("return %s.xOf(%d, %d)" % (T, panel, ns))


def drag(b, x0, x1, y, shift=False):
    steps = [{"type": "pointerMove", "x": round(x0), "y": round(y)},
             {"type": "pointerDown", "button": 0},
             {"type": "pointerMove", "x": round((x0 + x1) / 2), "y": round(y)},
             {"type": "pointerMove", "x": round(x1), "y": round(y)}, {"type": "pointerUp", "button": 0}]
    sources = [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}]
    if shift:
        steps.insert(0, {"type": "pause"})
        sources.insert(0, {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": "\ue008"}] +
                           [{"type": "pause"}] * 5})
    b.call("POST", b.base + "/actions", {"actions": sources})
    b.call("DELETE", b.base + "/actions")
    settle(b)


def wheel(b, x, y, delta, key=None):
    turn = [{"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": delta, "duration": 0}]
    sources = [{"type": "wheel", "id": "wheel", "actions": turn}]
    if key:
        turn.insert(0, {"type": "pause"})
        sources.insert(0, {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": key}, {"type": "pause"}]})
    b.call("POST", b.base + "/actions", {"actions": sources})
    b.call("DELETE", b.base + "/actions")
    settle(b)


def still_bars(path):
    """Colour and number of all bars as they stand in the file."""
    count = {}
    for g in xml.dom.minidom.parse(path).getElementsByTagName("g"):
        for e in g.getElementsByTagName("path") if g.getAttribute("class") == "bars" else ():
            key = e.getAttribute("stroke") + " " + e.getAttribute("stroke-width")
            count[key] = count.get(key, 0) + e.getAttribute("d").count("M")
    return count


def bars(b):
    """The same of what is drawn."""
    return b.js("""const all = {};
        for (const e of document.querySelectorAll('.bars path')) {
            const key = e.getAttribute('stroke') + ' ' + e.getAttribute('stroke-width');
            const d = e.getAttribute('d');
            if (d) all[key] = (all[key] || 0) + d.split('M').length - 1;
        }
        return all""")


def zoom_and_pan(b, path):
    show(b, path)
    check("no error at load", b.js("return typeof %s" % T), "object")
    check("whole view", view(b), (0, 40 * MS))
    y = row_y(b, "worker-0")
    drag(b, x_of(b, 10 * MS), x_of(b, 20 * MS), y)
    near("drag zooms: from", view(b)[0], 10 * MS, 0.06 * MS)
    near("drag zooms: to", view(b)[1], 20 * MS, 0.06 * MS)
    before = view(b)
    drag(b, PLOT_X + 300, PLOT_X + 201, y, shift=True)
    near("shift-drag pans", view(b)[0] - before[0], 1 * MS, 0.03 * MS)
    near("and keeps the length", view(b)[1] - view(b)[0], before[1] - before[0], 2)
    says("the URL has the view", b.url(), "z0=")
    url, kept = b.url(), view(b)
    b.open("about:blank")
    b.open(url)
    near("a link shows the same: from", view(b)[0], kept[0], 1)
    near("a link shows the same: to", view(b)[1], kept[1], 1)
    center = x_of(b, 15 * MS)
    wheel(b, center, y, 400)
    near("the wheel alone does not zoom", view(b)[1] - view(b)[0], kept[1] - kept[0], 1)
    wheel(b, center, y, -400, "\ue009")
    near("the wheel zooms around the pointer", x_of(b, 15 * MS), center, 1.5)
    check("closer", view(b)[1] - view(b)[0] < (kept[1] - kept[0]) / 2, True)
    b.keys("-")
    settle(b)
    b.keys("Escape")
    settle(b)
    check("Escape shows all", view(b), (0, 40 * MS))
    check("and the URL is clean", "#" in b.url(), False)
    b.keys("+")
    settle(b)
    check("+ halves", view(b), (10 * MS, 30 * MS))
    b.keys("Right")
    settle(b)
    check("Right moves a fifth", view(b), (14 * MS, 34 * MS))
    b.keys("a")
    settle(b)
    check("a moves back", view(b), (10 * MS, 30 * MS))
    b.keys("w", "d", "s")
    settle(b)
    check("w, d, s: closer, later, wider", view(b), (12 * MS, 32 * MS))


def tooltips(b, path):
    show(b, path, "#z0=9000000,24000000")
    y = row_y(b, "worker-0")
    b.move(x_of(b, 15 * MS), y)
    lines = tip(b)
    says("thread, state and time", lines[0], "worker-0 4712 \u00b7 blocked: lock \u00b7 10.9 ms")
    check("its own functions first, how it waits in one line", lines[2:4], ["in  handle < worker",
          "    \u2026 2 kernel frames, 2 of the runtime: schedule < futex_wait < pthread_mutex_lock \u2026"])
    says("who held the lock", " ".join(lines), "held by snapshot 4711 for 10.2 ms")
    says("waker", " ".join(lines), "lock let go by snapshot 4711 (task) in unlock < worker")
    b.move(x_of(b, 12 * MS), row_y(b, "snapshot"))
    says("running", tip(b)[0], "snapshot 4711 \u00b7 running \u00b7 4.0 ms \u00b7 CPU 3")
    cpu = b.js("const r = %s.panels[0].rows.find((r) => r.cpu === 3); return r.y + r.h / 2" % T)
    b.move(x_of(b, 12 * MS), cpu)
    says("who has the CPU", tip(b)[0], "CPU 3 \u00b7 snapshot 4711 \u00b7 4.0 ms")
    b.move(x_of(b, 10.3 * MS), row_y(b, "snapshot"))
    says("sample", " ".join(tip(b)), "copy_tables")
    b.click(x_of(b, 15 * MS), y)
    settle(b)
    says("a click selects", text(b, "#details"), "worker-0 4712")
    check("the holder is outlined", b.js("return document.querySelector('.because').getAttribute('d').length > 10"), True)
    b.js("[...document.querySelectorAll('#details .link')].find((e) => e.textContent.startsWith('held'))"
         ".dispatchEvent(new MouseEvent('click'))")
    settle(b)
    check("a click on the holder goes there", b.js("const s = %s.selected(); return "
          "%s.panels[0].rows[s.row].thread.comm" % (T, T)), "snapshot")
    show(b, path, "#z0=9000000,24000000")
    b.click(x_of(b, 15 * MS), row_y(b, "worker-0"))
    settle(b)
    b.keys("g")
    settle(b)
    s = b.js("return %s.selected()" % T)
    check("g goes to the waker", b.js("return %s.plots[0].panel.rows[%d].thread.comm" % (T, s["row"])),
          "snapshot")
    says("selection in the URL", b.url(), "i=")
    b.keys("Enter")
    settle(b)
    near("Enter zooms to it", view(b)[1] - view(b)[0], 3 * MS * 1.25, 0.02 * MS)


def preemption(b):
    show(b, draw("preempted", timelines.preempted().text()))
    b.move(x_of(b, 7 * MS), row_y(b, "md-engine"))
    says("who had the CPU", " ".join(tip(b)), "CPU had by fifo-hog 77 for 4.0 ms")
    b.click(x_of(b, 7 * MS), row_y(b, "md-engine"))
    settle(b)
    check("is outlined", b.js("return document.querySelector('.because').getAttribute('d').length > 10"), True)
    b.keys("h")
    settle(b)
    check("and h goes there", b.js("const s = %s.selected(); return %s.panels[0].rows[s.row].thread.comm" % (T, T)), "fifo-hog")


def searching(b, path):
    show(b, path, "#s=pthread_mutex_lock")
    settle(b)
    says("intervals are counted", text(b, "#matched"), "12 intervals of 74.5 ms")
    check("hits are marked", b.js("return document.querySelector('.hits').getAttribute('d').length > 10"), True)
    b.keys("n")
    settle(b)
    s = b.js("const s = %s.selected(), r = %s.plots[0].panel.rows[s.row]; "
             "return [r.thread.comm, r.segs.start[s.seg]]" % (T, T))
    check("n selects the longest, which queued last", s[0], "worker-5")
    show(b, path, "#s=snapshot")
    settle(b)
    check("threads by name", b.js("return document.querySelectorAll('.names .hit').length"), 1)
    show(b, path, "#s=[")
    settle(b)
    check("a broken expression is red", b.js("return document.querySelector('input.search').classList.contains('bad')"), True)


def still_and_drawn_agree(b, path):
    show(b, path)
    settle(b)
    check("the script draws what the still picture shows", bars(b), still_bars(path))


def panels(b):
    path = draw("episodes", timelines.episodes().text())
    show(b, path)
    check("two panels", b.js("return %s.plots.length" % T), 2)
    says("sentences", text(b, ".caption"), "worker-0 4712 waited for a lock")
    near("the second's axis starts at its episode", x_of(b, int(1.254 * MS), 1), PLOT_X + PLOT_W / 12, 2)
    y = row_y(b, "worker-2", 1)
    drag(b, PLOT_X + 100, PLOT_X + 200, y)
    check("only the second is zoomed", (view(b, 0)[0], view(b, 1)[0] > 0), (0, True))
    says("in the URL, too", b.url(), "z1=")
    b.size(1200, 260)
    show(b, path, "#ep=2")
    top = b.js("return document.querySelector('#c1').getBoundingClientRect().top")
    check("a link opens an episode", 0 < top < 260, True)
    b.size(0, 0)


def stays_in_sight(b):
    w = timelines.busy(60, 4, 40)
    w.line("loss", 1, 10 * MS, 12 * MS, 7, 0)
    path = draw("tall", w.text())
    b.size(1200, 500)
    show(b, path)
    cpus = "[...document.querySelectorAll('.names .cpu')].map((e) => Math.round(e.getBoundingClientRect().top))"
    top = b.js("return %s" % cpus)
    b.js("window.scrollTo(0, 600)")
    time.sleep(0.3)
    after = b.js("return %s" % cpus)
    bar = b.js("return document.querySelector('#bar').getBoundingClientRect().bottom")
    check("scrolled, the CPUs are below the bar", (top != after, bar <= after[0] < bar + 60), (True, True))
    b.move(600, after[1] + 6)
    says("and tell who has them", tip(b)[0], "CPU 1 \u00b7 ")
    b.move(x_of(b, 11 * MS), after[0] - 34)
    says("missing records say so", " ".join(tip(b)), "lost: 7 records, CPU 1, +10.0")
    check("many wakeups: no arrows", b.js("return document.querySelector('.arrows').getAttribute('d')"), "")
    b.move(600, after[3] + 60)
    check("but of the row pointed at", b.js("return document.querySelector('.arrows').getAttribute('d').length > 20"), True)
    for width in (320, 600, 3840):
        b.size(width, 900)
        time.sleep(0.3)
        check("as wide as the window: %d" % width, b.js(
            "return [document.documentElement.scrollWidth <= window.innerWidth, Math.round("
            "document.querySelector('.plot .ground').getBoundingClientRect().right)]"), [True, width - 10])
    b.size(0, 0)


def back_and_undo(b, path):
    show(b, path)
    y = row_y(b, "worker-0")
    drag(b, x_of(b, 10 * MS), x_of(b, 20 * MS), y)
    first = view(b)
    drag(b, PLOT_X + 200, PLOT_X + 500, y)
    check("zoomed twice", view(b)[0] > first[0], True)
    b.keys("u")
    settle(b)
    check("u takes the last zoom back", [round(x) for x in view(b)], [round(x) for x in first])
    b.js("history.back()")
    settle(b)
    check("Back the one before", view(b), (0, 40 * MS))


def unrecorded(b):
    w = timelines.World(0, 10 * MS, 2)
    w.thread("only", 1, 1, cpu=0)
    w.line("flags", 256)
    w.pick(10, 1)
    show(b, draw("unrecorded", w.text()))
    y = b.js("const r = %s.panels[0].rows.find((r) => r.cpu === 1); return r.y + r.h / 2" % T)
    b.move(600, y)
    check("a CPU that was not recorded says so", tip(b)[:1], ["CPU 1 \u00b7 not recorded"])


def hostile(b):
    w = timelines.World(0, 1 * MS, 1, "<script>window.hacked=1</script>")
    t = w.thread("]]><script>window.hacked=1</script>", 1, 1)
    w.off(t, 1000, 500000, 400000, "lock", stack="<b>main</b>;\"onload=\"window.hacked=1;bidi\u202eevil;a\x1b[31mred;bad\udcff")
    w.line("span", t, 0, 900000, "<i>span</i>")
    w.line("mark", t, 300, "a&b", "</metadata><script>window.hacked=1</script>")
    w.pick(10, 1)
    path = draw("hostile", w.text())
    show(b, path, "#z0=0,600000")
    settle(b)
    check("nothing ran", b.js("return window.hacked === undefined"), True)
    b.move(x_of(b, 200000), row_y(b, "]]><script>window.hacked=1</script>"))
    lines = " ".join(tip(b))
    says("markup is text", lines, "<b>main</b>")
    says("bidi marks are visible", lines, "\\u{202e}")
    says("bad bytes are visible", lines, "bad\\xff")
    says("and the span's name", lines, "span <i>span</i>")


def speed(b):
    path = draw("busy", timelines.busy().text())
    size = os.path.getsize(path) / 1e6
    check("a few MB: %.1f" % size, size < 8, True)
    start = time.time()
    show(b, path)
    took = time.time() - start
    n = b.js("return %s.plots[0].panel.rows.reduce((n, r) => n + (r.offs ? r.offStart.length : 0), 0)" % T)
    check("tens of thousands of intervals", n > 30000, True)
    times = []
    for k in range(4):
        b.js("location.hash = 'z0=%d,%d'" % (k * 10 * MS, (900 - k * 100) * MS))
        settle(b)
        times.append(b.js("return %s.drawMs()" % T))
    # told, not judged: how busy the machine is decides them
    print("200 threads, %d intervals: %.1f MB, open %.2f s, zoom %.0f ms" % (n, size, took, min(times)))


# Pixels of each colour that moving bars have; at rest, those that their paths cover.
# No timer ends the move before two frames are drawn, however busy the machine is.
MOVE = """const t = document.documentElement.timeline, p = t.panels[0], done = arguments[0], all = {}, timer = window.setTimeout;
    const move = () => { t.setView(p, 0, 0.8 * p.span); t.setView(p, 0.1 * p.span, 0.9 * p.span); };
    window.setTimeout = () => 0; move(); window.setTimeout = timer;
    requestAnimationFrame(() => requestAnimationFrame(() => {
        for (const c of document.querySelectorAll('foreignObject[display=inline] canvas')) {
            const {data} = c.getContext('2d').getImageData(0, 0, c.width, c.height);
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3]) {
                    const rgb = 'rgb(' + data[i] + ', ' + data[i + 1] + ', ' + data[i + 2] + ')';
                    all[rgb] = (all[rgb] || 0) + 1;
                }
        }
        const blocks = [...document.querySelectorAll('.bars')].filter((g) => g.getAttribute('display') === 'none').length;
        move(); done([all, blocks]);
    }));"""
REST = """const all = {}; for (const e of document.querySelectorAll('.bars path')) {
        const rgb = getComputedStyle(e).stroke, wide = Number(e.getAttribute('stroke-width'));
        for (const [, , , , how, n] of e.getAttribute('d').matchAll(/M(\\S+) (\\d+(\\.\\d+)?)([vh])([\\d.]+)/g))
            all[rgb] = (all[rgb] || 0) + Number(n) * (how === 'v' ? 1 : wide);
    } return [all, document.querySelectorAll('foreignObject[display=inline] canvas').length];"""


def moving(b):
    """While a busy view moves its bars are pixels, in the same places and colours; at rest, paths."""
    path = draw("moves", timelines.busy(60, 4, 300).text())
    b.size(1200, 2500)
    for dark in (False, True):
        b.dark(dark)
        show(b, path)
        settle(b)
        pixels, blocks = b.call("POST", b.base + "/execute/async", {"script": MOVE, "args": []})
        check("moving bars are pixels", blocks > 0 and len(pixels) > 3, True)
        settle(b, 0.6)
        rest, left = b.js(REST)
        check("resting ones are not", left, 0)
        for paint in ("running", "runnable"):
            rgb = b.js("return getComputedStyle([...document.querySelectorAll('#legend g')].find((g) => g.textContent === '%s').firstElementChild).fill" % paint)
            near("as much %s, %s" % (paint, dark), pixels.get(rgb, 0), rest.get(rgb, 1), 0.1 * rest.get(rgb, 1))
    b.dark(False)
    b.size(0, 0)


def rows_and_marks(b, path):
    """Lanes, rows that are folded, pinned and hidden, marks, and a jump to a time."""
    show(b, path)
    row = ("const r = %s.panels[0].rows.find((r) => r.kind === 4 && r.what === arguments[0]); "
           "return [r.y + 6, r.boxes.length, r.shown]" % T)
    y, n, shown = b.js(row, "interrupts")
    check("interrupts have a lane, which is off", (n, shown), (1, False))
    b.js("%s.actions.quiet()" % T)
    settle(b)
    says("until it is asked for, also in the URL", b.url(), "quiet=1")
    y, n, shown = b.js(row, "interrupts")
    check("it is there", (n, shown), (1, True))
    b.move(x_of(b, 12.5 * MS), y)
    check("that tells them", tip(b)[0], "softirq NET_RX \u00b7 1.0 ms")
    y, n, shown = b.js(row, "spans")
    b.move(x_of(b, 20 * MS), y)
    check("so have spans", tip(b)[0], "request \u00b7 17.0 ms")
    high = b.js("return %s.panels[0].end" % T)
    b.js("%s.actions.quiet()" % T)
    settle(b)
    high = b.js("return %s.panels[0].end" % T)
    group = "[...document.querySelectorAll('.names .group')].find((e) => e.textContent.includes('CPUs') === %s)"
    cpus = b.js("return %s.panels[0].rows.filter((r) => r.kind === 0).length" % T)
    b.js(group % "true" + ".dispatchEvent(new MouseEvent('click'))")
    settle(b)
    check("a click on the CPUs folds them", b.js("return %s.panels[0].rows.filter((r) => r.kind === 0 && r.shown).length" % T), 0)
    check("into one row", b.js("return %s.panels[0].end" % T) < high - 18 * (cpus - 1), True)
    b.js(group % "true" + ".dispatchEvent(new MouseEvent('click'))")
    settle(b)
    check("and opens them", b.js("return %s.panels[0].rows.filter((r) => r.kind === 0 && r.shown).length" % T), cpus)
    b.js(group % "false" + ".dispatchEvent(new MouseEvent('click'))")
    settle(b)
    check("a click on a process folds it", b.js("return %s.panels[0].end" % T) < high - 6 * 22, True)
    shares = b.js("return [...document.querySelectorAll('.bars path')].some((e) => e.getAttribute('d').length > 1000)")
    check("into the shares of its threads", shares, True)
    says("in the URL", b.url(), "folded0=")
    url = b.url()
    show(b, path, url[url.index("#"):])
    check("which restores it", b.js("return %s.panels[0].end" % T) < high - 6 * 22, True)
    b.js("%s.actions.rows()" % T)
    settle(b)
    check("all rows are back", b.js("return %s.panels[0].end" % T), high)
    before = [row_y(b, "worker-%d" % i) for i in (3, 4)]
    b.move(x_of(b, 15 * MS), row_y(b, "worker-3"))
    b.keys("t")
    check("t pins a row on top", row_y(b, "worker-3") < row_y(b, "snapshot"), True)
    b.move(x_of(b, 15 * MS), row_y(b, "worker-4"))
    b.keys("x")
    check("x hides one", row_y(b, "worker-4") < 0, True)
    b.keys("X")
    check("X shows all", [row_y(b, "worker-%d" % i) for i in (3, 4)], before)
    b.move(x_of(b, 12 * MS), row_y(b, "snapshot"))
    b.keys("A")
    b.move(x_of(b, 20 * MS), row_y(b, "snapshot"))
    b.keys("B")
    settle(b)
    near("two marks, their difference", b.js("const m = %s.panels[0].markers; return m.B - m.A" % T), 8 * MS, 0.1 * MS)
    says("is said", text(b, "#drawn"), "A to B: 8.0 ms")
    check("a time since the start", b.js("return %s.goToMoment('+25.5 ms')" % T), True)
    settle(b)
    near("is shown", sum(view(b)) / 2, 25.5 * MS, 0.1 * MS)
    check("a time of the clock", b.js("return %s.goToMoment('0.112345678')" % T), True)
    settle(b)
    near("is shown, too", sum(view(b)) / 2, 12.345678 * MS, 0.1 * MS)
    check("what is no time there", b.js("return [%s.goToMoment('7 s'), %s.goToMoment('x')]" % (T, T)), [False, False])


def gaps(b):
    """A spinner's gaps below its CPU: what took it, and none where only an interval is known."""
    w, spinner, _ = timelines.convoy()
    w.line("gap", 3, 111 * MS, int(113.5 * MS), int(2.5 * MS), spinner)
    w.line("gap", 3, 120 * MS, 130 * MS, 4 * MS, spinner)
    w.line("gap", 7, 111 * MS, 112 * MS, MS, spinner)
    show(b, draw("gaps", w.text()))
    settle(b)
    check("gaps have a lane below their CPU", b.js(
        "const p = %s.panels[0]; return p.rows.filter((r) => r.kind === 4 && r.what === 'gaps')"
        ".map((r) => [p.rows[r.of].cpu, r.boxes.length, r.shown, r.boxes.map((x) => x.level)])" % T), [[3, 2, True, [0, 0]]])
    y = b.js("return %s.panels[0].rows.find((r) => r.what === 'gaps').y + 6" % T)
    b.move(x_of(b, 12 * MS), y)
    check("that tells what took the CPU", tip(b), ["gap \u00b7 2.5 ms", "+11.0 ms \u2026 +13.5 ms",
                                                  "1.5 ms  [unexplained]", "1.0 ms  softirq NET_RX"])
    b.move(x_of(b, 25 * MS), y)
    check("and where it does not know", tip(b), ["gap \u00b7 4.0 ms", "somewhere in +20.0 ms \u2026 +30.0 ms",
                                                "4.0 ms  [not placed]"])
    check("which is a box of another kind", b.js("return [...document.querySelectorAll('.boxes.vague')].map((e) => e.getAttribute('d'))"
                                         ".filter((d) => d).map((d) => d.split('M').length - 1)"), [1])
    labels = b.js("return [...document.querySelectorAll('.labels text')].map((t) => t.textContent)")
    check("its label says how long it was", "[not placed] 4.0 ms" in labels, True)
    b.dark(True)
    light = b.js("return getComputedStyle(document.querySelector('.boxes.vague')).fill.match(/[0-9]+/g)")
    b.dark(False)
    check("on a light ground, in the dark, too, for the label is black", light is not None and min(int(x) for x in light) > 128, True)


def main():
    if missing():
        print("%s is not installed" % missing())
        sys.exit(77)
    path = draw("convoy", timelines.convoy()[0].text())
    with Browser() as b:
        zoom_and_pan(b, path)
        tooltips(b, path)
        preemption(b)
        rows_and_marks(b, path)
        gaps(b)
        searching(b, path)
        still_and_drawn_agree(b, path)
        panels(b)
        stays_in_sight(b)
        back_and_undo(b, path)
        unrecorded(b)
        hostile(b)
        speed(b)
        moving(b)
    print("%d checks, %d failed" % (CHECKS, len(FAILED)))
    sys.exit(1 if FAILED else 0)


main()
