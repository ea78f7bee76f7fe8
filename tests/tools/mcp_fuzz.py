"""Hostile requests to `perfkit mcp`, in an empty folder: mcp_fuzz.py PERFKIT SRC SEED CALLS|SECONDSs [--trace]

Whatever is sent, each request gets one answer that is JSON of one line, within budget and time; no child is ended by a
signal; memory stays bounded; no file is written but temporary ones, and nothing is read that is not below the folder
given, to which ../outside has links. --trace also looks at the files that the server opens, with strace (1).
"""
import json, os, random, re, select, shutil, socket, subprocess, sys, time

PERFKIT, SRC, SEED, LENGTH = sys.argv[1:5]
FOLDER, FILE = "in", "small.data"
TRACE = "--trace" in sys.argv
HERE = os.getcwd()
BUDGET, TIMEOUT, CANARY, MEMORY = 3000, 10, b"canary-of-outside", 200 << 20
rnd = random.Random(int(SEED))
calls = refused = lines_sent = 0
slowest = (0, b"")

def make_folders():
    for d in ("in/sub", "outside", "tmp", "home"):
        os.makedirs(d)
    shutil.copy(SRC + "/testdata/sched/perf.data", "in/small.data")
    data = open("in/small.data", "rb").read()
    for name, content in (("short", data[:3000]), ("noise", rnd.randbytes(5000)), ("empty", b""), ("unreadable", data)):
        open("in/%s.data" % name, "wb").write(content)
    os.chmod("in/unreadable.data", 0)
    open("outside/secret.data", "wb").write(open(SRC + "/testdata/uprobe/perf.data", "rb").read() + CANARY)
    for link, to in (("link.data", "../outside/secret.data"), ("linked", "../outside"), ("loop", "loop")):
        os.symlink(to, "in/" + link)
    os.mkfifo("in/fifo")
    s = socket.socket(socket.AF_UNIX)
    s.bind("in/socket")
    s.close()

def tree():
    found = {}
    for top in (FOLDER, "outside", "home"):
        for path, folders, names in os.walk(top):
            if ".cache" in folders: # of unpacked bundles
                folders.remove(".cache")
            for n in names:
                s = os.lstat(os.path.join(path, n))
                found[path + "/" + n] = (s.st_mode, s.st_size, s.st_mtime_ns)
    return found

class Server:
    def __init__(self, *more):
        trace = ["strace", "-f", "-qq", "-e", "trace=%file", "-o", "trace"] if TRACE and not more else []
        self.p = subprocess.Popen(trace + [PERFKIT, "mcp", "--budget", str(BUDGET), "--timeout", str(TIMEOUT), FOLDER],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ, HOME=HERE + "/home", TMPDIR=HERE + "/tmp"))
        self.rest, self.pings = b"", 0
    def write(self, data):
        # answers may fill their pipe before the whole line is sent
        for at in range(0, len(data), 1 << 16):
            self.p.stdin.write(data[at:at + (1 << 16)])
        self.p.stdin.flush()
    def read_line(self, until):
        while b"\n" not in self.rest:
            assert select.select([self.p.stdout], [], [], max(0, until - time.time()))[0], "no answer in time"
            more = os.read(self.p.stdout.fileno(), 1 << 20)
            assert more, "the server ended: %s" % self.p.wait()
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line
    def answers(self, line):
        """What the server says of one line, which has no newline; then a ping shows that it lives."""
        global lines_sent
        lines_sent += 1
        self.pings += 1
        mark = "ping-%d" % self.pings
        self.write(line + b"\n" + b'{"jsonrpc":"2.0","id":"%s","method":"ping"}\n' % mark.encode())
        until, said = time.time() + TIMEOUT + 5, []
        while True:
            raw = self.read_line(until)
            assert CANARY not in raw and b"root:x:0" not in raw, raw
            x = json.loads(raw.decode("utf-8"))
            assert x["jsonrpc"] == "2.0" and ("result" in x) != ("error" in x), x
            if x.get("id") == mark:
                return said
            said.append(x)
            check(x)
    def memory(self):
        pid = self.p.pid if not TRACE else int(open("/proc/%d/task/%d/children" % (self.p.pid, self.p.pid)).read().split()[0])
        return int(re.search(r"VmRSS:\s+(\d+)", open("/proc/%d/status" % pid).read()).group(1)) << 10

