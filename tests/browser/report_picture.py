"""report_picture.py PERFKIT FOLDER [NAME...] - reports of recordings of several kinds, a view of each as a picture."""
import base64
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time

from webdriver import Browser, missing

PERFKIT, OUT = sys.argv[1:3]
ONLY = sys.argv[3:]
FLAME, OFF, TIME, SPAN = "#pane=flame", "#pane=flame&graph=off", "#pane=timeline", "#map=span"
# name, recording, options, the view, size
VIEWS = [
    ("report.png", "orders/orders.tar.zst", [], "", 1280, 900),
    ("report-episode.webp", "orders/orders.tar.zst", [], "#t=532000000,557000000&pane=episodes", 1400, 900),
    ("report-cpu.webp", "demo/perf.data", ["--symfs", "testdata/demo/symfs"], "", 1400, 900),
    ("report-spans.webp", "requests/serve.tar.zst", ["--with", "testdata/requests/requests.csv"], SPAN, 1280, 900),
]
# kind, recording, its side file, the view: one for each folder of testdata with recordings (cli/html)
KINDS = [
    ("against", "against/longer.data.gz", None, OFF),
    ("compare", "compare/wait50.1.data.gz", None, OFF),
    ("calls", "calls/calls.data.gz", None, SPAN),
    ("cut", "cut/perf.data", None, ""),
    ("cxx-names", "cxx-names/perf.data", None, FLAME),
    ("dlclose", "dlclose/perf.data", None, FLAME),
    ("lost", "doctor/lost-records.data.gz", None, TIME),
    ("dwarf", "dwarf/perf.data", None, FLAME),
    ("dwarf-cut", "dwarf-cut/perf.data", None, ""),
    ("dwarf-static", "dwarf-static/perf.data", None, FLAME),
    ("events", "events/perf.data", None, FLAME),
    ("exec-storm", "exec-storm/perf.data", None, FLAME),
    ("threads", "fp-threads/perf.data", None, FLAME),
    ("group-read", "group-read/perf.data", None, FLAME),
    ("inlined", "inlined/perf.data", None, FLAME),
    ("gaps", "jitter/gaps.tar.zst", "jitter/gaps.txt", TIME),
    ("jitter", "jitter/spin.tar.zst", None, TIME),
    ("incident", "incidents/disk.tar.zst", None, "#ep=1"),
    ("kinds", "kinds/perf.data.gz", None, ""),
    ("labels", "labels/labelled.tar.zst", "labels/labels.txt", TIME + "&label=table%3Dusers"),
    ("lbr", "lbr/perf.data", None, FLAME),
    ("ldb", "ldb/recording.tar.zst", "ldb/ldb.data", SPAN),
    ("no-callchain", "no-callchain/perf.data", None, ""),
    ("off-cpu", "off-cpu/perf.data.gz", None, ""),
    ("one-cpu", "orders-one-cpu/orders.tar.zst", None, TIME),
    ("perf-map", "perf-map/perf.data", None, FLAME),
    ("pid-attach", "pid-attach/perf.data", None, FLAME),
    ("pipe", "pipe/perf.data", None, ""),
    ("probes", "report/shop.data.gz", "report/requests.csv", SPAN),
    ("otel", "requests/otel.tar.zst", "requests/traces.jsonl.gz", SPAN),
    ("traced", "requests/traced.tar.zst", "requests/trace.json.gz", SPAN),
    ("deep", "deep/perf.data.gz", None, FLAME),
    ("narrow", "i386/perf.data.gz", None, FLAME),
    ("same-path", "same-path/reload.data", None, FLAME),
    ("sched", "sched/perf.data", None, TIME),
    ("switch-events", "switch-events/perf.data", None, OFF),
    ("syscalls", "syscalls/perf.data.gz", None, SPAN),
    ("system-wide", "system-wide/perf.data", None, ""),
    ("threads-dir", "threads-dir/perf.data", None, ""),
    ("quota", "truth/quota/perf.data.gz", None, "#ep=1"),
    ("uprobe", "uprobe/perf.data", None, ""),
    ("waits", "waits/perf.data", None, OFF),
    ("worst-names", "worst-names/perf.data", None, FLAME),
    ("zstd", "zstd/perf.data", None, ""),
]
SMALL = (900, 720)


def options_of(recording, side, tmp):
    """The names that lie beside a recording, and what a program logged, which may be packed."""
    folder, options = os.path.dirname("testdata/" + recording), []
    for name in ("symfs", "kallsyms"):
        if os.path.exists(folder + "/" + name) and not recording.endswith(".zst"):
            options += ["--" + name, folder + "/" + name]
    if side and side.endswith(".gz"):
        plain = os.path.join(tmp, os.path.basename(side)[:-3])
        with gzip.open("testdata/" + side) as packed, open(plain, "wb") as out:
            shutil.copyfileobj(packed, out)
        options += ["--with", plain]
    elif side:
        options += ["--with", "testdata/" + side]
    return options


def draw(b, page, name, view, width, height):
    b.size(width, height)
    b.open("about:blank")
    b.open("file://" + page + view)
    for _ in range(100):
        if b.js("return document.documentElement.dataset.ready && (report.view.pane !== 'timeline' || report.timeline()) ? 1 : 0"):
            break
        time.sleep(0.05)
    time.sleep(0.7)
    kind = {"format": "png"} if name.endswith("png") else {"format": "webp", "quality": 25 if name.startswith("kind-") else 55}
    picture = b.cdp("Page.captureScreenshot", **kind)
    with open(os.path.join(OUT, name), "wb") as out:
        out.write(base64.b64decode(picture["data"]))


if missing():
    print("%s is not installed: the reports' pictures stay as they are" % missing())
    sys.exit(0)
with tempfile.TemporaryDirectory() as tmp, Browser(1280, 900) as b:
    page = os.path.join(tmp, "report.html")
    kinds = [("kind-%s.webp" % name, recording, options_of(recording, side, tmp), view, *SMALL) for name, recording, side, view in KINDS]
    for name, recording, options, view, width, height in VIEWS + kinds:
        if ONLY and name not in ONLY:
            continue
        subprocess.run([PERFKIT, "html", "-q", "--no-local", "--force", *options, "-o", page, "testdata/" + recording], check=True)
        draw(b, page, name, view, width, height)
