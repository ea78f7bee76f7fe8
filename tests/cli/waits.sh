# The stored recording of known waits: each thread's main cause, its waits beside what the program
# measured itself (truth.txt, ns), and which of them are idle.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
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

# report's table: idle, blocked and runnable, by thread; and 80 columns hold it
"$PERFKIT" report -q --all --no-local --top 0 "$SRC/testdata/waits/perf.data" >report.txt
COLUMNS=90 "$PERFKIT" report -q --all --no-local --top 0 "$SRC/testdata/waits/perf.data" >wide.txt
awk '/^thread .* waits / { inside = 1 } /^$/ { inside = 0 } inside && length > 80 { print; bad = 1 }
	END { exit bad }' report.txt
"$PERFKIT" import -q --no-local "$SRC/testdata/waits/perf.data" -o report.db
sqlite3 -separator ' ' report.db "SELECT tid, sum(off_ns - wait_ns),
	sum(blocked_ns * (NOT idle) + runnable_ns), sum(wait_ns > 0) FROM v_offcpu
	WHERE tid IN (SELECT tid FROM threads JOIN comms ON comms.id = comm_id WHERE comm LIKE 'locker%')
	GROUP BY tid" >want.txt
python3 - <<'EOF'
import re
unit = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}
rows = {}
for line in open("wide.txt"):
    r = re.split("  +", line.strip())
    if len(r) > 6 and "/" in r[0]:
        rows[r[0].partition("/")[2]] = r
def ns(s):
    number, name = s.split()
    return float(number) * unit[name]
n = 0
for line in open("want.txt"):
    tid, idle, want, count = line.split()
    r = rows[tid]
    assert abs(ns(r[3]) + ns(r[4]) + ns(r[5]) - int(want)) <= int(want) / 100 and r[6] == count, (line, r)
    assert abs(ns(r[2]) - int(idle)) <= int(idle) / 100, (line, r)
    n += 1
assert n == 2
EOF

# the idle task, as perf prints it
grep -q '^swapper  *0  *0  *15 ' report.txt || { echo "the idle task is not 0/0"; exit 1; }

# --cpu: waits that left that CPU or came back to it, of a recording and of its store
for cpu in 0 1 99; do
	want=$(sqlite3 report.db "SELECT coalesce(sum(end_ns - start_ns), 0) FROM offcpu
		WHERE $cpu IN (cpu_out, cpu_in)")
	for f in "$SRC/testdata/waits/perf.data" report.db; do
		got=$("$PERFKIT" collapse -q --offcpu --unit ns --idle --system --cpu "$cpu" "$f" |
			awk '{ ns += $NF } END { printf "%.0f\n", ns }')
		[ "$got" = "$want" ] || {
			echo "CPU $cpu of $f: $got ns of waits, not $want"
			exit 1
		}
	done
done
# with --wall, running, too: no thread of CPU 0 and no sample is on CPU 99
"$PERFKIT" svg -q --no-local --wall --cpu 99 "$SRC/testdata/waits/perf.data" >none.svg 2>none.txt && {
	echo "a picture of CPU 99"
	exit 1
}
wall() {
	"$PERFKIT" svg -q --no-local --wall --idle --system "$@" "$SRC/testdata/waits/perf.data" |
		sed -n 's/.*<title>all (\([0-9.]*\) s,.*/\1/p'
}
echo "$(wall) $(wall --cpu 0) $(wall --cpu 1)" |
	awk '{ print "wall:", $0; exit !($2 < $1 && $3 < $1 && $2 + $3 >= $1 - 0.02) }'
# what is said to be hidden is what --idle and --system would show
for only in "" "--state runnable" "--cause child" "--cause sleep,poll"; do
	sum() { "$PERFKIT" collapse --offcpu --unit ns $only "$@" 2>said | awk '{ n += $NF } END { printf "%.0f\n", n }'; }
	all=$(sum --idle --system "$SRC/testdata/waits/perf.data")
	shown=$(sum "$SRC/testdata/waits/perf.data")
	python3 - "$all" "$shown" said <<'EOF' || exit 1
import re, sys
said = " ".join(l for l in open(sys.argv[3]) if "hidden: " in l)
unit = {"us": 1e3, "ms": 1e6, "s": 1e9}
hidden = sum(float(n) * unit[u] for n, u in
             re.findall(r"(?:waits? at rest|waits? of kernel threads and perf), ([0-9.]+) (us|ms|s)", said))
want = int(sys.argv[1]) - int(sys.argv[2])
assert abs(hidden - want) <= 0.02 * want + 1000, (said, want)
assert not re.search(r"\b0 (idle )?waits", said), said
EOF
done

# an unknown state or cause is refused before the input is read: in one line, without warnings
for q in "collapse --offcpu --state foo" "svg --offcpu --cause foo" "svg --offwake --state foo"; do
	status=0
	# shellcheck disable=SC2086
	"$PERFKIT" $q "$SRC/testdata/orders/orders.tar.zst" >out 2>err || status=$?
	if [ "$status" != 2 ] || ! grep -q foo err || [ "$(wc -l <err)" != 1 ]; then
		echo "$q: $status, $(cat err)"
		exit 1
	fi
done
