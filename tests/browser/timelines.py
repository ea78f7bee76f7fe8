"""Timelines written down for timelineapi (its head comment has the form): small worlds with a
known course, for tests and for pictures."""
import random

MS = 1000000
CAUSES = {"lock": "start_thread;worker;handle;pthread_mutex_lock;futex_wait_[k];schedule_[k]",
          "io": "start_thread;worker;flush;fdatasync;ext4_sync_file_[k];io_schedule_[k];schedule_[k]",
          "net": "start_thread;worker;reply;recv;tcp_recvmsg_[k];schedule_[k]",
          "cond": "start_thread;worker;next_job;pthread_cond_wait;futex_wait_[k];schedule_[k]",
          "sleep": "start_thread;slow_disk;nanosleep;do_nanosleep_[k];schedule_[k]",
          "poll": "main;loop;epoll_wait;do_epoll_wait_[k];schedule_[k]",
          "runqueue": "-", "preempt": "start_thread;worker;compute;preempt_schedule_[k];schedule_[k]"}
OPEN, SUSPECT, IDLE, RUNNING, UNCLEAR, LOOP = 1, 2, 4, 8, 32, 64


class World:
    def __init__(self, start=100 * MS, end=1100 * MS, ncpus=4, host="web1"):
        self.start, self.end = start, end
        self.threads, self.rest, self.samples, self.panels = [], [], [], []
        self.offs = []
        self.head = "rec\t%s\t%d\t%d\t%d\t%d" % (host, start, end, 1763722087123456789, ncpus)

    def thread(self, name, pid, tid, flags=0, first=None, last=None, cpu=0):
        self.threads.append("thread\t%s\t%d\t%d\t%d\t%d\t%d\t%s" % (
            name, pid, tid, self.start if first is None else first,
            self.end if last is None else last, flags, cpu))
        return len(self.threads) - 1

    def off(self, thread, start, end, blocked, cause, flags=0, waker=-1, context=None, state=None,
            stack=None, unknown=0, cpus=(0, 0), from_stack="start_thread;worker;unlock;futex_wake_[k]"):
        state = state or ("R+" if flags & RUNNING else "S")
        context = context if context is not None else (1 if waker >= 0 else 0)
        self.offs.append((thread, start, "off\t%d\t%d\t%d\t%d\t%s\t%s\t%d\t%d\t%s\t%d\t%d\t%s\t%s\t%s" % (
            thread, start, end, blocked, cause, state, flags, unknown, stack or CAUSES.get(cause, "-"),
            waker, context, from_stack if waker >= 0 else "-", cpus[0], cpus[1])))

    def sample(self, thread, time, stack="start_thread;worker;handle;parse;memcpy"):
        self.samples.append((time, "sample\t%d\t%d\t%s" % (thread, time, stack)))

    def line(self, *words):
        self.rest.append("\t".join(str(w) for w in words))

    def pick(self, top=50, cpus=1, start=None, end=None):
        self.panels.append("pick\t%d\t%d\t%d\t%d" % (start or self.start, end or self.end, top, cpus))

    def text(self):
        offs = [o[2] for o in sorted(self.offs)]
        samples = [s[1] for s in sorted(self.samples)]
        return "\n".join([self.head] + self.threads + offs + samples + self.rest + self.panels) + "\n"


def convoy(panel=True):
    """Six workers and a snapshot thread that holds their lock for 12 ms."""
    w = World(100 * MS, 140 * MS, 4)
    snap = w.thread("snapshot", 4711, 4711, cpu=3)
    workers = [w.thread("worker-%d" % i, 4711, 4712 + i, cpu=i % 3) for i in range(6)]
    w.off(snap, 100 * MS, 110 * MS, 10 * MS, "sleep", IDLE, context=4, cpus=(3, 3))
    w.off(snap, 114 * MS, 119 * MS, int(4.9 * MS), "io", context=4, state="D", cpus=(3, 3))
    w.off(snap, 122 * MS, 140 * MS, 18 * MS, "sleep", UNCLEAR | LOOP | OPEN, cpus=(3, 3))
    rng = random.Random(3)
    for i, t in enumerate(workers):
        at = 100 * MS
        while at < 111 * MS:
            run = rng.randrange(60000, 500000)
            nap = rng.randrange(200000, 900000)
            if at + run > 111 * MS:
                break
            w.off(t, at + run, at + run + nap, nap - 20000, "net", context=3, cpus=(i % 3, i % 3))
            at += run + nap
        at = max(at, 110 * MS + 300000 * (i + 1))
        free = 122 * MS + i * 700000
        w.off(t, at, free + 40000, free - at, "lock", waker=snap if i == 0 else workers[i - 1],
              cpus=(i % 3, i % 3))
        w.line("mark", t, at, "probe:lock_wait", "mutex=0x1000 owner=%d" % (4711 + i if i else 4711))
        at = free + 40000 + 600000
        while at < 139 * MS:
            nap = rng.randrange(200000, 1500000)
            end = min(at + nap, 140 * MS)
            w.off(t, at, end, end - at - 15000, "net", context=3, cpus=(i % 3, i % 3))
            at = end + rng.randrange(60000, 700000)
        for k in range(12):
            w.sample(t, free + 60000 + k * 50000)
    for k in range(12):
        w.sample(snap, 110 * MS + k * 300000, "start_thread;snapshot;copy_tables;memcpy")
    w.line("irq", 3, 112 * MS, 113 * MS, "softirq NET_RX")
    w.line("span", workers[2], 108 * MS, 125 * MS, "request")
    w.line("mark", workers[2], 111 * MS, "probe:slow_path", "id=7")
    w.line("loss", 2, 131 * MS, 132 * MS, 311, 0)
    if panel:
        w.pick(20, 1)
    return w, snap, workers


