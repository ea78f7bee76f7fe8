#!/usr/bin/env python3
"""bystanders.py FILE [FILE...] -- COMM [COMM...]: in a system-wide recording, rename every
process and mapped file that is neither the workload (the names given), nor the kernel's, nor
the distribution's, to words with a number (service-03, /other-000012). The length stays, so that
nothing moves. Stack copies end with the process's environment: variables that are set here become
x's. A recording is about its workload; what else ran on that machine is nobody's business.
Uncompressed files only."""
import os
import re
import subprocess
import sys

split = sys.argv.index("--")
files, known = sys.argv[1:split], set(sys.argv[split + 1:])
known |= {"perf", "perf-exec", "swapper", "sh", "sleep", "dd", "taskset"}
kernel = re.compile(r"^(k?worker/|ksoftirqd/|migration/|rcu|kcompactd|kswapd|khugepaged|cpuhp/"
                    r"|kthreadd|pr/|ext4|jbd2/|idle_inject/|kauditd|oom_reaper|writeback|k[a-z]+d$)")
system = re.compile(rb"^(/usr/|/lib|/bin/|/sbin/|/srv/perfkit|\[|//|anon|/dev/zero|/tmp/perf-)")

# stems[n] has n letters.
stems = ["", "t", "by", "app", "task", "other", "daemon", "service", "neighbor", "bystander",
         "background", "maintenance", "housekeeping", "unrelated-job"]


def plain_comm(number, length):
    """A thread name of that length: a word and the number, or the number alone where it must be short."""
    digits = "-%02d" % number
    if length <= len(digits):
        return ("%0*d" % (length, number))[-length:].encode()
    return (stems[length - len(digits)] + digits).encode()


def plain_path(number, length):
    """A path of that length: /other-0000012."""
    head = "/other-" if length > 9 else "/"
    return (head + "%0*d" % (length - len(head), number)).encode()


def blank(match):
    """x's for a variable. Where the copy of the stack ends within it, the copy's size follows, of
    which two bytes at most are not zero: those two stay."""
    text = match[0]
    keep = 2 if match.string[match.end():match.end() + 6] == bytes(6) else 0
    return b"\0" + b"x" * (len(text) - 1 - keep) + text[len(text) - keep:]


comms, paths = set(), set()
for f in files[:1]:
    out = subprocess.run(["perf", "script", "-F", "comm,event,trace", "--show-task-events",
                          "-i", f], capture_output=True, text=True).stdout
    for line in out.split("\n"):
        m = re.search(r"PERF_RECORD_COMM[^:]*: (.*):\d+/\d+$", line)
        if m:
            comms.add(m.group(1))
        if line and not line.startswith(" "):
            comms.add(line[:16].strip())
        for field in re.findall(r"(?:^| |:)(?:prev_comm|next_comm|comm)=(.*?) (?:prev_pid|next_pid|pid)=", line):
            comms.add(field)
        for field in re.findall(r"sched_(?:switch|waking|wakeup\w*): (.*?):\d+ \[", line):
            comms.add(field)
        for field in re.findall(r"sched_process_exec: filename=(.*?) pid=", line):
            paths.add(field.encode())
        for field in re.findall(r"==> (.*?):\d+ \[", line):
            comms.add(field)
    out = subprocess.run(["perf", "script", "--show-mmap-events", "-F", "event", "-i", f],
                         capture_output=True, text=True).stdout
    for m in re.finditer(r"PERF_RECORD_MMAP2? .*?\]: [-rwxps]+ (.*)$", out, re.M):
        paths.add(m.group(1).encode())

renames, n = {}, 0
for name in sorted(comms):
    if name and name not in known and not kernel.match(name) and not re.match(r":-?\d+$", name):
        n += 1
        old = name.encode()[:15]
        renames[old] = plain_comm(n, len(old))
for path in sorted(paths):
    if not system.match(path):
        n += 1
        renames[path] = plain_path(n, len(path))
for f in files:
    data = open(f, "rb").read()
    for old in sorted(renames, key=len, reverse=True):
        data = re.sub(rb"(?<![/\w])" + re.escape(old) + rb"\0",
                      lambda m: renames[old] + b"\0", data)
    for name in os.environb:
        data = re.sub(rb"\0" + re.escape(name) + rb"=[^\0]*", blank, data)
    open(f, "wb").write(data)
print("renamed %d of %d names" % (len(renames), len(comms) + len(paths)), file=sys.stderr)
