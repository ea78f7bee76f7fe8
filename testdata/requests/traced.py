"""traced.py LOG - a small service in Python, traced by viztracer: two threads parse orders and save them
under one lock, which a slow audit holds now and then. LOG has the begin and end of each request on
CLOCK_MONOTONIC, by the program's own clock, with its thread."""
import sys
import threading
import time

ledger = threading.Lock()
log = []


def parse(n):
    for i in range(3000):
        n += i * i
    return n


def save(n):
    with ledger:
        time.sleep(0.0002)
    return n


def order(n):
    parse(n)
    save(n)


def audit():
    with ledger:
        time.sleep(0.009)


def serve(who):
    for n in range(31):
        begin = time.monotonic_ns()
        order(n)
        log.append((begin, time.monotonic_ns(), threading.get_native_id(), "%d-%d" % (who, n)))
        if who == 0 and n % 10 == 5:
            threading.Thread(target=audit, name="audit").start()
            time.sleep(0.001)


workers = [threading.Thread(target=serve, args=(i,), name="orders-%d" % i) for i in range(2)]
for w in workers:
    w.start()
for w in workers:
    w.join()
with open(sys.argv[1], "w") as f:
    print("start_ns,end_ns,tid,key", file=f)
    for row in log:
        print("%d,%d,%d,%s" % row, file=f)
