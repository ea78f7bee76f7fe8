# Gaps of CPUs (--with a jitter sampler's file): what a program did to its own CPU is in the gap around
# it, to the nanosecond of the clock; what nothing recorded took is unexplained; store and recording
# agree; a sampler's CSV is placed where one stretch alone fits.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
kept=$SRC/testdata/jitter
file=$kept/gaps.tar.zst
bad() { echo "$*"; exit 1; }
origin=$("$PERFKIT" tail -q --no-local --by wait --json --top 1 "$file" |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["recording"]["origin_ns"])')
"$PERFKIT" tail -q --no-local --by gap --top 0 --json --with "$kept/gaps.txt" "$file" >gaps.json
"$PERFKIT" tail -q --no-local --by gap --top 0 --json --with "$kept/sampler.csv,cpu=1" "$file" >rough.json
python3 "$SRC/tests/truth/check_gaps.py" "$origin" "$kept/truth.txt" gaps.json rough.json

# the table is the sum of the gaps
"$PERFKIT" report -q --no-local --by gap --json --with "$kept/gaps.txt" "$file" >table.json
python3 - gaps.json table.json <<'END'
import json, sys
gaps, table = (json.load(open(f)) for f in sys.argv[1:])
sums = {}
for e in gaps["episodes"]:
    for p in e["parts"]:
        who = (p.get("comm") or p.get("vector") or p["by"], p.get("tid"))
        n, ns, longest = sums.get(who, (0, 0, 0))
        sums[who] = n + 1, ns + p["ns"], max(longest, p["ns"])
rows = {(r["taker_comm"], r["taker_tid"]): (r["gaps"], r["total_ns"], r["max_ns"]) for r in table["rows"]}
assert rows == sums, set(rows.items()) ^ set(sums.items())
END
"$PERFKIT" report -q --no-local --by gap --csv --with "$kept/gaps.txt" "$file" | grep -q '^unexplained,,,[0-9]*,' ||
	bad "no unexplained gaps in CSV"

# only some CPUs, only some time
[ -z "$("$PERFKIT" report -q --no-local --by gap --cpu 0 --csv --with "$kept/gaps.txt" "$file" | sed 1d)" ] ||
	bad "gaps of CPU 0"
