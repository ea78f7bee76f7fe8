#!/usr/bin/env python3
"""check.py PROGRAM LOG INTERVALS [THREADS] [--rounds N] - what a program of this folder measured
of itself against perfkit's intervals.

LOG is the program's own; INTERVALS is `tldump FILE` (or of a store); THREADS the lines "tid comm
first_ns last_ns" of a store's threads. Each kind of wait has its own check; all say what they
compared, and a comparison of nothing is a failure.
"""
import collections
import re
import sys

NOISE = 300_000   # ns between a program's clock reading and the switch beside it


class Off:
    def __init__(self, line):
        m = re.match(r"(\d+) (.*?) (\d+) (\d+) blocked=(\d+) runnable=(\d+) preempted=(\d+) "
                     r"state=(\S*) cause=(\S+) ?(.*?) ?unknown=(.*?) cpu=(-?\d+)>(-?\d+) "
                     r"ctx=(\S*) waker=(-?\d+)", line)
        if not m:
            sys.exit("not a line of tldump: " + line)
        self.tid, self.comm, self.start, self.end = int(m[1]), m[2], int(m[3]), int(m[4])
        self.blocked, self.runnable, self.preempted = int(m[5]), int(m[6]), int(m[7])
        self.cause, self.flags, self.unknown = m[9], m[10], m[11]
        self.cpu_out, self.cpu_in, self.waker = int(m[12]), int(m[13]), int(m[15])