def check(x):
    """An answer is short; an error is one line; no call crashed."""
    if "error" in x:
        assert isinstance(x["error"]["code"], int) and "\n" not in x["error"]["message"] and len(json.dumps(x)) < 70000, x
        return
    content = x["result"].get("content")
    if content is None:
        return
    text = "\n".join(c["text"] for c in content)
    assert sum(len(c["text"].encode()) for c in content) <= BUDGET, ("too long", text)
    assert "ended by signal" not in text and "no answer within" not in text and "Sanitizer" not in text, text
    assert not x["result"]["isError"] or text.strip(), "a failure without a word"
    assert not x["result"]["isError"] or text.count("\n") <= 6, ("not a line after warnings", text)

# --- hostile values -----------------------------------------------------------------------

def deep(n, a="[", b="]"):
    return a * n + "1" + b * n
NUMBERS = ["0", "-0", "-1", "1", "1e400", "-1e-400", "1.5", "9007199254740993", "999999999999999", "9223372036854775807",
           "9223372036854775808", "18446744073709551616", "-9223372036854775808", "1" * 400, "0.1e1", "01", "+1", "NaN", "0x10"]
OTHERS = ["null", "true", "false", "[]", "{}", "[[]]", '[null]', '[1,"a"]', '{"a":1}', deep(60), deep(100), deep(5000),
          deep(70, '{"a":', "}"), '["a",["b"]]', "[" + ",".join(['"x"'] * 200) + "]"]
PATHS = ["", ".", "..", "/", "-", "--", "../outside/secret.data", "outside", "link.data", "linked", "linked/secret.data",
         "loop", "fifo", "socket", "/dev/zero", "/dev/stdin", "/dev/fd/0", "/proc/self/mem", "/proc/self/fd/0", "/proc/self/environ",
         "/proc/self/root/etc/passwd", "/etc/passwd", "/proc/1/cmdline", FILE + "/", FILE + "/../" + FILE, "./" + FILE, FILE + "\x00.txt",
         "a/" * 3000, "x" * 300, "~", "~/x", "file:" + FILE, "*", "empty.data", "short.data", "noise.data", HERE + "/outside/secret.data",
         HERE + "/" + FOLDER, HERE + "/" + FOLDER + "/../outside/secret.data", "sub/../../outside/secret.data", "unreadable.data"]
OPTIONS = ["--", "-o", "-ox", "--svg", "--svg=" + HERE + "/outside/made", "--html=made.html", "--csv", "--json", "--help", "--with=../outside/secret.data",
           "--max-memory=1", "--no-sandbox", "--causes=/etc/passwd", "-o " + HERE + "/made", "@" + HERE + "/outside/secret.data"]
TEXTS = ["", " ", "a", "\n", "\r\n", "\x1b]0;x\x07", "\x00", "a\x00b", "\u202e" * 100, "\ud800", "é" * 1000, "x" * 200000, "%s%n%d", "'", '"',
         "`id`", "$(touch made)", "; touch made", "|", "*" * 5000, "[" * 5000, "(" * 5000, "(a*)*b", "((a{1,255}){1,255}){1,255}",
         "(" * 200 + "a" + ")*" * 200, "\\", "a|" * 20000, "[[:nosuch:]]", "*a*a*a*a*a*a*a*a*a*a*a*b", ".*.*.*.*.*.*.*=x", "1,2", "5,1", "nan,inf",
         "-1,-2", "1e308,1e309", "0,99999999999999999999", "-1", "0", "1e99", "99.99999999", "100", "101", "-0.5", "5ms", "9" * 40, "9" * 40 + "s",
         "8859+0.5392", "+", "8859+", "+0.5", "wait:1+1", "site:", "site:2183a736", "function:" + "f" * 500, "gap:CPU+", "0+-1", "text", "json", "markdown",
         "junit", "max>=5ms", "max>=", ">=", "waits<10", "nosuch=1", "max>=1e400", "label:", "label:x", "span:", "span:*", "window", "activation",
         "gap", "new root", "new", "function * self more 10%", "function * more nan%", "wait p99 more 1e5%", "more more more", "span  p50 less 0%",
         "name:1", "CON", "main.c:99999999999999999999", ":1", "main.c:", "second", "recording"]
USUAL = {"by": ["function", "site", "lock", "thread", "wait", "activation"], "format": ["json", "markdown"], "over": ["1us"], "pct": ["50"],
         "group": ["holder", "comm"], "filter": ["max>=1us"], "sort": ["-total"], "comm": ["*"], "time": ["0,1"], "for": ["tail"], "symfs": ["."],
         "per": ["recording"], "fail-on": ["new root"], "function": ["[libc.so.6]"], "work-frame": ["."], "idle-frame": ["no"]}

def quoted(s):
    return json.dumps(s, ensure_ascii=rnd.random() < 0.5 or any(0xd800 <= ord(c) < 0xe000 for c in s))

