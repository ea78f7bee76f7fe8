"""page.py PERFKIT SRC PAGE - drive perfkit.html in a real browser, opened from the disk; what it answers against
what perfkit prints. With SHOTS=DIR it leaves pictures there.

Prints one line per failed check; exit 1 if any failed, 77 without a browser.
"""
import base64
import os
import subprocess
import sys
import time

from webdriver import Browser, missing

PERFKIT, SRC, PAGE = sys.argv[1:4]
ORDERS = SRC + "/testdata/orders/orders.tar.zst"
DEMO = SRC + "/testdata/demo/demo.tar.zst"
FAILED = []


def check(what, got, want=True):
    if got != want:
        FAILED.append(what)
        print("FAILED %s: got %.200r, want %.200r" % (what, got, want))


def until(b, what, script, seconds=120):
    end = time.time() + seconds
    while time.time() < end:
        if b.js("return " + script):
            return
        time.sleep(0.1)
    check(what, b.js("return document.body.innerText"), "it happens")


def drag(b, *paths):
    """Files dragged onto the page, as the browser's own events."""
    data = {"items": [], "files": list(paths), "dragOperationsMask": 1}
    for what in "dragEnter", "dragOver", "drop":
        b.cdp("Input.dispatchDragEvent", type=what, x=300, y=300, data=data)


def drop(b, *paths):
    """The same through the page's own file input."""
    element = list(b.call("POST", b.base + "/element", {"using": "css selector", "value": "#pick"}).values())[0]
    b.call("POST", b.base + "/element/%s/value" % element, {"text": "\n".join(paths)})


def command(b, line):
    b.js("document.querySelector('[data-tab=command]').click(); at('words').value = arguments[0];"
         "at('said').textContent = ''; at('line').requestSubmit()", line)
    until(b, line, "!at('busy').hidden || at('said').textContent || at('files').textContent || !at('picture').hidden")
    until(b, line, "at('busy').hidden")
    time.sleep(0.2)
    return b.js("return at('said').textContent")


def shot(b, name):
    if os.environ.get("SHOTS"):
        with open("%s/%s.png" % (os.environ["SHOTS"], name), "wb") as f:
            f.write(base64.b64decode(b.call("GET", b.base + "/screenshot")))


def ask(folder, *args):
    got = subprocess.run([PERFKIT, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return (got.stdout + got.stderr).decode()


def network(b):
    """The page cannot reach anything, not even where there is a network."""
    b.js("window.reached = ''; fetch('http://127.0.0.1:%d/status').then(() => reached = 'yes', () => reached = 'no')" % b.port)
    until(b, "fetch ends", "reached")
    check("no network", b.js("return reached"), "no")


def case_file(b):
    drag(b, ORDERS)
    until(b, "case file", "at('report').getAttribute('src') && !at('work').hidden")
    time.sleep(2)
    shot(b, "case")
    folder, name = os.path.split(ORDERS)
    check("doctor", b.js("return at('doctor').innerText || at('doctor').textContent").strip(), ask(folder, "doctor", "--no-local", name).strip())
    command(b, "html -o case.html " + name)
    b.js("window.html = ''; lastMade[0].blob.text().then((x) => html = x)")
    until(b, "report", "html")
    check("report is what perfkit html writes", b.js("return html") == ask(folder, "html", "-q", "--no-local", name))
    check("report", command(b, "report " + name), ask(folder, "report", "--no-local", name))
    shot(b, "command")
    check("unknown", command(b, "repport x").endswith("exit status 2\n"))
    check("record", "needs Linux, and this is WebAssembly" in command(b, "record cpu"))
    command(b, "svg -o 'a b.svg' " + name)
    check("written file", b.js("return at('files').querySelector('a').download"), "a b.svg")


def stopped(b):
    b.js("window.asked = ask(['html', at('words').value], 'x').then((x) => window.was = x === null ? 'stopped' : 'done')")
    b.js("at('stop').click()")
    until(b, "stopped", "window.was")


def others(b):
    drop(b, DEMO, ORDERS)
    until(b, "two files", "at('report').getAttribute('src') && !at('work').hidden")
    folded = os.environ.get("TMPDIR", "/tmp") + "/page-test.folded"
    with open(folded, "w") as f:
        f.write("main;a;b 3\nmain;c 4\n")
    drop(b, folded)
    until(b, "folded text", "at('report').getAttribute('src') && !at('work').hidden")
    os.remove(folded)
    drop(b, SRC + "/docs/pictures/kind-against.webp")
    until(b, "no recording", "!at('trouble').hidden && at('busy').hidden")
    check("no recording", b.js("return at('work').hidden"))


def main():
    if missing():
        print("%s is not installed" % missing())
        return 77
    for width, scheme in ((1400, "light"), (375, "dark")):
        with Browser(width, 900) as b:
            b.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            b.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            b.open("file://" + os.path.abspath(PAGE))
            shot(b, "open-%d-%s" % (width, scheme))
            check("nothing sticks out at %d" % width, b.js("return document.documentElement.scrollWidth <= innerWidth"))
            if scheme == "light":
                network(b)
                case_file(b)
                stopped(b)
                others(b)
            else:
                drop(b, ORDERS)
                until(b, "narrow", "at('report').getAttribute('src') && !at('work').hidden")
                time.sleep(2)
                check("nothing sticks out", b.js("return document.documentElement.scrollWidth <= innerWidth"))
                shot(b, "case-%d-%s" % (width, scheme))
                command(b, "report orders.tar.zst")
                shot(b, "command-%d-%s" % (width, scheme))
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
