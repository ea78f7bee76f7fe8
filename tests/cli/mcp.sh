#!/bin/sh
# perfkit mcp: what is outside the folders is not read, nothing is written, answers are bounded, and a call that fails
# ends neither the server nor the next call; with the public client library, where it is installed.
set -u
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
mkdir in outside tmp
export TMPDIR=$PWD/tmp
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # LeakSanitizer reads /proc, which a call does not see
cp "$SRC/testdata/orders/orders.tar.zst" in/
cp "$SRC/testdata/waits/perf.data" outside/
cp outside/perf.data in/waits.data
ln -s ../outside/perf.data in/link.data
ln -s ../outside in/linked
head -c 3000 outside/perf.data >in/short.data
: >outside/x
python3 - "$PERFKIT" "$PWD" <<'END' || exit 1
import json, subprocess, sys
perfkit, here = sys.argv[1:]
p = subprocess.Popen([perfkit, "mcp", "--budget", "3k", "in"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
last = 0
def ask(method, **params):
    global last
    last += 1
    p.stdin.write(json.dumps({"jsonrpc": "2.0", "id": last, "method": method, "params": params}).encode() + b"\n")
    p.stdin.flush()
    x = json.loads(p.stdout.readline())
    assert x["id"] == last, x
    return x.get("result") or x["error"]
def call(name, **arguments):
    r = ask("tools/call", name=name, arguments=arguments)
    text = r["content"][0]["text"]
    call.said = r["content"][-1]["text"]
    assert sum(len(c["text"].encode()) for c in r["content"]) <= 3000, (name, arguments, len(text))
    return text, r["isError"]
def works(name, want, **arguments):
    text, failed = call(name, **arguments)
    assert not failed and want in text, (name, arguments, text)
def fails(want, name, **arguments):
    text, failed = call(name, **arguments)
    assert failed and want in text, (name, arguments, text)
ask("initialize", protocolVersion="2025-06-18")
text, failed = call("files")
assert [l.split("  ")[0] for l in text.splitlines()] == [here + "/in/" + f for f in
        ("orders.tar.zst", "short.data", "waits.data")], text
o = "orders.tar.zst"
works("brief", "worst wait", file=o)
works("brief", "worst wait", file=here + "/in/" + o)
works("tail", "root cause", file=o, top=3)
works("tail", '"episodes"', file=o, format="json")
works("report", "site", file=o, by="site")
works("tail", "1 episode has that id", file=o, episode="8859+0.539214")
works("tail", "snapshot", file=o, **{"work-frame": "snapshot"})
works("report", "| lock |", file=o, by="lock", format="markdown")
works("source", "work_ns", file=o, function="work_ns")
works("doctor", "can answer", file=o)
works("compare", "cannot say", before=[o], after=["waits.data"])
json.loads(call("report", file=o, by="function", format="json", budget=700)[0])
# outside, by any way
for path in ("../outside/perf.data", here + "/outside/perf.data", "link.data", "linked/perf.data", "/etc/passwd", "",
             "in", "/proc/self/maps", "-", "--stats", "orders.tar.zst/../../outside/perf.data", "\u202e" * 70000):
    text, failed = call("report", file=path)
    assert failed and "waits" not in text and "root:" not in text, (path, text)
fails("no such file below", "tail", file=o, symfs="../outside")
# no option that is none of the tool's, and none inside a value
fails("no such argument", "tail", file=o, svg=here + "/outside/x")
fails("no such argument", "report", file=o, **{"max-memory": "1"})
fails("", "report", file=o, by="site --force")
fails("is no function", "source", file=o, function="--json")
fails("", "report", file="short.data")
fails("not one of", "report", file=o, format="xml")
works("brief", "worst wait", file=o)
p.stdin.write(b'nonsense\n{"jsonrpc":"2.0","method":"x"}\n')
p.stdin.flush()
assert json.loads(p.stdout.readline())["error"]["code"] == -32700
p.stdin.close()
assert p.wait() == 0 and p.stdout.read() == b""
END
[ -z "$(find tmp -mindepth 1)" ] && [ ! -s outside/x ] && [ "$(ls in | wc -l)" = 5 ] || { find .; exit 1; }
# whoever writes in the folders puts a link, a pipe or another file where a recording was looked at;
# without Landlock, which would hold the link, too
mkdir swapped && cp outside/perf.data swapped/kept && cp "$SRC/testdata/sched/perf.data" outside/other.data
python3 - "$PERFKIT" <<'END' || exit 1
import json, os, subprocess, sys, time
swap = subprocess.Popen([sys.executable, "-c", """
import os
os.chdir("swapped")
while os.getppid() == %d:
    for make in (lambda: os.link("kept", "new"), lambda: os.symlink("../outside/other.data", "new"), lambda: os.mkfifo("new")):
        make()
        os.rename("new", "x.data")
""" % os.getpid()])
while not os.path.lexists("swapped/x.data"):
    time.sleep(0.05)
p = subprocess.Popen([sys.argv[1], "mcp", "--no-sandbox", "--timeout", "20", "swapped"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
said = {}
until = time.time() + 60
while time.time() < until and (len(said) < 3 or sum(said.values()) < 1000):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "report", "arguments": {"file": "x.data", "by": "thread"}}}
    p.stdin.write(json.dumps(call).encode() + b"\n")
    p.stdin.flush()
    text = "".join(c["text"] for c in json.loads(p.stdout.readline())["result"]["content"])
    assert "ping" not in text and "no answer within" not in text, text
    kind = "waits" if "waits/" in text else "changed" if "Stale" in text else "none" if "no such file" in text else text
    said[kind] = said.get(kind, 0) + 1
swap.kill()
p.stdin.close()
assert p.wait() == 0 and set(said) <= {"waits", "changed", "none"} and said.get("none"), said
END
"$PERFKIT" mcp >out 2>err && exit 1
grep -q 'name the folders' err || { cat err; exit 1; }
"$PERFKIT" mcp --budget 10 in >out 2>err </dev/null && exit 1
"$PERFKIT" mcp in/waits.data >out 2>err </dev/null && exit 1
# hostile requests; for longer by hand
(mkdir fuzz && cd fuzz && python3 "$SRC/tests/tools/mcp_fuzz.py" "$PERFKIT" "$SRC" 1 300) >out 2>&1 || { cat out; exit 1; }
# the list of files within the budget
mkdir many
long=$(printf %060d 0)
for i in 1 2 3 4 5 6 7 8 9; do cp in/short.data many/$long$i.data; done
echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files"}}' | "$PERFKIT" mcp --budget 1000 many >out
[ "$(grep -o '[.]data  0' out | wc -l)" -lt 9 ] && grep -q '0.0 MB.u000aleft out: more files' out || { cat out; exit 1; }
# the protocol's own client libraries, of PyPI and of npm
client()
{
	"$@" "$PERFKIT" in orders.tar.zst >out 2>&1
	case $? in
	0) ;;
	77) echo "left out: a client library ($(cat out))" ;;
	*) cat out; exit 1 ;;
	esac
}
reader=$O/readers/bin/python3
[ -x "$reader" ] && "$reader" -c 'import mcp' 2>/dev/null || reader=python3
client "$reader" "$SRC/tests/tools/mcp_client.py"
if command -v node >/dev/null; then
	client node "$SRC/tests/tools/mcp_client.cjs" "$O/readers"
else
	echo "left out: node"
fi
