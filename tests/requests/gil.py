"""gil.py LOG [--seconds S] [--unnamed] - a front that hands jobs to a queue's worker and waits for
an event, while two threads compute and keep the interpreter's lock. "request": put until the event;
"idle": the worker in get(), the front between two requests. Log lines as requests.h says."""
import queue
import sys
import threading
import time

log, args = sys.argv[1], sys.argv[2:]
until = time.monotonic() + (float(args[args.index("--seconds") + 1]) if "--seconds" in args else 1)
lines, jobs, now = [], queue.Queue(), time.monotonic_ns


def say(kind, since, until=None):
    lines.append((kind, threading.get_native_id(), since, min(until or now(), now())))


def role(name):
    if "--unnamed" not in args:
        with open("/proc/thread-self/comm", "w") as comm:
            comm.write(name)


def cruncher():
    role("cruncher")
    n = 0
    while time.monotonic() < until:
        for i in range(20000):
            n += i * i


def worker():
    role("worker")
    while True:
        t = now()
        came, job = jobs.get()
        say("idle", t, max(t, came))
        if job is None:
            return
        time.sleep(0.002)
        job.set()


def handle_request():
    t, done = now(), threading.Event()
    jobs.put((now(), done))
    done.wait()
    say("request", t)


def front():
    role("front")
    while time.monotonic() < until:
        handle_request()
        t = now()
        time.sleep(0.003)
        say("idle", t, t + 3000000)


threads = [threading.Thread(target=f) for f in (cruncher, cruncher, worker, front)]
for t in threads:
    t.start()
threads[3].join()
jobs.put((now(), None))
for t in threads:
    t.join()
with open(log, "w") as out:
    out.writelines("%s %d %d %d\n" % line for line in lines)
