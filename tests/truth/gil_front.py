"""gil_front.py - `front` asks every 5 ms and needs CPython's GIL, which `cruncher` lets go only when
asked to for 5 ms."""
import ctypes
import threading
import time

stop = False


def named(name, work):
    def run():
        ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
        work()
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def crunch():
    n = 0
    while not stop:
        n += sum(i * i for i in range(2000))


def ask():
    global stop
    for _ in range(60):
        time.sleep(0.005)
        sum(range(100))
    stop = True


for thread in [named("cruncher", crunch), named("front", ask)]:
    thread.join()