def mutated(s):
    b = bytearray(s.encode("utf-8", "surrogatepass"))
    for _ in range(rnd.randint(1, 4)):
        at = rnd.randrange(len(b) + 1)
        kind = rnd.randrange(4)
        if kind == 0:
            b[at:at] = bytes([rnd.randrange(256)])
        elif kind == 1 and b:
            del b[at % len(b)]
        elif kind == 2 and b:
            b[at % len(b)] = rnd.randrange(256)
        else:
            b[at:at] = b[at:at + rnd.randint(1, 30)]
    return bytes(b).replace(b"\n", b" ").replace(b"\r", b" ")

def usual(name, kind):
    value = quoted(rnd.choice(USUAL.get(name, ["x"])))
    return {"integer": rnd.choice(("1", "3", "700", "99999")), "boolean": "true", "array": "[%s]" % value}.get(kind, value)

def hostile(kind, name=None):
    if name not in ("file", "before", "after") and name and rnd.random() < 0.3:
        return usual(name, kind)
    pool = rnd.choice((NUMBERS, OTHERS, PATHS, OPTIONS, TEXTS, TEXTS, PATHS))
    value = rnd.choice(pool)
    one = value if pool in (NUMBERS, OTHERS) else quoted(value)
    if kind == "array" and rnd.random() < 0.7:
        return "[" + ",".join([one] * rnd.choice((1, 1, 2, 3, 127, 129))) + "]"
    if kind == "integer" and rnd.random() < 0.5:
        return rnd.choice(NUMBERS)
    if kind == "boolean" and rnd.random() < 0.5:
        return "true"
    return one

def request(tool, arguments, number):
    return '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%s,"arguments":%s}}' % (number, json.dumps(tool), arguments)

def valid(tool, skip=None):
    """Arguments without which the tool does not run."""
    have = {"file": quoted(FILE), "before": '["%s"]' % FILE, "after": '["small.data"]'}
    return ['"%s":%s' % (k, have[k]) for k in tool["inputSchema"]["required"] if k != skip]

def one_call(server, tool, name):
    global calls, refused, slowest
    kind = tool["inputSchema"]["properties"][name]["type"]
    arguments = valid(tool, name) + ['"%s":%s' % (name, hostile(kind, name))]
    for _ in range(rnd.choice((0, 1, 1, 2, 3))):
        more = rnd.choice([n for n in tool["inputSchema"]["properties"] if n not in ("file", "before", "after")] or ["x"])
        kind = tool["inputSchema"]["properties"].get(more, {}).get("type")
        arguments.append('"%s":%s' % (more, usual(more, kind) if rnd.random() < 0.9 else hostile(kind)))
    rnd.shuffle(arguments)
    line = request(tool["name"], "{" + ",".join(arguments) + "}", str(1000 + calls)).encode("utf-8", "surrogatepass")
    line = line.replace(b"\n", b" ")
    begun = time.time()
    try:
        said = server.answers(line)
        # one answer: to that id, or that the line is no JSON-RPC
        assert len(said) == 1 and said[0]["id"] in (1000 + calls, None), said
    except Exception:
        print("request:", line[:3000])
        raise
    slowest = max(slowest, (time.time() - begun, line[:300]))
    calls += 1
    refused += "error" in said[0] or said[0]["result"]["isError"]

# --- hostile messages ---------------------------------------------------------------------

PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
CALL = request("brief", '{"file":"%s"}' % FILE, "8")
# a line, and how many answers it has
MESSAGES = [(b"\x00", 1), (b"\xff\xfe", 1), (b"{", 1), (b"}", 1), (b"[]", 1), (b"null", 1), (b"1e400", 1), (b'"', 1), (b" ", 1), (b"\t\r", 1),
            (deep(100000).encode(), 1), (deep(100000, '{"a":', "}").encode(), 1), (b"[" * 1000000, 1), (b"{}", 1),
            (("[%s,%s]" % (PING, PING)).encode(), 1), ((PING + PING).encode(), 1),
            (b'{"jsonrpc":"2.0","method":"ping"}', 0), (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}', 0),
            (b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"files"}}', 0), (b'{"jsonrpc":"2.0","id":9,"result":{}}', 0),
            (b'{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"x"}}', 0), (b'{"jsonrpc":"1.0","id":9,"method":"ping"}', 1),
            (b'{"id":9,"method":"ping"}', 1), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', 1), (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', 1),
            (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', 1), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 1),
            (b'{"jsonrpc":"2.0","id":1e99,"method":"ping"}', 1), (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', 1),
            (b'{"jsonrpc":"2.0","id":9,"id":10,"method":"ping"}', 1), (b'{"jsonrpc":"2.0","id":9,"method":"ping","method":"tools/list"}', 1),
            (b'{"jsonrpc":"2.0","id":"","method":""}', 1), (b'{"jsonrpc":"2.0","id":"\\u0000\\ud800","method":"ping"}', 1),
            (b'{"jsonrpc":"2.0","id":9,"method":"ping\\u0000"}', 1), (b'{"jsonrpc":"2.0","id":9,"method":5}', 1),
            (b'{"jsonrpc":"2.0","id":9,"method":"tools/call"}', 1), (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[]}', 1),
            (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"report\\u0000"}}', 1),
            (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"mcp","arguments":{}}}', 1),
            (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"files","arguments":5}}', 1),
            (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"files","arguments":{"x":1}}}', 1),
            (b'{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":{"a":[]}}}', 1),
            (b'{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"%s"}}' % (b"9" * 100000), 1),
            (b'{"jsonrpc":"2.0","id":9,"method":"initialize"}', 1), (b'{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', 1),
            (b'{"jsonrpc":"2.0","id":"%s","method":"ping"}' % (b"i" * 60000), 1)]

