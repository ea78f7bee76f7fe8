"""same_hits.py PERF_DATA OWN_DATA: are the tracepoint hits of two recordings of the same seconds the same? Of each CPU and
event, their fields in order, where both recorded; the thread, too, unless perf no longer knew it (-1). Without those of the idle
task, which perf does not see on every CPU of some virtual machines; its parent may make a zombie dead between the two. Says how
many hits there were and the largest difference of times; exit 1 when one differs."""
import re
import subprocess
import sys

NEAR = 1_000_000  # ns
MOST_MORE = 200  # one in so many may be seen by the program alone: perf does not see what happens while it writes a record
MARGIN = 5_000_000  # ns from where the later one began and the earlier one ended
LINE = re.compile(r"\s*(-?\d+) \[(\d+)\]\s+(\d+)\.(\d{9}):\s+((?:sched|irq):\w+): (.*)")


def hits(path):
    text = subprocess.run(["perf", "script", "-i", path, "--ns", "-F", "tid,cpu,time,event,trace"], capture_output=True, text=True,
                          errors="replace", check=True).stdout
    found = {}
    for line in text.splitlines():
        m = LINE.match(line)
        if m and m.group(1) != "0":
            tid, cpu, s, ns, event, fields = m.groups()
            found.setdefault((cpu, event), []).append((int(s) * 10**9 + int(ns), tid, fields.strip().replace("prev_state=X", "prev_state=Z")))
    return found


def main():
    perf, own = hits(sys.argv[1]), hits(sys.argv[2])
    begin = max(min(v[0][0] for v in x.values()) for x in (perf, own)) + MARGIN
    end = min(max(v[-1][0] for v in x.values()) for x in (perf, own)) - MARGIN
    failed = count = more = worst = 0
    for key in sorted(k for k in own if k[1] in {event for _, event in perf}):
        a, b = ([h for h in x.get(key, []) if begin <= h[0] <= end] for x in (perf, own))
        count += len(b)
        more += len(b) - len(a)
        rest = iter(b)
        for x in a:
            y = next((y for y in rest if x[2] == y[2] and x[1] in (y[1], "-1") and abs(x[0] - y[0]) < NEAR), None)
            if not y:
                print(key, "has only perf:", x)
                failed = 1
                break
            worst = max(worst, abs(x[0] - y[0]))
    print(f"{count} hits in {(end - begin) / 1e9:.1f} s, {more} of them not perf's, times differ by at most {worst} ns")
    sys.exit(failed or not count or more * MOST_MORE > count)


main()
