"""report_picture.py PERFKIT OUT.png - a report of testdata/orders, some ms of it selected."""
import base64
import os
import subprocess
import sys
import tempfile
import time

from webdriver import Browser, missing

PERFKIT, OUT = sys.argv[1:3]
VIEW = "#map=off&pane=timeline&t=435000000,460000000"

if missing():
    print("%s is not installed: %s stays as it is" % (missing(), OUT))
    sys.exit(0)
with tempfile.TemporaryDirectory() as tmp, Browser(1280, 900) as b:
    page = os.path.join(tmp, "report.html")
    subprocess.run([PERFKIT, "html", "-q", "--no-local", "-o", page, "testdata/orders/orders.tar.zst"], check=True)
    b.size(1280, 900)
    b.open("file://" + page + VIEW)
    for _ in range(100):
        if b.js("return document.documentElement.dataset.ready && report.timeline() ? 1 : 0"):
            break
        time.sleep(0.05)
    time.sleep(0.5)
    png = b.cdp("Page.captureScreenshot", format="png")
    with open(OUT, "wb") as out:
        out.write(base64.b64decode(png["data"]))
