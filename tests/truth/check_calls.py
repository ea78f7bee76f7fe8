"""What a program counted in its own calls beside what perfkit says of them.

check_calls.py LOG CALLS.csv NAME: CALLS.csv is `perfkit tail --by span:NAME --csv --top 0`.
"""
import csv
import sys

log, calls, name = sys.argv[1:]
truth, at = [], None
for line in open(log):
    kind, tid, a, b = line.split()
    if kind == name:
        at = int(tid), int(a), int(b)
    elif kind == name + "-counts":
        truth.append(at + (int(a), int(b)))
rows = sorted(csv.DictReader(open(calls)), key=lambda r: int(r["end_ns"]))
assert len(truth) > 10, log
# the first calls are not in the log
rows = rows[len(rows) - len(truth):]
assert len(rows) == len(truth), (len(rows), len(truth))
for row, (tid, begin, end, faults, switches) in zip(rows, truth):
    assert int(row["tid"]) == tid, row
    assert int(row["duration_ns"]) >= end - begin, (row, begin, end)
    got = int(row["page-faults"]), int(row["context-switches"])
    assert got == (faults, switches), (row, faults, switches)
    assert row["page-faults_error"] == row["context-switches_error"] == "0", row
    assert int(row["task-clock"]) > 0, row
# The thread's clock ran no longer than the call and its probes. It is read a little after the time was, with an
# interrupt or another virtual machine between the two now and then.
over = [r for r in rows
        if int(r["task-clock"]) > int(r["duration_ns"]) + int(r.get("probe-cost") or 0) + 1000]
assert len(over) * 10 <= len(rows), over
print("%s: %d calls" % (name, len(rows)))
