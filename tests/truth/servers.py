#!/usr/bin/env python3
"""servers.py [-n N] [--seconds S] [--bin NAME=PATH]... [--sites] [PATTERN] - is idle time of well-known servers hidden?

Starts nginx, Redis, memcached, PostgreSQL and a Java HTTP server, each alone, and lets four clients ask
one small thing after the other with pauses of 10 ms between. The clients log their requests. While no
request is under way, whatever the server's threads wait for is not a request's: that is idle time. Prints
the share of it that perfkit hides, recorded with frame pointers and with stack dumps; with --sites the
sites that are not hidden, by their idle time. --bin takes another binary than the one that is installed,
as one with symbols.

Needs root, perf and the servers; those that are not there are left out by name. Environment as in
tests/requests/matrix.py. Exit 77 when nothing can be recorded here."""
import argparse
import collections
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SRC, "tests", "requests"))
import matrix  # noqa: E402

CLIENTS, PAUSE = 4, 0.01
HTTP = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
# question; what the answer ends with
ASK = {"nginx": (HTTP, b"ok\n"), "redis": (b"*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n", b"\r\n"),
       "memcached": (b"get key\r\n", b"END\r\n"), "java": (HTTP, b"ok\n")}
JAVA = """
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
public class Serve {
	public static void main(String[] a) throws Exception {
		HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 0);
		s.setExecutor(Executors.newFixedThreadPool(4));
		s.createContext("/", x -> {
			byte[] ok = "ok\\n".getBytes();
			x.sendResponseHeaders(200, ok.length);
			x.getResponseBody().write(ok);
			x.close();
		});
		s.start();
	}
}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def as_postgres():
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def nginx(exe, work, port):
    conf = os.path.join(work, "nginx.conf")
    with open(conf, "w") as f:
        f.write("daemon off; worker_processes 2; pid %s/pid; error_log stderr; user nobody nogroup;\n"
                "events { } http { access_log off; %s server { listen 127.0.0.1:%d;\n"
                "root %s; } }\n" %
                (work, " ".join("%s_temp_path %s/%s;" % (k, work, k) for k in ("client_body", "proxy")), port, work))
    with open(os.path.join(work, "index.html"), "w") as f:
        f.write("ok\n")
    return [exe, "-e", "stderr", "-p", work, "-c", conf], {}


def redis(exe, work, port):
    return [exe, "--port", str(port), "--save", "", "--appendonly", "no", "--dir", work], {}


def memcached(exe, work, port):
    return [exe, "-u", "nobody", "-l", "127.0.0.1", "-p", str(port), "-t", "4"], {}


def java(exe, work, port):
    with open(os.path.join(work, "Serve.java"), "w") as f:
        f.write(JAVA)
    subprocess.run(["javac", "-d", work, os.path.join(work, "Serve.java")], check=True)
    return [exe, "-Xmx64m", "-XX:+PreserveFramePointer", "-cp", work, "Serve", str(port)], {}


def postgres(exe, work, port):
    os.chmod(work, 0o755)
    data = os.path.join(work, "data")
    os.mkdir(data)
    shutil.chown(data, "postgres")
    folder = os.path.dirname(os.path.realpath(exe))
    subprocess.run([os.path.join(folder, "initdb"), "-A", "trust", "-D", data], check=True,
                   stdout=subprocess.DEVNULL, **as_postgres())
    return [os.path.realpath(exe), "-D", data, "-p", str(port), "-c", "unix_socket_directories="], as_postgres()


SERVERS = {"nginx": nginx, "redis": redis, "memcached": memcached, "postgres": postgres, "java": java}
INSTALLED = {"redis": "redis-server"}
# Names of threads that are not the server's own, but the Java program's: they wait in code of java.util.
OTHERS = {"java": ("pool-", "HTTP-", "java")}


class Wire:
    def __init__(self, name, port):
        self.question, self.end = ASK[name]
        self.s = socket.create_connection(("127.0.0.1", port))

    def ask(self):
        self.s.sendall(self.question)
        got = b""
        while not got.endswith(self.end):
            more = self.s.recv(4096)
            if not more:
                raise EOFError(got)
            got += more


class Psql:
    def __init__(self, port):
        self.p = subprocess.Popen(["psql", "-XqAt", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "postgres"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def ask(self):
        self.p.stdin.write(b"SELECT count(*) FROM pg_class;\n")
        if not self.p.stdout.readline():
            raise EOFError("psql")


def connect(name, port):
    return Psql(port) if name == "postgres" else Wire(name, port)


def drive(name, port, seconds, log):
    """The clients, started by perf: ask until the time is over, and log each request."""
    until, lines = time.monotonic() + seconds, []

    def client():
        wire = connect(name, port)
        while time.monotonic() < until:
            start = time.monotonic_ns()
            wire.ask()
            lines.append("%d %d\n" % (start, time.monotonic_ns()))
            time.sleep(PAUSE)

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with open(log, "w") as f:
        f.writelines(lines)


def family(pid):
    """The process and all its children's children."""
    parents = collections.defaultdict(list)
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % p) as f:
                parents[int(f.read().rsplit(")", 1)[1].split()[1])].append(int(p))
        except OSError:
            pass
    out = [pid]
    for p in out:
        out += parents[p]
    return set(out)