class Check:
    def __init__(self, program, log, intervals, threads, rounds):
        self.program, self.rounds, self.bad, self.compared = program, rounds, [], 0
        self.worst = 0
        self.log = collections.defaultdict(list)
        for line in open(log):
            kind, tid, start, end = line.split()
            self.log[kind].append((int(tid), int(start), int(end)))
        self.offs = collections.defaultdict(list)
        for line in open(intervals, errors="replace"):
            o = Off(line)
            self.offs[o.tid].append(o)
        self.threads = [line.rstrip("\n").split("|") for line in open(threads)] if threads else []

    def want(self, ok, text):
        self.compared += 1
        if not ok:
            self.bad.append(text)

    def inside(self, tid, start, end, cause=None):
        return [o for o in self.offs[tid] if o.end > start and o.start < end
                and (cause is None or o.cause in cause)]

    def off_ns(self, tid, start, end):
        return sum(min(o.end, end) - max(o.start, start) for o in self.inside(tid, start, end))

    def excused(self, offs):
        """Intervals that records are missing of say nothing exact."""
        return any(o.unknown or "suspect" in o.flags or "open" in o.flags for o in offs)

    def waits(self, kind, causes, waker=None, least=0, count=None):
        """Each logged wait is one interval of these causes that fills it up to noise."""
        for tid, start, end in self.log[kind]:
            if end - start < least:
                continue
            offs = self.inside(tid, start, end, causes)
            if self.excused(self.inside(tid, start, end)):
                self.want(True, "")
                continue
            rest = end - start - self.off_ns(tid, start, end)
            self.worst = max(self.worst, rest)
            self.want(len(offs) == 1, f"{kind} {tid} {start}: {len(offs)} intervals of {causes}")
            self.want(0 <= rest < NOISE, f"{kind} {tid} {start}: {rest} ns are left over")
            if waker and offs:
                self.want(offs[0].waker in waker, f"{kind} {tid} {start}: woken by {offs[0].waker}")
        if count is not None:
            got = len(self.log[kind])
            self.want(got == count, f"{got} waits logged, {count} expected")

    def tids(self, kind):
        return {tid for tid, _, _ in self.log[kind]}

    # --- one check a program ---------------------------------------------------------------

    def hold(self):
        self.waits("wait", {"lock", "rwlock", "semaphore", "futex"}, waker=self.tids("hold"))
        self.want(len(self.log["hold"]) == self.rounds, "holds")
        self.want(len(self.log["wait"]) > self.rounds // 2, f"only {len(self.log['wait'])} waits")

    def sleeper(self):
        self.waits("wait", {"sleep"}, count=self.rounds)
        mine = [o for o in self.offs[self.log["wait"][0][0]] if o.cause == "sleep"]
        self.want(len(mine) == self.rounds, f"{len(mine)} sleeps, not {self.rounds}")

    def handoff(self):
        self.waits("wait", {"cond", "futex", "lock"}, waker=self.tids("wait"), least=100_000)

    def pingpong(self):
        self.waits("wait", {"pipe"}, waker=self.tids("wait"), least=40_000, count=2 * self.rounds)
        for tid in self.tids("wait"):
            n = sum(o.cause == "pipe" for o in self.offs[tid])
            self.want(n in (self.rounds, self.rounds - 1), f"{tid} waited {n} times for the pipe")

    def spinner(self):
        for (tid, start, end), (_, _, cpu) in zip(sorted(self.log["life"]), sorted(self.log["cpu"])):
            offs = self.inside(tid, start, end)
            run = end - start - self.off_ns(tid, start, end)
            self.want(abs(run - cpu) < 3_000_000 or self.excused(offs), f"{tid}: ran {run}, used {cpu}")
            self.want(all(o.blocked == 0 for o in offs), f"{tid} blocked")
            self.want(sum(o.preempted for o in offs) > 100_000_000, f"{tid} was hardly preempted")

    def quota(self):
        (tid, start, end), (_, _, cpu) = self.log["life"][0], self.log["cpu"][0]
        said = self.log["throttled"][0][2]
        offs = self.inside(tid, start, end)
        run = end - start - self.off_ns(tid, start, end)
        self.want(abs(run - cpu) < 3_000_000 or self.excused(offs), f"ran {run}, used {cpu}")
        self.want(all(o.blocked == 0 for o in offs), "blocked")
        put_off = [o for o in offs if o.cause == "throttle"]
        self.want(said > 5, f"the kernel throttled {said} times only")
        self.want(said * 3 <= len(put_off) * 4 and len(put_off) <= said + 1,
                  f"{len(put_off)} intervals of throttle, the kernel says {said}")
        self.want(sum(o.preempted for o in put_off) * 2 > end - start - cpu,
                  "most of the time off was not throttle")

    def hog(self):
        for tid, start, end in self.log["late"]:
            offs = self.inside(tid, start, end)
            lost = sum(min(b[2], end) - max(b[1], start) for b in self.log["burst"]
                       if b[2] > start and b[1] < end)
            gone = sum(o.runnable for o in offs)
            self.want(gone >= lost - NOISE or self.excused(offs), f"late {start}: off {gone}, bursts {lost}")
        for tid, start, end in self.log["burst"]:
            for other in self.tids("late"):
                offs = self.inside(other, start, end)
                ran = end - start - self.off_ns(other, start, end)
                self.want(ran < NOISE or self.excused(offs), f"{other} ran {ran} ns during {start}")

    def storm(self):
        shorts = collections.defaultdict(list)
        for tid, comm, first, last in self.threads:
            shorts[int(tid)].append((int(first), int(last)))
        found = 0
        for tid, start, end in self.log["thread"]:
            lives = [x for x in shorts[tid] if x[0] <= start and end <= x[1]]
            found += len(lives) == 1
        named = sum(comm == "short" for _, comm, _, _ in self.threads)
        n = len(self.log["thread"])
        self.want(n == self.rounds, f"{n} threads logged")
        self.want(found == n, f"{n - found} of {n} threads have no life of their own")
        self.want(named == n, f"{named} threads are called short, not {n}")

    def forks(self):
        parent = None
        for tid, comm, first, last in self.threads:
            if comm == "forks":
                parent = int(tid)
        born = {int(tid): (int(first), int(last)) for tid, comm, first, last in self.threads
                if comm.startswith("true")}
        for pid, start, end in self.log["child"]:
            self.want(pid in born and start <= born[pid][0] <= born[pid][1] <= end,
                      f"child {pid} has no life within its fork and wait")
            offs = self.inside(parent, start, end, {"child"})
            self.want(len(offs) <= 1, f"{len(offs)} waits for child {pid}")
            if offs and not self.excused(offs):
                self.want(offs[0].waker in (pid, -1), f"wait for {pid} ended by {offs[0].waker}")
        self.want(len(self.log["child"]) == self.rounds, "children")
        waits = sum(o.cause == "child" for o in self.offs[parent])
        self.want(waits > self.rounds * 3 // 4, f"only {waits} waits for {self.rounds} children")

    def migrate(self):
        n = 0
        for cpu in (0, 1):
            for tid, start, end in self.log[f"cpu{cpu}"]:
                before = [o for o in self.offs[tid] if o.end <= start]
                if before and not self.excused(before[-1:]):
                    self.want(before[-1].cpu_in == cpu, f"at {start} it came to {before[-1].cpu_in}, not {cpu}")
                    n += 1
        self.want(n > self.rounds // 4, f"only {n} places known")

    def run(self):
        getattr(self, self.program)()
        print(f"{self.program}: {self.compared} comparisons, {len(self.bad)} failed, "
              f"at most {self.worst} ns beside a wait")
        for b in self.bad[:8]:
            print("  " + b)
        return 1 if self.bad or self.compared < 2 else 0


def main():
    args, rounds = sys.argv[1:], 0
    if "--rounds" in args:
        i = args.index("--rounds")
        rounds = int(args[i + 1])
        del args[i:i + 2]
    threads = args[3] if len(args) > 3 else None
    return Check(args[0], args[1], args[2], threads, rounds).run()


sys.exit(main())
