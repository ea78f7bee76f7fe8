#!/usr/bin/env python3
"""jitmap.py PERF_DATA: copy /tmp/perf-PID.map to symfs/tmp, only the lines that the addresses
of the samples fall into; replaces the map in /tmp by the same, so that perf and everybody else
read one file."""
import os
import re
import subprocess
import sys

text = subprocess.run(["perf", "script", "-F", "pid,ip,sym,dso", "--no-inline", "-i", sys.argv[1]],
                      capture_output=True, text=True).stdout
pids = sorted(set(re.findall(r"\(/tmp/perf-(\d+)\.map\)", text)))
for pid in pids:
    path = "/tmp/perf-%s.map" % pid
    ips = {int(m, 16) for m in re.findall(r"^\s+([0-9a-f]+) .*\(" + re.escape(path) + r"\)$", text, re.M)}
    kept = []
    for line in open(path, errors="surrogateescape"):
        start, size = (int(x, 16) for x in line.split()[:2])
        if any(start <= ip <= start + size for ip in ips):
            kept.append(line)
    os.makedirs("symfs/tmp", exist_ok=True)
    for target in ("symfs" + path, path):
        open(target, "w", errors="surrogateescape").writelines(kept)
    print("%s: %d lines kept" % (path, len(kept)), file=sys.stderr)
