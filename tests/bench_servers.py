"""bench_servers.py PERFKIT [SERVER...]: what recording costs real servers of this machine (PostgreSQL, Redis, nginx,
a compiler), by their own benchmarks: without, with `perf sched record`, with `perfkit record tail` of the server alone, and
with that by perf alone. In turns, medians of ROUNDS (5) runs of SECONDS (5); for docs/recording-cost.md. Needs root, perf and
the server; one that is missing is left out by name."""
import collections
import glob
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PERFKIT = os.path.abspath(sys.argv[1])
ROUNDS, SECONDS = int(os.environ.get("ROUNDS", 5)), int(os.environ.get("SECONDS", 5))
HERE = os.path.dirname(os.path.abspath(__file__))
MODES = {
    "nothing": None,
    "perf sched record": ["perf", "sched", "record", "-q", "-o"],
    "record tail": [PERFKIT, "record", "tail", "--comm", "{comm}", "-o"],
    "record tail --recorder perf": [PERFKIT, "record", "tail", "--recorder", "perf", "--comm", "{comm}", "-o"],
}


def run(words, **kw):
    return subprocess.run(words, capture_output=True, text=True, **kw)


def quiet(words, **kw):
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kw)


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise RuntimeError("no %s in: %s" % (pattern, text[-300:]))
    return float(found.group(1))


