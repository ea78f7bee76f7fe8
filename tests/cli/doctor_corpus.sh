#!/bin/sh
# PERFKIT_CORPUS=DIR: doctor over strangers' recordings: it ends with 0 or 3 in time, and calls
# wrong only what the file itself admits: records lost (perf counts LOST records in it too).
# Throttling, cut files and empty ones are told where perf's counts and the header say so, and
# nowhere else. The last lines count the findings.
[ -n "${PERFKIT_CORPUS:-}" ] || { echo "PERFKIT_CORPUS is not set"; exit 77; }
for tool in python3 zstd; do
	command -v $tool >/dev/null 2>&1 || { echo "no $tool here"; exit 77; }
done
exec python3 - "$PERFKIT_CORPUS" "$PERFKIT" <<'E2'
import collections, csv, glob, json, re, subprocess, sys


def perf_counts(name, what):
    """What each perf that was asked counts of a record type."""
    counts = []
    for stats in glob.glob(glob.escape(name) + ".truth/stats*.txt"):
        text = open(stats, errors="replace").read()
        if re.search(r"TOTAL events:\s+[1-9]", text):
            m = re.search(r"^\s*%s events:\s+(\d+)" % what, text, re.M)
            counts.append(int(m.group(1)) if m else 0)
    return counts


def unlike_perf(name, data, found):
    """What the findings and perf's counts do not agree about."""
    titles = {f["id"]: f["title"] for f in found}
    throttled = re.search(r"([\d,]+) time", titles.get("throttled", "0 times")).group(1).replace(",", "")
    for what, told in (("THROTTLE", int(throttled)),):
        counts = perf_counts(name, what)
        if counts and told not in counts:
            yield "%d %s, perf: %s" % (told, what, counts)
    counts = perf_counts(name, "SAMPLE")
    if counts and ("no-samples" in titles) != (max(counts) == 0):
        yield "no-samples, perf: %s" % counts
    head = data[:56]
    if head[:8] == b"PERFILE2" and ("cut-off" in titles) != (head[48:56] == bytes(8)):
        yield "cut-off"


corpus, perfkit = sys.argv[1:3]
counts, failed, files = collections.Counter(), 0, 0
for row in csv.DictReader(open(corpus + "/CATALOG.tsv"), delimiter="\t"):
    name = corpus + "/" + row["file"]
    with open("x.data", "wb") as f:
        if subprocess.run(["zstd", "-dcq", name + ".zst"], stdout=f).returncode:
            continue
    p = subprocess.run([perfkit, "doctor", "--json", "--no-local", "x.data"],
                       capture_output=True, timeout=60)
    if p.returncode == 1 and b"not a perf.data file" in p.stderr:
        continue
    files += 1
    if p.returncode not in (0, 3):
        print(row["file"], "exit", p.returncode, p.stderr.decode(errors="replace")[:200])
        failed = 1
        continue
    found = json.loads(p.stdout)["findings"]
    for why in unlike_perf(name, open("x.data", "rb").read(56), found):
        print(row["file"], why)
        failed = 1
    for f in found:
        counts[f["id"], f["harm"]] += 1
    wrong = [f["id"] for f in found if f["harm"] == "wrong"]
    if bool(wrong) != (p.returncode == 3):
        print(row["file"], "exit", p.returncode, "with", wrong)
        failed = 1
    perf_lost = any(" LOST events:" in line for stats in glob.glob(name + ".truth/stats*.txt")
                    for line in open(stats, errors="replace"))
    if b"simpleperf" in open("x.data", "rb").read() and "no-event-names" in wrong:
        wrong.remove("no-event-names")      # it writes no names of tracepoints
    if [w for w in wrong if w != "lost-records"] or (wrong and not perf_lost):
        print(row["file"], "false alarm:", wrong)
        failed = 1
print(files, "recordings")
for (id, harm), n in sorted(counts.items()):
    print("%4d %-8s %s" % (n, harm, id))
sys.exit(failed or files == 0)
E2
