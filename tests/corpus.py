#!/usr/bin/env python3
"""corpus.py CORPUS PERFKIT RECSTAT FOLDCHECK: read a folder of strangers' recordings as its
CATALOG.tsv says: FILE.zst beside FILE.truth/ with stats*.txt (perf report --stats of several
versions), folded.txt.gz (perf script with an empty symfs through stackcollapse-perf.pl, one per
sample). One line a file; exit 1 when any of them disagrees."""
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile

corpus, perfkit, recstat, foldcheck = sys.argv[1:5]
only = sys.argv[5] if len(sys.argv) > 5 else ""
# What perf counts differently by version or makes up itself.
NOT_COMPARED = {"TOTAL"}


def run(args, **kw):
    return subprocess.run(args, capture_output=True, timeout=120, **kw)


def perf_counts(path):
    counts = {}
    for line in open(path, errors="replace"):
        if line.startswith("Aggregated stats"):
            continue
        if re.search(r"stats:$", line):
            break
        m = re.match(r"\s*(.+?) events:\s+(\d+)", line)
        if m:
            counts[m.group(1)] = int(m.group(2))
    return counts


def our_counts(path):
    p = run([recstat, path])
    text = p.stdout.decode(errors="replace")
    return p.returncode, {m.group(1): int(m.group(2))
                          for m in re.finditer(r"^(.+) events: (\d+)$", text, re.M)}, p.stderr


def check_counts(data, truth):
    best = None
    rc, ours, err = our_counts(data)
    for stats in sorted(glob.glob(truth + "/stats*.txt")):
        theirs = perf_counts(stats)
        if not theirs.get("TOTAL"):
            continue
        wrong = ["%s %d/%d" % (k, ours.get(k, 0), theirs.get(k, 0))
                 for k in sorted(set(ours) | set(theirs))
                 if k not in NOT_COMPARED and ours.get(k, 0) != theirs.get(k, 0)]
        if best is None or len(wrong) < len(best):
            best = wrong
    if rc:
        return "recstat fails: " + err.decode(errors="replace").strip()
    if best:
        return "counts (ours/perf's): " + ", ".join(best)
    return ""


def check_samples(data, row):
    _, ours, _ = our_counts(data)
    if row["samples_raw"].isdigit() and ours.get("SAMPLE", 0) != int(row["samples_raw"]):
        return "samples: %d, catalogue %s" % (ours.get("SAMPLE", 0), row["samples_raw"])
    return ""


def check_folded(data, truth, empty):
    want = truth + "/folded.txt.gz"
    p = run([perfkit, "collapse", "-q", "--force", "--no-inline", "--no-local", "--buildid-dir", empty,
             "--weight", "samples", "--symfs", empty, "-o", empty + ".folded", data])
    if p.returncode:
        return "collapse exits %d: %s" % (p.returncode, p.stderr.decode(errors="replace").strip())
    if not os.path.exists(want):
        return ""
    script = truth + "/script.txt.gz"
    extra = ["--script", script] if os.path.exists(script) else []
    p = run([sys.executable, foldcheck] + extra + [want, empty + ".folded"])
    text = p.stdout.decode(errors="replace").strip()
    return ("folded: " + text.replace("\n", "\n    ")) if p.returncode else ""


failed = total = 0
with tempfile.TemporaryDirectory() as tmp:
    empty, data = tmp + "/empty", tmp + "/perf.data"
    os.mkdir(empty)
    for row in csv.DictReader(open(corpus + "/CATALOG.tsv"), delimiter="\t"):
        name = row["file"]
        if only not in name:
            continue
        packed, truth = corpus + "/" + name + ".zst", corpus + "/" + name + ".truth"
        if not os.path.exists(packed):
            print("MISSING %s" % name)
            failed += 1
            continue
        total += 1
        with open(data, "wb") as f:
            subprocess.run(["zstd", "-dqc", packed], stdout=f, check=True)
        if "not perf.data" in row["notes"]:
            p = run([perfkit, "collapse", data])
            why = [] if p.returncode == 1 and p.stderr.count(b"\n") == 1 else ["is not refused"]
        else:
            why = [w for w in (check_counts(data, truth), check_samples(data, row),
                               check_folded(data, truth, empty)) if w]
        failed += bool(why)
        print("%s %s" % ("ok" if not why else "WRONG", name))
        for w in why:
            print("    " + w)
print("%d files, %d wrong" % (total, failed))
sys.exit(1 if failed or not total else 0)