def preempted():
    """A market data engine that a batch job and a real-time hog push off its CPU."""
    w = World(0, 20 * MS, 2, "md7")
    engine = w.thread("md-engine", 900, 901, cpu=1)
    hog = w.thread("fifo-hog", 77, 77, cpu=1)
    batch = w.thread("batch", 88, 88, cpu=1)
    at = 0
    w.off(hog, 0, 5 * MS, 5 * MS, "sleep", IDLE, context=4, cpus=(1, 1))
    w.off(hog, 9 * MS, 20 * MS, 11 * MS, "sleep", IDLE | OPEN, cpus=(1, 1))
    w.off(batch, 0, 12 * MS, 11 * MS, "poll", IDLE, context=4, cpus=(1, 1))
    w.off(batch, 13 * MS, 14 * MS, 0, "preempt", RUNNING, cpus=(1, 1))
    w.off(batch, 16 * MS, 20 * MS, 4 * MS, "poll", IDLE | OPEN, cpus=(1, 1))
    for start, end, blocked, cause, flags in (
            (1 * MS, 2 * MS, 990000, "net", IDLE), (3 * MS, 4 * MS, 980000, "net", IDLE),
            (5 * MS, 9 * MS, 0, "preempt", RUNNING), (10 * MS, 11 * MS, 995000, "net", IDLE),
            (12 * MS, 13 * MS, 0, "preempt", RUNNING), (14 * MS, 16 * MS, 700000, "net", IDLE),
            (17 * MS, 18 * MS, 0, "runqueue", 0)):
        w.off(engine, start, end, blocked, cause, flags, context=3 if blocked else 0, cpus=(1, 1))
    for k in range(20):
        w.sample(engine, k * MS + 400000, "main;on_packet;book_update;insert")
    w.pick(20, 1)
    return w


def idle():
    """A server with nothing to do: timers, and one request."""
    w = World(0, 1000 * MS, 4, "dev3")
    for i in range(24):
        t = w.thread("httpd" if i else "httpd-main", 500, 500 + i, cpu=i % 4)
        at, rng = 0, random.Random(i)
        while True:
            nap = rng.randrange(20 * MS, 400 * MS)
            end = at + nap
            if end >= 1000 * MS:
                w.off(t, at, 1000 * MS, 1000 * MS - at, "poll", IDLE | OPEN, cpus=(i % 4, i % 4))
                break
            w.off(t, at, end, nap - 8000, "poll", IDLE, context=4, cpus=(i % 4, i % 4))
            at = end + rng.randrange(20000, 900000)
    w.pick(20, 1)
    return w


def busy(threads=200, ncpus=8, ms=1000, seed=1):
    """A busy server: threads share CPUs in turns, wait for locks, disks and each other."""
    w = World(0, ms * MS, ncpus, "db12")
    rng = random.Random(seed)
    names = ["postgres", "java", "nginx", "redis"]
    ids = [w.thread(names[i * len(names) // threads], 1000 + i * len(names) // threads * 1000 if i % 3 else
                    1000 + i * len(names) // threads * 1000, 2000 + i) for i in range(threads)]
    free = [0] * ncpus
    ready = [(rng.randrange(0, 5 * MS), i) for i in range(threads)]
    went = {i: None for i in range(threads)}
    import heapq
    heapq.heapify(ready)
    end = ms * MS
    while ready:
        t, i = heapq.heappop(ready)
        c = min(range(ncpus), key=lambda x: free[x])
        start = max(t, free[c])
        if start >= end:
            start = end
        off_at, blocked_until, cause, waker, cpu = went[i] or (0, t, "net", -1, 0)
        preempt = cause == "preempt"
        flags = (RUNNING if preempt else 0) | (IDLE if cause in ("poll", "cond") else 0)
        if start > off_at:
            w.off(ids[i], off_at, start, 0 if preempt else min(blocked_until, start) - off_at, cause,
                  flags | (OPEN if start == end or not went[i] else 0), waker=waker,
                  context=None if waker >= 0 else 0 if preempt else 3, cpus=(cpu, c))
        if start >= end:
            continue
        run = int(min(rng.expovariate(1 / 130000.0) + 4000, 4 * MS))
        stop = min(start + run, end)
        free[c] = stop
        for s in range((start // MS + 1) * MS, stop, MS):
            w.sample(ids[i], s)
        if stop >= end:
            continue
        cause = rng.choices(["net", "lock", "io", "cond", "poll", "preempt"], [6, 3, 3, 3, 3, 2])[0]
        nap = 0 if cause == "preempt" else int(rng.expovariate(1 / (1.2 * MS)) + 5000)
        waker = rng.choice(ids) if cause in ("lock", "cond") else -1
        waker = -1 if waker == ids[i] else waker
        went[i] = (stop, min(stop + nap, end), cause, waker, c)
        heapq.heappush(ready, (min(stop + nap, end), i))
    w.pick(threads, 1)
    return w


def episodes():
    """What tail shows: two worst waits of the convoy, each with its own sentence."""
    w, snap, workers = convoy(False)
    w.panels.append("\t".join(str(x) for x in (
        "episode", 110 * MS + 300000, 122 * MS + 40000, 0,
        "#1  11.7 ms  worker-0 4712 waited for a lock that snapshot 4711 held: 7 ms copying tables, "
        "5 ms in fdatasync (io). root cause: snapshot holds the lock across its flush",
        workers[0], snap)))
    w.panels.append("\t".join(str(x) for x in (
        "episode", 110 * MS + 900000, 123 * MS + 440000, 2,
        "#2  12.5 ms  worker-2 4714 waited for the same lock, behind worker-0 and worker-1",
        workers[2], workers[1], workers[0], snap)))
    return w
