#!/usr/bin/env python3
"""kallsyms.py PERF_DATA >kallsyms: the lines of /proc/kallsyms that the kernel addresses of a
recording fall into, their successors (so that extents stay right) and the text boundaries.
Run as root, in the boot that made the recording."""
import bisect
import subprocess
import sys

out = subprocess.run(["perf", "script", "-F", "ip,sym", "--no-inline", "-i", sys.argv[1]],
                     capture_output=True, text=True).stdout
ips = set()
for line in out.split("\n"):
    word = line.split()
    if word and len(word[0]) == 16 and word[0] > "ffff8":
        ips.add(int(word[0], 16))

by_addr = {}
for line in open("/proc/kallsyms"):
    by_addr.setdefault(int(line.split()[0], 16), []).append(line)
starts = sorted(by_addr)
keep = set()
for ip in ips:
    for back in (0, 1):  # a return address may be the first byte of the next function
        i = bisect.bisect_right(starts, ip - back) - 1
        keep.update(starts[max(i, 0):i + 2])
for addr in starts:
    names = {line.split()[2] for line in by_addr[addr]}
    if addr in keep or names & {"_text", "_stext", "_etext", "_sinittext", "_einittext"}:
        sys.stdout.writelines(by_addr[addr])
