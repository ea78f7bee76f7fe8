"""firefox.py - a headless Firefox by its own protocol (Marionette), for a look at pages in another
browser than Chromium."""
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time


def program():
    """The name of an installed Firefox, or None."""
    return next((p for p in ("firefox-esr", "firefox") if shutil.which(p)), None)


class DoesNotStart(Exception):
    pass


class Firefox:
    def __enter__(self):
        self.dir = tempfile.mkdtemp()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with open(os.path.join(self.dir, "user.js"), "w") as prefs:
            prefs.write('user_pref("marionette.port", %d);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'
                        'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n' % port)
        self.child = subprocess.Popen([program(), "--headless", "--marionette", "--no-remote", "--profile", self.dir],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      env=dict(os.environ, HOME=self.dir, MOZ_HEADLESS="1"))
        self.count = 0
        self.link = self.connect(port)
        self.read()
        self.call("WebDriver:NewSession", {})
        return self

    def connect(self, port):
        for _ in range(300):
            try:
                return socket.create_connection(("127.0.0.1", port), 60)
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        raise DoesNotStart("Firefox does not start")

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def read(self):
        size = b""
        while not size.endswith(b":"):
            size += self.link.recv(1)
        data = b""
        while len(data) < int(size[:-1]):
            data += self.link.recv(1 << 16)
        return json.loads(data)

    def call(self, command, params):
        self.count += 1
        text = json.dumps([0, self.count, command, params]).encode()
        self.link.sendall(str(len(text)).encode() + b":" + text)
        _, _, error, value = self.read()
        if error:
            raise RuntimeError(error["message"])
        return value

    def open(self, url):
        self.call("WebDriver:Navigate", {"url": url})

    def js(self, script, *args):
        return self.call("WebDriver:ExecuteScript", {"script": script, "args": list(args), "sandbox": None})["value"]

    def inline(self, script, *args):
        """The same as a script of the page, which sees what its scripts declared."""
        answer = Firefox.js(self, "const s = document.createElement('script');"
                         "s.textContent = 'window.answerOfTest = {}; try { answerOfTest.value = (function () {' + arguments[0] + '}).apply(null, ' +"
                         "JSON.stringify(arguments[1]) + ') } catch (e) { answerOfTest.error = String(e) }';"
                         "document.body.append(s); s.remove();"
                         "return JSON.stringify((window.wrappedJSObject || window).answerOfTest)", script, args)
        answer = json.loads(answer)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def choose(self, selector, paths):
        """Give files to a file input, as a user who picks them."""
        found = self.call("WebDriver:FindElement", {"using": "css selector", "value": selector})["value"]
        self.call("WebDriver:ElementSendKeys", {"id": list(found.values())[0], "text": "\n".join(paths)})

    def drag(self, paths):
        """Files dropped on the page: an input of its own gets them, and their event is the script's."""
        Firefox.js(self, "const i = document.createElement('input'); i.type = 'file'; i.multiple = true; i.id = 'dragged';"
                "document.body.append(i)")
        self.choose("#dragged", paths)
        Firefox.js(self, "const t = new DataTransfer(), i = document.getElementById('dragged');"
                "for (const f of i.files) t.items.add(f);"
                "i.remove(); document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: t, bubbles: true, cancelable: true}))")

    def screenshot(self):
        return self.call("WebDriver:TakeScreenshot", {"full": False})["value"]

    def size(self, width, height):
        self.call("WebDriver:SetWindowRect", {"width": width, "height": height})
