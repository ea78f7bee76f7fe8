"""report_picture.py PERFKIT FOLDER - reports of recordings of several kinds, a view of each as a picture."""
import base64
import os
import subprocess
import sys
import tempfile
import time

from webdriver import Browser, missing

PERFKIT, OUT = sys.argv[1:3]
# name, recording, options, the view, size; kind-*: one of each kind in testdata, small
VIEWS = [
    ("report.png", "orders/orders.tar.zst", [], "#pane=timeline&t=532000000,557000000", 1280, 900),
    ("report-episode.webp", "orders/orders.tar.zst", ["--comm", "front-0,front-1"], "#ep=1", 1440, 1250),
    ("report-cpu.webp", "demo/perf.data", ["--symfs", "testdata/demo/symfs"], "#pane=flame", 1280, 1000),
    ("kind-gaps.webp", "jitter/gaps.tar.zst", ["--with", "testdata/jitter/gaps.txt"], "#pane=timeline", 1000, 800),
    ("kind-labels.webp", "labels/labelled.tar.zst", ["--with", "testdata/labels/labels.txt"], "#pane=flame", 1000, 800),
    ("kind-one-cpu.webp", "orders-one-cpu/orders.tar.zst", [], "#pane=timeline", 1000, 800),
    ("kind-sched.webp", "sched/perf.data", [], "#pane=timeline", 1000, 800),
    ("kind-switch-events.webp", "switch-events/perf.data", [], "#pane=flame&graph=off", 1000, 800),
    ("kind-waits.webp", "waits/perf.data", [], "#pane=flame&graph=off", 1000, 800),
    ("kind-dwarf.webp", "dwarf/perf.data", [], "#pane=flame", 1000, 800),
    ("kind-lbr.webp", "lbr/perf.data", [], "#pane=flame", 1000, 800),
    ("kind-system-wide.webp", "system-wide/perf.data", [], "", 1000, 800),
    ("kind-no-callchain.webp", "no-callchain/perf.data", [], "", 1000, 800),
    ("kind-group-read.webp", "group-read/perf.data", [], "#pane=flame", 1000, 800),
    ("kind-uprobe.webp", "uprobe/perf.data", [], "", 1000, 800),
    ("kind-cut.webp", "cut/perf.data", [], "", 1000, 800),
    ("kind-pipe.webp", "pipe/perf.data", [], "", 1000, 800),
    ("kind-threads-dir.webp", "threads-dir/perf.data", [], "", 1000, 800),
    ("report-spans.webp", "requests/serve.tar.zst", ["--with", "testdata/requests/requests.csv"], "#map=span", 1280, 900),
]


def draw(b, page, name, view, width, height):
    b.size(width, height)
    b.open("about:blank")
    b.open("file://" + page + view)
    for _ in range(100):
        if b.js("return document.documentElement.dataset.ready && (report.view.pane !== 'timeline' || report.timeline()) ? 1 : 0"):
            break
        time.sleep(0.05)
    time.sleep(0.7)
    kind = {"format": "png"} if name.endswith("png") else {"format": "webp", "quality": 30 if name.startswith("kind-") else 55}
    picture = b.cdp("Page.captureScreenshot", **kind)
    with open(os.path.join(OUT, name), "wb") as out:
        out.write(base64.b64decode(picture["data"]))


if missing():
    print("%s is not installed: the reports' pictures stay as they are" % missing())
    sys.exit(0)
with tempfile.TemporaryDirectory() as tmp, Browser(1280, 900) as b:
    page = os.path.join(tmp, "report.html")
    for name, recording, options, view, width, height in VIEWS:
        subprocess.run([PERFKIT, "html", "-q", "--no-local", "--force", *options, "-o", page, "testdata/" + recording], check=True)
        draw(b, page, name, view, width, height)
