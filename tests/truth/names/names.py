"""names.py - as native.c, in Python: LOG SECONDS."""
import sys
import threading
import time


def leaf_one():
    x = 0
    for i in range(20000):
        x = x * 31 + i & 0xFFFF
    return x


def leaf_two():
    x = 1
    for i in range(20001):
        x = x * 33 ^ i & 0xFFFF
    return x


def outer_one():
    return leaf_one() + 1


def outer_two():
    return leaf_two() + 2


def main():
    tid = threading.get_native_id()
    lines = []
    end = time.monotonic_ns() + int(float(sys.argv[2]) * 1e9)
    i = 0
    while time.monotonic_ns() < end:
        start = time.monotonic_ns()
        run, chain = ((outer_one, "outer_one;leaf_one"), (outer_two, "outer_two;leaf_two"))[i & 1]
        while time.monotonic_ns() < start + 20000000:
            run()
        lines.append(f"{tid} {start} {time.monotonic_ns()} <module>;main;{chain}\n")
        i += 1
    with open(sys.argv[1], "a") as out:
        out.writelines(lines)


main()