class Postgres:
    comm = "postgres"

    def __init__(self, folder, clients):
        self.folder, self.clients = folder, clients
        bins = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self.needs = bins and shutil.which("setpriv")
        self.bin = bins[-1] if bins else ""

    def word(self, name, *more):
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", f"{self.bin}/{name}", *more]

    def start(self):
        shutil.chown(self.folder, "postgres", "postgres")
        data = f"{self.folder}/data"
        run(self.word("initdb", "-D", data, "-A", "trust"), check=True)
        self.server = quiet(self.word("postgres", "-D", data, "-k", self.folder, "-c", "listen_addresses=",
                                      "-c", "max_connections=100"))
        for _ in range(100):
            if not run(self.word("pgbench", "-h", self.folder, "-i", "-s", "10", "-q", "postgres")).returncode:
                return
            time.sleep(0.1)

    def load(self, seconds):
        out = run(self.word("pgbench", "-h", self.folder, "-c", str(self.clients), "-T", str(seconds), "-l",
                            f"--log-prefix={self.folder}/log", "postgres"), cwd=self.folder).stdout
        took = []
        for path in glob.glob(f"{self.folder}/log.*"):
            with open(path, encoding="ascii") as f:
                took += [int(line.split()[2]) for line in f]
            os.unlink(path)
        return number(r"tps = ([0-9.]+)", out), sorted(took)[len(took) * 99 // 100] / 1000

    def stop(self):
        self.server.send_signal(signal.SIGQUIT)
        self.server.wait()


class Redis:
    comm = "redis-server"

    def __init__(self, folder, fsync):
        self.folder, self.fsync = folder, fsync
        self.needs = shutil.which("redis-server") and shutil.which("redis-benchmark")

    def start(self):
        self.socket = f"{self.folder}/redis"
        self.server = quiet(["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.folder, "--save", "",
                             "--appendonly", "yes" if self.fsync else "no", "--appendfsync", "always"])
        time.sleep(1)
        self.rate = self.ask(20000)[0]

    def ask(self, n):
        out = run(["redis-benchmark", "-s", self.socket, "-t", "set", "-c", "20", "-n", str(int(n)), "--csv"]).stdout
        row = out.strip().split("\n")[-1].replace('"', "").split(",")
        return float(row[1]), float(row[6])

    def load(self, seconds):
        return self.ask(self.rate * seconds)

    def stop(self):
        self.server.terminate()
        self.server.wait()


class Nginx:
    comm = "nginx"

    def __init__(self, folder, _):
        self.folder = folder
        self.needs = shutil.which("nginx") and shutil.which("wrk")

    def start(self):
        with open(f"{self.folder}/conf", "w", encoding="ascii") as f:
            f.write("daemon off; worker_processes 1; pid %s/pid; error_log /dev/null; events {} http { access_log off;"
                    " server { listen 127.0.0.1:18080; location / { return 200 'hello'; } } }" % self.folder)
        self.server = quiet(["nginx", "-c", f"{self.folder}/conf"])
        time.sleep(1)

    def load(self, seconds):
        out = run(["wrk", "-t1", "-c16", f"-d{seconds}", "--latency", "http://127.0.0.1:18080/"]).stdout
        unit = {"us": 0.001, "ms": 1, "s": 1000}[re.search(r"99% +[0-9.]+([a-z]+)", out).group(1)]
        return number(r"Requests/sec: +([0-9.]+)", out), number(r"99% +([0-9.]+)", out) * unit

    def stop(self):
        self.server.terminate()
        self.server.wait()


class Compiler:
    comm = "cc1"

    def __init__(self, folder, _):
        self.folder = folder
        self.needs = shutil.which("gcc")
        self.files = sorted(glob.glob(os.path.join(HERE, "../libparse/*.c")))

    def start(self):
        pass

    def load(self, seconds):
        done, end, running = 0, time.time() + seconds, []
        while time.time() < end:
            while len(running) < 2:
                running.append(quiet(["gcc", "-O2", "-I", os.path.join(HERE, ".."), "-D_GNU_SOURCE", "-c", "-o", "/dev/null",
                                      self.files[done % len(self.files)]]))
                done += 1
            running.pop(0).wait()
        for p in running:
            p.wait()
        return done / (time.time() - end + seconds), 0

    def stop(self):
        pass


SERVERS = {
    "PostgreSQL, 8 clients": (Postgres, 8),
    "PostgreSQL, 64 clients": (Postgres, 64),
    "Redis": (Redis, False),
    "Redis, fsync always": (Redis, True),
    "nginx, wrk": (Nginx, None),
    "gcc, two at once": (Compiler, None),
}


def begin(words, data):
    """The recording, when it has begun: it plans under the load that there is."""
    p = subprocess.Popen(words + [data], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(150):
        time.sleep(0.1)
        if os.path.exists(data) and os.path.getsize(data) > 4096 or p.poll() is not None:
            break
    time.sleep(0.3)
    return p


def measure(server, mode, folder):
    """(throughput, p99 ms, MB/s, lost)"""
    words = MODES[mode]
    if not words:
        return (*server.load(SECONDS), 0, 0)
    data = f"{folder}/perf.data"
    # the load of the measured seconds is there while the recording is planned
    pid = os.fork()
    if not pid:
        server.load(4)
        os._exit(0)
    time.sleep(0.7)
    p = begin([w.format(comm=server.comm) for w in words], data)
    os.waitpid(pid, 0)
    result = server.load(SECONDS)
    p.send_signal(signal.SIGINT)
    said = p.communicate()[1]
    if p.returncode == 3:
        print("# %s: %s" % (mode, said.strip()), flush=True)
        return None
    cost = run([PERFKIT, "doctor", data]).stdout
    if "MB/s" not in cost:
        raise RuntimeError(f"{mode}: {said[-500:]} {cost[:500]}")
    lost = re.search(r"([0-9]+) lost", cost)
    os.unlink(data)
    for beside in glob.glob(data + ".*"):
        os.unlink(beside)
    return (*result, number(r"([0-9.]+) MB/s", cost), int(lost.group(1)) if lost else 0)


def bench(name, kind, how):
    folder = tempfile.mkdtemp(prefix="bench-")
    server = kind(folder, how)
    if not server.needs:
        print(f"| {name} | not installed here |", flush=True)
        return
    got = collections.defaultdict(list)
    server.start()
    try:
        for _ in range(ROUNDS):
            for mode in MODES:
                row = measure(server, mode, folder)
                got[mode] += [row] if row else []
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    base = statistics.median(x[0] for x in got["nothing"])
    for mode, v in got.items():
        if not v:
            continue
        done, p99, rate, lost = (statistics.median(x[i] for x in v) for i in range(4))
        print("| %s | %s | %.0f/s | %+.1f %% | %s | %.1f | %d |" % (
            name, mode, done, 100 * (done / base - 1), "%.2f ms" % p99 if p99 else "", rate, lost), flush=True)


def main():
    print("| server | recorded by | done | against nothing | p99 | MB/s | lost |\n|---|---|---|---|---|---|---|", flush=True)
    for name, how in SERVERS.items():
        if len(sys.argv) < 3 or any(a.lower() in name.lower() for a in sys.argv[2:]):
            bench(name, *how)


main()
