"""holders_pg.py LOG SECONDS BINDIR - sessions of a PostgreSQL server, started here for it, queue for
one row. The log says when each session's server process had the row: "hold PID START_NS END_NS",
from the answer to its UPDATE to its COMMIT."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

log_file, seconds, bindir = sys.argv[1], float(sys.argv[2]), sys.argv[3]
home = tempfile.mkdtemp()
data, user = os.path.join(home, "data"), "postgres"
log = []


def run(*argv):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, user=user, cwd="/",
                   env={"PATH": os.environ["PATH"], "LC_ALL": "C"})


class Session:
    def __init__(self):
        self.p = subprocess.Popen([f"{bindir}/psql", "-qAtX", "-h", home, "-d", "postgres"], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1, user=user)
        self.pid = int(self.ask("select pg_backend_pid();"))

    def ask(self, sql):
        self.p.stdin.write(sql + "\n\\echo\n" if not sql.startswith("select") else sql + "\n")
        self.p.stdin.flush()
        return self.p.stdout.readline().strip()


def session(seed, stop):
    pick, s = random.Random(seed), Session()
    while time.monotonic() < stop:
        s.ask("begin;")
        s.ask("update account set n = n + 1 where id = 1;")
        start = time.monotonic_ns()
        if pick.random() < 0.5:
            s.ask("select 1 from pg_sleep(%f);" % (pick.random() * 0.01))
        else:
            s.ask("select sum(i %% 7) from generate_series(1, %d) i;" % pick.randrange(5000, 60000))
        end = time.monotonic_ns()
        s.ask("commit;")
        log.append((s.pid, start, end))
        time.sleep(pick.random() * 0.02)
    s.p.stdin.close()
    s.p.wait()


shutil.chown(home, user)
run(f"{bindir}/initdb", "-D", data, "-A", "trust", "-N")
run(f"{bindir}/pg_ctl", "-w", "-D", data, "-l", f"{home}/log", "-o",
    f"-k {home} -c listen_addresses= -c fsync=off", "start")
try:
    run(f"{bindir}/psql", "-qX", "-h", home, "-d", "postgres", "-c",
        "create table account as select 1 as id, 0 as n")
    threads = [threading.Thread(target=session, args=(n, time.monotonic() + seconds)) for n in range(5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
finally:
    run(f"{bindir}/pg_ctl", "-w", "-D", data, "-m", "immediate", "stop")
    shutil.rmtree(home, ignore_errors=True)
with open(log_file, "w") as f:
    f.writelines("hold %d %d %d\n" % hold for hold in log)
