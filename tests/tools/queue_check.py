# queue_check.py SCRIPT STORE - offcpu.cpu_queue against the target_cpu of perf script's wakeups
# (perf script --ns -F time,event,trace): the first one inside each wait.
import re
import sqlite3
import sys

wakeups = {}
line = re.compile(r"\s*(\d+)\.(\d+):\s+sched:sched_wakeup(?:_new)?: .*pid=(\d+) prio=\d+ target_cpu=(\d+)")
for text in open(sys.argv[1], errors="replace"):
    m = line.match(text)
    if m:
        at = int(m[1]) * 10**9 + int(m[2])
        wakeups.setdefault(int(m[3]), []).append((at, int(m[4])))

right = pulled = wrong = 0
rows = sqlite3.connect(sys.argv[2]).execute(
    "SELECT t.tid, o.start_ns, o.end_ns, o.cpu_queue, o.cpu_in FROM offcpu o"
    " JOIN threads t ON t.id = o.thread_id"
    " WHERE NOT o.running AND NOT o.suspect AND o.unknown_reason IS NULL")
for tid, start, end, queue, cpu_in in rows:
    inside = [cpu for at, cpu in wakeups.get(tid, []) if start <= at <= end]
    if not inside:
        continue
    if queue == inside[0]:
        right += 1
        pulled += queue != cpu_in
    else:
        wrong += 1
        print("tid %d at %d: queue %s, woken into %s" % (tid, start, queue, inside))
print("%d waits in the queue of their wakeup, %d of them pulled by another CPU, %d wrong"
      % (right, pulled, wrong))
sys.exit(wrong > 0 or not right)