def wait_for(name, port):
    for _ in range(200):
        try:
            connect(name, port).ask()
            return True
        except (OSError, EOFError):
            time.sleep(0.1)
    return False


def record(name, port, stacks, seconds, data, log):
    return matrix.run("perf", "record", "-q", "-a", "-m", "4096", "-k", "CLOCK_MONOTONIC", *matrix.STACKS[stacks],
                      "-e", matrix.EVENTS, "-o", data, "--", sys.executable, os.path.abspath(__file__),
                      "--drive", name, str(port), str(seconds), log)


def judge(store, log, pids, others):
    """Idle time, how much of it is hidden, and by site what is not."""
    with open(log) as f:
        busy = matrix.union(tuple(map(int, line.split())) for line in f)
    first, last = busy[0][0], busy[-1][1]
    db = sqlite3.connect(store)
    idle = hidden = 0
    shown = collections.Counter()
    for comm, start, blocked, verdict, *site in db.execute(
            "SELECT c.comm, o.start_ns, o.blocked_ns, s.verdict, s.role, s.cause, y.name, s.reason FROM offcpu o "
            "JOIN threads t ON t.id = o.thread_id LEFT JOIN comms c ON c.id = t.comm_id JOIN sites s ON s.id = o.site_id LEFT JOIN frames f ON f.id = s.frame_id "
            "LEFT JOIN symbols y ON y.id = f.symbol_id WHERE o.blocked_ns > 0 AND t.pid IN (%s)" %
            ",".join(map(str, pids))):
        if (comm or "").startswith(others):
            continue
        a, b = max(start, first), min(start + blocked, last)
        ns = b - a - matrix.overlap(busy, a, b) if a < b else 0
        idle += ns
        if verdict == "idle":
            hidden += ns
        elif ns:
            shown[(verdict, *site)] += ns
    return idle, hidden, shown


def measure(name, exe, stacks, args, work):
    port, folder = free_port(), tempfile.mkdtemp(dir=work)
    os.chmod(folder, 0o755)
    command, how = SERVERS[name](exe, folder, port)
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)
    data, log, store = (os.path.join(folder, x) for x in ("perf.data", "log", "store"))
    try:
        if not wait_for(name, port):
            return None
        rc = record(name, port, stacks, args.seconds, data, log)
        pids = family(server.pid)
        if rc not in (0, 143) or not os.path.exists(log):
            return None
        if matrix.run(matrix.PERFKIT, "import", "-q", "-f", data, "-o", store):
            return None
        return judge(store, log, pids, OTHERS.get(name, ()) or "\n")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
        if args.keep and os.path.exists(data):
            shutil.copy(data, os.path.join(args.keep, "%s-%s.data" % (name, stacks)))
        shutil.rmtree(folder, ignore_errors=True)


def main():
    if sys.argv[1:2] == ["--drive"]:
        return drive(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5])
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("-n", type=int, default=1)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--bin", action="append", default=[])
    p.add_argument("--sites", action="store_true")
    p.add_argument("--keep")
    p.add_argument("pattern", nargs="?", default="")
    args = p.parse_args()
    work = tempfile.mkdtemp()
    os.chmod(work, 0o755)
    try:
        if matrix.run("perf", "record", "-q", "-a", "-e", "sched:sched_switch", "-o", work + "/try", "--", "true"):
            print("perf cannot record scheduler events here")
            return 77
        return table(args, work)
    finally:
        shutil.rmtree(work)


def table(args, work):
    others = dict(b.split("=", 1) for b in args.bin)
    print("| idle time that is hidden | %s |\n|---|%s" % (" | ".join(matrix.STACKS), "---|" * len(matrix.STACKS)))
    for name in SERVERS:
        exe = others.get(name) or shutil.which(INSTALLED.get(name, name))
        if args.pattern not in name:
            continue
        if not exe:
            print("| %s | not here |" % name)
            continue
        cells, shown = [], collections.Counter()
        for stacks in matrix.STACKS:
            got = [m for m in (measure(name, exe, stacks, args, work) for _ in range(args.n)) if m]
            cells.append(matrix.share(sum(m[1] for m in got), sum(m[0] for m in got)))
            for m in got:
                shown += collections.Counter({(stacks, *k): ns for k, ns in m[2].items()})
        print("| %s%s | %s |" % (name, " (another)" if name in others else "", " | ".join(cells)), flush=True)
        for site, ns in shown.most_common(12) if args.sites else []:
            print("    %8.0f ms  %s" % (ns / 1e6, "  ".join(str(x) for x in site)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