# the longest gap, parted in the middle: each half is as long as it is, whoever took it
read -r begin end <<END
$(awk '$1 == "gap" && $4 - $3 > n { n = $4 - $3; at = $3 " " $4 } END { print at }' "$kept/gaps.txt")
END
middle=$(((begin + end) / 2))
seconds() { printf '%d.%09d' $(($1 / 1000000000)) $(($1 % 1000000000)); }
for half in "$begin $middle" "$middle $end"; do
	from=${half% *} to=${half#* }
	"$PERFKIT" report -q --no-local --by gap --csv --time "$(seconds $from),$(seconds $to)" --with "$kept/gaps.txt" "$file" >half.csv
	[ "$(awk -F, 'NR > 1 { n += $5 } END { printf "%d", n }' half.csv)" = $((to - from)) ] ||
		bad "half a gap of $((to - from)) ns: $(cat half.csv)"
done

# from a store
"$PERFKIT" import -q --no-local --with "$kept/gaps.txt" "$file" -o gaps.db
"$PERFKIT" tail -q --by gap --top 0 --json gaps.db | cmp - gaps.json
"$PERFKIT" report -q --by gap --json gaps.db | cmp - table.json
"$PERFKIT" tail -q --no-local --by gap --with "$kept/gaps.txt" "$file" | sed 1d >file.txt
"$PERFKIT" tail -q --by gap gaps.db | sed 1d | cmp - file.txt
"$PERFKIT" report -q --no-local --by irq --json "$file" >irq.json
"$PERFKIT" report -q --by irq --json gaps.db | cmp - irq.json
grep -q local_timer irq.json

# what interrupts took of a span: the union of those of its thread, in CSV, JSON and the store
python3 - "$kept/gaps.txt" >spans.csv <<'END'
import sys
lines = [line.split() for line in open(sys.argv[1])]
tid = next(w[2] for w in lines if w[0] == "spinner")
ends = [int(w[3]) for w in lines if w[0] == "gap"]
step = (ends[-1] - ends[0]) // 97
print("start_ns,end_ns,tid,key")
for i in range(97):
    print(f"{ends[0] + i * step},{ends[0] + (i + 1) * step},{tid},{i}")
END
"$PERFKIT" import -q --no-local --with spans.csv "$file" -o spans.db
for from in "--no-local --with spans.csv $file" spans.db; do
	# shellcheck disable=SC2086
	"$PERFKIT" tail -q --by span --top 0 --open --csv $from >tail.csv
	# shellcheck disable=SC2086
	"$PERFKIT" tail -q --by span --top 0 --open --json $from >tail.json
	python3 - tail.csv tail.json <<'END'
import csv, json, sqlite3, sys
db = sqlite3.connect("spans.db")
thread = db.execute("SELECT thread_id FROM spans").fetchone()[0]
irqs = sorted(db.execute("SELECT start_ns, end_ns FROM interrupts WHERE thread_id = ?", (thread,)))
assert len(irqs) > 100
want = {}
for key, start, end, run, stored in db.execute("SELECT key_text, start_ns, end_ns, run_ns, interrupted_ns FROM spans"):
    at, ns = start, 0
    for a, b in irqs:
        a, b = max(a, at), min(b, end)
        if a < b:
            ns += b - a
            at = b
    want[key] = min(ns, run)
    assert stored == want[key], (key, stored, want[key])
assert sum(want.values()) > 100000, want
assert {r["key"]: int(r["interrupted_ns"]) for r in csv.DictReader(open(sys.argv[1]))} == want
assert {e["key"]: e["interrupted_ns"] for e in json.load(open(sys.argv[2]))["episodes"]} == want
END
done

# drawn: a panel for each gap, with who took it and its CPU; the store and timeline --tail draw the same
"$PERFKIT" tail -q --no-local --by gap --top 3 --svg gaps.svg --with "$kept/gaps.txt" "$file" >/dev/null
"$PERFKIT" tail -q --by gap --top 3 --svg stored.svg gaps.db >/dev/null
cmp gaps.svg stored.svg
"$PERFKIT" timeline -q --no-local --tail --by gap --top 3 --with "$kept/gaps.txt" -o timeline.svg "$file"
cmp gaps.svg timeline.svg
python3 - gaps.svg gaps.json <<'END'
import json, re, sys
svg = open(sys.argv[1]).read()
panels = re.findall(r"#(\d+)  CPU (\d+), ([^ ]+ [^ ]+) from ([0-9.]+): ([^<]*)<", svg)
want = json.load(open(sys.argv[2]))["episodes"][:3]
panels = {int(p[0]): p[1:] for p in panels}
assert sorted(panels) == [1, 2, 3], panels
for e in want:
    cpu, length, start, who = panels[e["rank"]]
    most = e["parts"][0]
    assert int(cpu) == e["cpu"] and who.startswith(most.get("comm") or most.get("vector") or "["), (e, who)
assert len(re.findall(r'class="highlight"', svg)) == 3
END
"$PERFKIT" tail -q --no-local --by gap --top 1 --svg rough.svg --with "$kept/sampler.csv,cpu=1" "$file" >/dev/null
grep -q '#1  CPU 1' rough.svg

# what the clock and the spinner are
"$PERFKIT" tail --no-local --by gap --with "$kept/gaps.txt" "$file" 2>err >/dev/null
grep -q 'gaps.txt: [0-9]* gaps on CLOCK_MONOTONIC, exact$' err
"$PERFKIT" tail --no-local --by gap --with "$kept/sampler.csv,cpu=1" "$file" 2>err >/dev/null
grep -q 'sampler.csv: [0-9]* gaps on CLOCK_REALTIME (assumed: on no other do they lie in the recording), within 1.0 us; each somewhere in an interval of [0-9.]* ms$' err

# broken lines, and what cannot be
{ cat "$kept/gaps.txt"; echo 'gap 1 9 5'; echo 'gap 1'; echo 'gop 1 2 3'; } >torn.txt
"$PERFKIT" tail --no-local --by gap --top 0 --json --with torn.txt "$file" 2>err | cmp - gaps.json
grep -q 'torn.txt: 3 of .* rows are left out: line [0-9]*: it ends before it begins; line [0-9]*: a gap is CPU' err
refused()
{
	want=$1 words=$2
	shift 2
	rc=0
	"$PERFKIT" "$@" "$file" 2>err >out || rc=$?
	[ $rc = "$want" ] && grep -q -e "$words" err || { echo "$*: exit $rc"; cat err; exit 1; }
}
refused 2 'sampler.csv: its gaps name no CPU: say which one with ,cpu=N' tail -q --no-local --by gap --with "$kept/sampler.csv"
refused 3 'no gaps: give what a jitter sampler wrote' tail -q --no-local --by gap
refused 3 'no gaps: give what a jitter sampler wrote' report -q --no-local --by gap
refused 2 'gaps are of CPUs' tail -q --no-local --by gap --flame x.svg --with "$kept/gaps.txt"
refused 2 'only tail and timeline --tail show them' svg -q --no-local --tail --by gap --with "$kept/gaps.txt"
for who in --comm=spinner --pid=1 --tid=1; do
	refused 2 'gaps are of CPUs' tail -q --no-local --by gap $who --with "$kept/gaps.txt"
	for by in gap jitter; do
		refused 2 'gaps are of CPUs' report -q --no-local --by $by $who --with "$kept/gaps.txt"
	done
done
refused 2 'cpu is a number' tail -q --no-local --by gap --with "$kept/sampler.csv,cpu=x"
# a third column is the CPU where it is called so, and there in each row
sed '1s/$/,cpu/; 2,$s/$/,1/' "$kept/sampler.csv" >cpu.csv
"$PERFKIT" tail -q --no-local --by gap --top 0 --json --with cpu.csv "$file" | cmp - rough.json
sed '2s/,1$/,one/; 3s/,1$//' cpu.csv >torn.csv
"$PERFKIT" tail --no-local --by gap --with torn.csv "$file" 2>err >/dev/null
grep -q 'torn.csv: 2 of .* rows are left out: line 2: its CPU is not a number; line 3: its CPU' err || bad "torn.csv: $(cat err)"
sed '1s/cpu/seq/' cpu.csv >seq.csv
refused 2 'seq.csv: its gaps name no CPU' tail -q --no-local --by gap --with seq.csv
echo 'perfkit-gaps v2' >v2.txt
refused 1 'v2.txt: line 1: gaps of another version' tail -q --no-local --by gap --with v2.txt
exit 0
