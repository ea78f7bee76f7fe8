#!/bin/sh
# PERFKIT_CORPUS=DIR: doctor over strangers' recordings: it ends with 0 or 3 in time, and calls
# wrong only what the file itself admits: records lost (perf counts LOST records in it too).
# The last lines count the findings.
[ -n "${PERFKIT_CORPUS:-}" ] || { echo "PERFKIT_CORPUS is not set"; exit 77; }
for tool in python3 zstd; do
	command -v $tool >/dev/null 2>&1 || { echo "no $tool here"; exit 77; }
done
exec python3 - "$PERFKIT_CORPUS" "$PERFKIT" <<'E2'
import collections, csv, glob, json, subprocess, sys
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
    for f in found:
        counts[f["id"], f["harm"]] += 1
    wrong = [f["id"] for f in found if f["harm"] == "wrong"]
    if bool(wrong) != (p.returncode == 3):
        print(row["file"], "exit", p.returncode, "with", wrong)
        failed = 1
    perf_lost = any(" LOST events:" in line for stats in glob.glob(name + ".truth/stats*.txt")
                    for line in open(stats, errors="replace"))
    if [w for w in wrong if w != "lost-records"] or (wrong and not perf_lost):
        print(row["file"], "false alarm:", wrong)
        failed = 1
print(files, "recordings")
for (id, harm), n in sorted(counts.items()):
    print("%4d %-8s %s" % (n, harm, id))
sys.exit(failed or files == 0)
E2
