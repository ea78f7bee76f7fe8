# The stored recording of known waits: each thread's main cause, its waits beside what the program
# measured itself (truth.txt, ns), and which of them are idle.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
"$O/tests/prog/tldump" "$SRC/testdata/waits/perf.data" >ours.txt 2>/dev/null
python3 - "$SRC/testdata/waits/truth.txt" <<'PY'
import re, sys, collections
truth = {}
for line in open(sys.argv[1]):
    m = re.match(r"(\S+)\s+tid (\d+) (\S+)\s+n\s+(\d+) total_ns\s+(\d+)", line)
    if m:
        truth[m[1], m[3]] = (int(m[2]), int(m[4]), int(m[5]))
off, state = collections.Counter(), collections.Counter()
for line in open("ours.txt"):
    m = re.match(r"(\d+) (\S+) (\d+) (\d+) blocked=(\d+) .* state=(\S*) ", line)
    if m and m[6] in ("S", "D"):
        off[int(m[1])] += int(m[4]) - int(m[3])
for thread in sorted({t for t, _ in truth}):
    waits = [v for (t, _), v in truth.items() if t == thread]
    tid, total = waits[0][0], sum(w[2] for w in waits)
    # the program's figure has some CPU time in it and misses the last, unfinished wait
    share = off[tid] / total
    print(f"{thread}: {off[tid] / 1e6:.1f} ms asleep or ready, {total / 1e6:.1f} ms by its own clock")
    if not 0.90 < share < 1.08:
        sys.exit(f"{thread}: off by {share:.3f}")
PY
