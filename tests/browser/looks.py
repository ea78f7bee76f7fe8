"""looks.py PERFKIT SRC [OUT [RECORDING...]] - reports at four widths, light and dark, on paper, and in Firefox:
nothing sticks out, no letter is too small, no name pushes anything away; the first screen has its parts.
With OUT, a picture of each is left there to look at; of other recordings, if any are named.

Prints one line per failed check; exit 1 if any failed, 77 without a browser.
"""
import base64
import os
import subprocess
import sys
import time

import firefox
from webdriver import Browser, missing

PERFKIT, SRC = sys.argv[1:3]
OUT, RECORDINGS = (sys.argv[3:4] or [None])[0], sys.argv[4:]
WIDTHS = {375: 812, 800: 900, 1400: 900, 3840: 2160}
A4 = 718  # px between margins of 1 cm
LEAST_FONT, LONGEST_NAME = 11, 140
# Long C++, Rust, node, Python, many threads, CPU time only, spans, waits, holes, a system-wide one.
KINDS = {"cxx": "cxx-names/perf.data", "templates": "deep/perf.data.gz", "node": "perf-map/perf.data", "python": "requests/traced.tar.zst",
         "orders": "orders/orders.tar.zst", "cpu": "demo/perf.data", "spans": "labels/labelled.tar.zst", "disk": "incidents/disk.tar.zst",
         "holes": "doctor/holes.data.gz", "machine": "system-wide/perf.data"}
FAILED = []
# Faults of what is in sight: [what, where].
LOOK = """const [least, longest] = arguments, found = [], wide = document.documentElement.clientWidth;
const texts = (root) => { const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), all = []; while (walk.nextNode()) all.push(walk.currentNode); return all; };
const roots = [document.body, ...[...document.querySelectorAll('.island')].map((x) => x.shadowRoot.querySelector('svg'))];
for (const text of roots.flatMap(texts)) {
	const e = text.parentElement, range = document.createRange();
	range.selectNodeContents(text);
	const r = range.getBoundingClientRect(), said = text.textContent.trim();
	if (!said || !r.width || e.closest('style, script, .unseen, dialog, option, datalist') || !e.checkVisibility())
		continue;
	const svg = e.closest('svg'), box = svg && svg.getBoundingClientRect();
	if (parseFloat(getComputedStyle(e).fontSize) < least)
		found.push(['small letters', said.slice(0, 40)]);
	if (svg ? r.right > box.right + 8 || r.left < box.left - 8 : !e.closest('.scroll, pre, #bar, .short, .stack, #sandwich, .where, .what, #says') && r.right > wide + 1)
		found.push(['sticks out', said.slice(0, 40)]);
	if (e.closest('.link, td, .path, .stack li, .short, .chain') && said.split(/ < | \\u2039 |, | in /).some((x) => x.length > longest))
		found.push(['a long name', said.slice(0, 60)]);
}
if (document.documentElement.scrollWidth > wide)
	found.push(['scrolls sideways', document.documentElement.scrollWidth]);
return found.slice(0, 5);"""


def check(what, got, want):
    if got != want:
        FAILED.append(what)
        print("FAILED %s: got %.300r, want %r" % (what, got, want))


def opened(b, page):
    b.open("about:blank")
    b.open("file://" + page)
    for _ in range(400):
        if b.js("return document.documentElement.dataset.ready || ''"):
            break
        time.sleep(0.05)
    check(os.path.basename(page) + " opens", b.js("return document.documentElement.dataset.ready"), "1")
    time.sleep(0.7)


def make(name, recording):
    page = os.path.abspath(name + ".html")
    if recording.endswith(".gz"):
        plain = os.path.abspath(name + ".data")
        with open(plain, "wb") as out:
            subprocess.run(["gunzip", "-c", recording], check=True, stdout=out)
        recording = plain
    folder, options = os.path.dirname(recording), []
    for kind in ("symfs", "kallsyms"):
        if os.path.exists(folder + "/" + kind):
            options += ["--" + kind, folder + "/" + kind]
    subprocess.run([PERFKIT, "html", "-q", "--force", *([] if RECORDINGS else ["--no-local"]), *options, "-o", page, recording], check=True, stderr=subprocess.DEVNULL)
    return page


def first_screen(b, name):
    """The answer in one line, and nothing of it below the fold."""
    seen = b.js("const at = (q) => { const e = document.querySelector(q), r = e && e.getBoundingClientRect(); return r && r.width ? [r.top, r.bottom] : null; };"
                "return {answer: at('#answer'), picture: at('#case .island'), differs: at('.differs'), map: at('#heat'), tail: !!report.head().tail}")
    if not seen["tail"] or not seen["picture"]:
        return
    check(name + ": one line says it", seen["answer"][1] - seen["answer"][0] <= 52, True)
    check(name + ": all of it in sight", [q for q in ("picture", "differs", "map") if seen[q] and seen[q][1] > 900], [])


def shot(b, name):
    if OUT:
        with open(os.path.join(OUT, name + ".png"), "wb") as out:
            out.write(base64.b64decode(b.screenshot()))


def look(b, name, page):
    for width, height in WIDTHS.items():
        b.size(width, height)
        for dark in (False, True):
            b.dark(dark)
            opened(b, page)
            what = "%s-%d-%s" % (name, width, "dark" if dark else "light")
            shot(b, what)
            check(what, b.js(LOOK, LEAST_FONT, LONGEST_NAME), [])
        if width == 1400:
            first_screen(b, name)
    b.dark(False)
    b.size(A4, 1000)
    opened(b, page)
    b.printed(True)
    shot(b, name + "-paper")
    check(name + " on paper", b.js("return document.documentElement.scrollWidth <= arguments[0]", A4), True)
    b.printed(False)
    b.size(0, 0)


def look_in_firefox(pages):
    with firefox.Firefox() as b:
        for width in (500, 1400):
            b.size(width, 1000)
            for name in pages:
                opened(b, pages[name])
                check("Firefox: %s at %d px" % (name, width), b.js(LOOK, LEAST_FONT, LONGEST_NAME), [])


def main():
    if missing():
        print("%s is not installed" % missing())
        return 77
    if OUT:
        os.makedirs(OUT, exist_ok=True)
    kinds = {os.path.basename(r).split(".")[0]: r for r in RECORDINGS} or {k: "%s/testdata/%s" % (SRC, f) for k, f in KINDS.items()}
    pages = {name: make(name, recording) for name, recording in kinds.items()}
    with Browser(1400, 900) as b:
        for name, page in pages.items():
            look(b, name, page)
    try:
        if firefox.program():
            look_in_firefox(pages)
        else:
            print("left out: Firefox is not installed")
    except firefox.DoesNotStart as e:
        print("left out: %s" % e)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
