"""page.py PERFKIT SRC PAGE - drive perfkit.html in a real browser, opened from the disk; what it answers against
what perfkit prints. With SHOTS=DIR it leaves pictures there.

Prints one line per failed check; exit 1 if any failed, 77 without a browser.
"""
import base64
import os
import re
import socket
import subprocess
import sys
import time

import firefox
from webdriver import Browser, missing

PERFKIT, SRC, PAGE = sys.argv[1:4]
ORDERS = SRC + "/testdata/orders/orders.tar.zst"
DEMO = SRC + "/testdata/demo/demo.tar.zst"
FAILED = []
WHERE = ""


def check(what, got, want=True):
    if got != want:
        FAILED.append(what)
        print("FAILED %s%s: got %.200r, want %.200r" % (WHERE, what, got, want))


def until(b, what, script, seconds=120):
    end = time.time() + seconds
    while time.time() < end:
        if b.js("return " + script):
            return
        time.sleep(0.1)
    check(what, b.js("return document.body.innerText"), "it happens")


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
            f.write(base64.b64decode(b.screenshot()))


def ask(folder, *args):
    got = subprocess.run([PERFKIT, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return (got.stdout + got.stderr).decode()


def network(b):
    """The page cannot reach anything, not even a server that is there."""
    with socket.create_server(("127.0.0.1", 0)) as there:
        b.js("window.reached = ''; fetch('http://127.0.0.1:%d/').then(() => reached = 'yes', () => reached = 'no')"
             % there.getsockname()[1])
        until(b, "fetch ends", "reached")
        there.settimeout(0.2)
        try:
            there.accept()
            check("no network", "a connection")
        except TimeoutError:
            pass


def but_instructions(page):
    """Without what differs where there is no Capstone."""
    return [line for line in page.splitlines() if not re.match(r'<script [^>]*id="(columns|source-data)"', line)]


def case_file(b):
    b.drag([ORDERS])
    until(b, "case file", "at('report').getAttribute('src') && !at('work').hidden")
    time.sleep(2)
    shot(b, "case")
    folder, name = os.path.split(ORDERS)
    check("doctor", b.js("return at('doctor').innerText || at('doctor').textContent").strip(), ask(folder, "doctor", "--no-local", name).strip())
    command(b, "html -o case.html " + name)
    b.js("window.html = ''; lastMade[0].blob.text().then((x) => html = x)")
    until(b, "report", "html")
    check("report is what perfkit html writes", but_instructions(b.js("return html")),
          but_instructions(ask(folder, "html", "-q", "--no-local", name)))
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


def question(b):
    """A recording that was made for no program in particular: the page asks once which one is meant."""
    folder, name = os.path.split(SRC + "/testdata/exec-storm/perf.data")
    b.choose("#pick", [folder + "/" + name])
    until(b, "question", "!at('ask').hidden && at('busy').hidden")
    check("programs", b.js("return [...at('ask').lastElementChild.children].map((x) => x.textContent).join()"), "The whole machine,blue,red")
    b.js("at('ask').querySelector('[title=\"--comm blue\"]').click()")
    until(b, "its case file", "at('report').getAttribute('src') && !at('work').hidden && at('ask').hidden")
    line = b.js("return at('words').value")
    check("its command", line, "report --comm blue " + name)
    check("its report", command(b, line), ask(folder, "report", "--no-local", "--comm", "blue", name))
    b.js("window.got = ''; window.save = (blob) => blob.text().then((x) => got = x);"
         "[...at('save').children].find((x) => x.textContent === 'Folded').click()")
    until(b, "its folded stacks", "got")
    check("its folded stacks", b.js("return got"), ask(folder, "collapse", "-q", "--no-local", "--comm", "blue", name))


def others(b):
    b.choose("#pick", [DEMO, ORDERS])
    until(b, "two files", "at('report').getAttribute('src') && !at('work').hidden")
    folded = os.environ.get("TMPDIR", "/tmp") + "/page-test.folded"
    with open(folded, "w") as f:
        f.write("main;a;b 3\nmain;c 4\n")
    b.choose("#pick", [folded])
    until(b, "folded text", "at('report').getAttribute('src') && !at('work').hidden")
    os.remove(folded)
    b.choose("#pick", [SRC + "/docs/pictures/kind-against.webp"])
    until(b, "no recording", "!at('trouble').hidden && at('busy').hidden")
    check("no recording", b.js("return at('work').hidden"))


def everything(b):
    b.open("file://" + os.path.abspath(PAGE))
    network(b)
    case_file(b)
    stopped(b)
    question(b)
    others(b)


def narrow(b):
    b.open("file://" + os.path.abspath(PAGE))
    check("nothing sticks out before", fits(b))
    b.choose("#pick", [ORDERS])
    until(b, "narrow", "at('report').getAttribute('src') && !at('work').hidden")
    time.sleep(2)
    check("nothing sticks out", fits(b))
    shot(b, "case-narrow")
    command(b, "report orders.tar.zst")
    shot(b, "command-narrow")


def fits(b):
    return b.js("return document.documentElement.scrollWidth <= innerWidth")


def main():
    global WHERE
    if missing():
        print("%s is not installed" % missing())
        return 77
    with Browser(1400, 900) as b:
        everything(b)
        check("nothing sticks out of a wide window", fits(b))
        b.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        b.cdp("Emulation.setDeviceMetricsOverride", width=375, height=900, deviceScaleFactor=1, mobile=False)
        narrow(b)
    if not firefox.program():
        print("left out: firefox is not installed")
    else:
        WHERE = "Firefox: "
        try:
            with firefox.Firefox() as b:
                b.size(1400, 900)
                b.js = b.inline
                everything(b)
        except firefox.DoesNotStart as e:
            print("left out: %s" % e)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
