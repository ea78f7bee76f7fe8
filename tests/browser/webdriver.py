"""A small WebDriver client (plain HTTP, standard library only) for Debian's chromium-driver.

    with Browser() as b:
        b.open("file:///tmp/x.svg")
        b.js("return document.title")
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--hide-scrollbars", "--force-device-scale-factor=1"]
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Control": "\ue009", "Alt": "\ue00a",
        "Shift": "\ue008", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014",
        "Down": "\ue015", "Tab": "\ue004", "Backspace": "\ue003"}


def missing():
    """The name of a program that is not installed, or None."""
    for tool in ("chromium", "chromedriver"):
        if not shutil.which(tool):
            return tool
    return None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Browser:
    def __init__(self, width=1200, height=900):
        self.width, self.height = width, height
        self.dir = tempfile.mkdtemp()
        self.driver = None
        self.session = None

    def __enter__(self):
        self.port = free_port()
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=%d" % self.port], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.wait_ready()
        args = ARGS + ["--user-data-dir=" + os.path.join(self.dir, "profile"),
                       "--window-size=%d,%d" % (self.width, self.height)]
        caps = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": {
            "binary": shutil.which("chromium"), "args": args}}}
        try:
            self.session = self.call("POST", "/session", {"capabilities": caps})["sessionId"]
        except RuntimeError as e:
            self.__exit__()
            print("no browser starts here: " + " ".join(str(e).split()))
            sys.exit(77)
        self.base = "/session/" + self.session
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self.call("DELETE", "/session/" + self.session)
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def wait_ready(self):
        for _ in range(100):
            try:
                if self.call("GET", "/status")["ready"]:
                    return
            except (OSError, urllib.error.URLError):
                pass
            time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        req = urllib.request.Request("http://127.0.0.1:%d%s" % (self.port, path), data, method=method,
                                     headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(req, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"]) from None

    def open(self, url):
        self.call("POST", self.base + "/url", {"url": url})

    def url(self):
        return self.call("GET", self.base + "/url")

    def js(self, script, *args):
        return self.call("POST", self.base + "/execute/sync", {"script": script, "args": list(args)})

    def choose(self, selector, paths):
        """Give files to a file input, as a user who picks them."""
        found = self.call("POST", self.base + "/element", {"using": "css selector", "value": selector})
        self.call("POST", self.base + "/element/%s/value" % list(found.values())[0], {"text": "\n".join(paths)})

    def drag(self, paths):
        """Files dragged onto the page, as the browser's own events."""
        data = {"items": [], "files": list(paths), "dragOperationsMask": 1}
        for what in "dragEnter", "dragOver", "drop":
            self.cdp("Input.dispatchDragEvent", type=what, x=300, y=300, data=data)

    def screenshot(self):
        return self.call("GET", self.base + "/screenshot")

    def click(self, x, y, key=None):
        """Click at a point of the viewport, with a modifier key held down."""
        point = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}
        sources = [point]
        if key:
            point["actions"].insert(0, {"type": "pause"})
            pause = [{"type": "pause"}] * 3
            sources.insert(0, {"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": KEYS[key]}] + pause + [{"type": "keyUp", "value": KEYS[key]}]})
        self.call("POST", self.base + "/actions", {"actions": sources})
        self.call("DELETE", self.base + "/actions")

    def move(self, x, y):
        self.call("POST", self.base + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
             "actions": [{"type": "pointerMove", "x": round(x), "y": round(y)}]}]})

    def keys(self, *names):
        """Type keys one after the other; "Control+f" holds the first."""
        actions = []
        for name in names:
            held = name.split("+") if len(name) > 1 else [name]
            values = [KEYS.get(k, k) for k in held]
            actions += [{"type": "keyDown", "value": v} for v in values]
            actions += [{"type": "keyUp", "value": v} for v in reversed(values)]
        self.call("POST", self.base + "/actions",
                  {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def cdp(self, cmd, **params):
        return self.call("POST", self.base + "/goog/cdp/execute", {"cmd": cmd, "params": params})

    def size(self, width, height):
        """Another size of the window; 0, 0: the first one."""
        if width:
            self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=1, mobile=False)
        else:
            self.cdp("Emulation.clearDeviceMetricsOverride")

    def printed(self, on):
        """As on paper: the events and the style, but no page."""
        self.js("window.dispatchEvent(new Event(arguments[0]))", "beforeprint" if on else "afterprint")
        self.cdp("Emulation.setEmulatedMedia", media="print" if on else "")

    def dark(self, on):
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def shot(self, path):
        """A PNG of the whole picture."""
        import base64
        size = self.js("const r = document.documentElement.getBoundingClientRect();"
                       "return [r.width, r.height]")
        png = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                       clip={"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1})
        with open(path, "wb") as out:
            out.write(base64.b64decode(png["data"]))