def messages(server, longest):
    assert server.answers(CALL.encode())[0]["result"]["isError"] is False # before initialize
    for line, want in MESSAGES:
        said = server.answers(line)
        assert len(said) == want, (line[:200], said)
    for line in (b"x" * longest, b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b"y" * longest + b'"}'):
        assert [a["error"]["code"] for a in server.answers(line)] == [-32600]
    assert server.memory() < MEMORY, server.memory()
    # the same id twice has two answers
    server.write((CALL + "\n" + CALL + "\n").encode())
    assert [json.loads(server.read_line(time.time() + 2 * TIMEOUT))["id"] for _ in "12"] == [8, 8]

def endings():
    """Half a line, then the end."""
    for data, want in ((b"", 0), (PING.encode(), 1), (PING[:20].encode(), 1), ((PING + "\n" + CALL[:40]).encode(), 2), (b"\x00", 1)):
        p = subprocess.run([PERFKIT, "mcp", FOLDER], input=data, stdout=subprocess.PIPE, timeout=60)
        assert p.returncode == 0 and len([json.loads(l) for l in p.stdout.splitlines()]) == want, (data, p)

def opened():
    """Files that the traced server opened, though not for it to run."""
    own = re.compile(r"^(/lib|/usr/lib|/etc/ld\.so|/dev/null$|/proc/self(/|$)|/proc/sys/|/sys/|%s/(%s|home|tmp)(/|$))" %
                     (re.escape(HERE), re.escape(FOLDER)))
    bad = set()
    for line in open("trace", errors="replace"):
        m = re.search(r'(\w+)\((?:AT_FDCWD, )?"((?:[^"\\]|\\.)*)"(.*)= (-?\d+)', line)
        if not m or int(m.group(4)) < 0:
            continue
        call, path, rest = m.group(1), m.group(2), m.group(3)
        if call in ("stat", "lstat", "newfstatat", "readlink", "access", "faccessat", "faccessat2", "statx", "execve", "getcwd", "statfs"):
            continue
        path = os.path.normpath(os.path.join(HERE, path))
        if call == "mkdir" and path.startswith(HERE + "/home/.cache"):
            continue
        writes = re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", rest) and not path.startswith(HERE + "/tmp")
        if "open" not in call or writes or not own.match(path):
            bad.add((call, path, rest[:60]))
    assert FOLDER + "/" + FILE in open("trace", errors="replace").read()
    return bad

def main():
    make_folders()
    before = tree()
    server = Server()
    tools = server.answers(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')[0]["result"]["tools"]
    pairs = [(t, n) for t in tools for n in t["inputSchema"]["properties"]]
    by_time = LENGTH.endswith("s")
    until = time.time() + float(LENGTH[:-1]) if by_time else None
    messages(server, 100 << 20 if by_time else 8 << 20)
    rnd.shuffle(pairs)
    at = 0
    while time.time() < until if by_time else at < int(LENGTH):
        one_call(server, *pairs[at % len(pairs)])
        if at % 5 == 0:
            said = server.answers(mutated(CALL if at % 2 else PING))
            assert len(said) <= 1, said
        at += 1
    assert server.memory() < MEMORY, server.memory()
    server.p.stdin.close()
    assert server.p.wait(60) == 0
    endings()
    after = tree()
    assert not os.listdir("tmp"), os.listdir("tmp")
    assert after == before, [k for k in set(before) | set(after) if before.get(k) != after.get(k)]
    if TRACE:
        assert not opened(), opened()
    print("slowest: %.1f s: %s" % slowest)
    print("%d lines, %d calls, %d refused, %d arguments of %d tools" % (lines_sent, calls, refused, len(pairs), len(tools)))

main()
