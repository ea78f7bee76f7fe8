# perfkit record jitter without perf: what it would run, the spinners' files, which agree with each
# other, and what cannot be; a control beside the kept recording; report --by jitter, its windows and
# its correction for coordinated omission, against Python.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
kept=$SRC/testdata/jitter
file=$kept/gaps.tar.zst
bad() { echo "$*"; exit 1; }
refused()  # status text arguments...
{
	want=$1 text=$2 got=0
	shift 2
	"$PERFKIT" "$@" >out 2>err || got=$?
	{ [ $got = "$want" ] && grep -qF -e "$text" err; } || bad "$*: exit $got: $(cat err)"
	[ "$(wc -l <err)" = 1 ] || bad "$* said more than one line: $(cat err)"
}

# what would run
"$PERFKIT" record jitter -c 0 --control 1 -d 7 -t 500ns -m 256K --also idle -o 'my run' --dry-run --no-estimate >out
grep -q '^perf record -k CLOCK_MONOTONIC --buildid-all --no-bpf-event -m 256K -a -c 1 -e sched:sched_switch -e sched:sched_waking .* -e irq:softirq_exit .*-e power:cpu_idle -o perf.data -- perfkit record jitter --gaps-only --control 1 -d 7 -c 0 --threshold 500ns -o perf.data.gaps$' out ||
	bad "line: $(cat out)"
grep -qx "perfkit pack -q -o 'my run' --min-share 1 perf.data" out || bad "line: $(cat out)"
grep -q cpu-clock out && bad "samples make gaps: $(cat out)"

refused 2 "which CPUs? for example -c 2-3" record jitter
refused 2 "--spin takes CPUs as 0,2-3, not '3-1'" record jitter -c 3-1
refused 2 "CPU 0 is named twice" record jitter -c 0 --control 0
refused 2 "--control needs a whole number, got '-5'" record jitter -c 0 --control -5
refused 2 "--control takes a CPU, not 9000" record jitter -c 0 --control 9000 --dry-run
mkdir a-folder
for option in -o --csv --influx; do
	refused 1 "a-folder: cannot write: is a directory" record jitter -c 0 -d 600 $option a-folder
	refused 1 "no-folder/x: cannot write" record jitter -c 0 -d 600 $option no-folder/x
done
refused 2 "twice.lp is named for two files" record jitter -c 0 -d 600 --csv twice.lp --influx twice.lp
refused 2 "cannot run on CPU 8000" record jitter --gaps-only -c 8000 -d 1
refused 2 "--threshold takes a duration as 300ns, not 'x'" record jitter --gaps-only -c 0 -t x
refused 2 "--threshold takes a duration as 300ns, not 'x'" record jitter -c 0 -t x --dry-run
refused 2 "the threshold of 1 ns is too short: one reading of the clock takes" record jitter --gaps-only -c 0 -d 1 -t 1ns
refused 2 "--spin applies only to jitter" record tail -c 0
refused 2 "--freq applies to CPU samples, which jitter does not take" record jitter -c 0 -F 99
refused 2 "runs nothing but its spinners" record jitter -c 0 -- true
refused 2 "--gaps-only runs nothing" record jitter -c 0 --gaps-only --dry-run
refused 1 "there is no ./no-perf here; --gaps-only measures" record jitter -c 0 --perf ./no-perf
refused 1 "no-folder/x" record jitter --gaps-only -c 0 -d 1 -o no-folder/x
refused 2 "twice.lp is named for two files" record jitter --gaps-only -c 0 -d 1 --csv twice.lp --influx twice.lp

# a second of spinning: the three files say the same
"$PERFKIT" record jitter --gaps-only -c 0 -d 1 -o all.gaps --csv all.csv --influx all.lp 2>err
grep -q "^perfkit record: CPU 0: .* gaps\{0,1\} of 300 ns and more, .* % of 1.0 s, the longest" err || bad "$(cat err)"
python3 - <<'END'
gaps, anchors, spinners = [], [], []
for line in open("all.gaps"):
    word, *rest = line.split()
    if word == "gap":
        gaps.append(tuple(map(int, rest)))
    if word == "anchor":
        anchors.append(tuple(map(int, rest)))
    if word == "spinner":
        spinners.append(int(rest[0]))
assert spinners == [0] and len(anchors) == 2, (spinners, anchors)
mono, raw, real, error = anchors[0]
assert error < 1_000_000 and anchors[1][0] - mono >= 1_000_000_000
assert abs((anchors[1][1] - raw) - (anchors[1][0] - mono)) < 1_000_000  # 500 ppm, and error
assert gaps and all(b - a >= 300 for _, a, b in gaps)
assert all(a <= b for (_, _, a), (_, b, _) in zip(gaps, gaps[1:])), "not in order"
assert mono <= gaps[0][1] and gaps[-1][2] <= anchors[1][0]
lengths = [(b + real - mono, b - a) for _, a, b in gaps]
csv = [tuple(map(int, x.split(","))) for x in open("all.csv").read().split("\n")[1:-1]]
assert csv == lengths
lp = []
for x in open("all.lp"):
    tags, field, at = x.rsplit(" ", 2)
    assert tags.startswith("jitter,host=") and tags.endswith(",cpu=0") and field.startswith("latency=")
    lp.append((int(at), int(field[8:])))
assert lp == lengths
END

# unless -o says another name, they are no companion of a perf.data that may be there
"$PERFKIT" record jitter --gaps-only -c 0 -d 1 2>err
[ -s jitter.gaps ] && [ ! -e perf.data.gaps ] || bad "the gaps are not in jitter.gaps"
grep -q '^next: perfkit tail --by gap --with jitter.gaps RECORDING$' err || bad "$(cat err)"

# a file that was there stays as it is when the spinner cannot begin
echo old >kept.gaps
refused 2 "cannot run on CPU 8000" record jitter --gaps-only -c 8000 -d 1 -o kept.gaps
[ "$(cat kept.gaps)" = old ] || bad "an older file is gone"

# a control is set apart, and told; it is in the table
{ cat "$kept/gaps.txt"; printf 'control 0 1\nanchor 37568398936702 1 2 30\ngap 0 37568400000000 37568400001000\ngap 0 37568410000000 37568410003000\ndropped 1 17\n'; } >control.txt
"$PERFKIT" tail -q --no-local --by gap --top 0 --with "$kept/gaps.txt" --json "$file" >plain.json
"$PERFKIT" tail --no-local --by gap --top 0 --with control.txt --json "$file" >control.json 2>err
grep -q 'control.txt: the sampler could not keep 17 more gaps' err || bad "dropped: $(cat err)"
python3 - <<'END'
import json
a, b = json.load(open("plain.json")), json.load(open("control.json"))
assert a["episodes"] == b["episodes"] and a["population"] == b["population"] and a["control"] == []
c, = b["control"]
assert (c["cpu"], c["count"], c["p50_ns"], c["max_ns"]) == (0, 2, 1000, 3000), c
END
"$PERFKIT" tail -q --no-local --by gap --with control.txt "$file" |
	grep -qx 'control CPU 0 (otherwise idle): 2 gaps, p50 1.0 us, p99 3.0 us, max 3.0 us' || bad "no control in text"
"$PERFKIT" report -q --no-local --by gap --csv --with control.txt "$file" >a.csv
"$PERFKIT" report -q --no-local --by gap --csv --with "$kept/gaps.txt" "$file" | cmp - a.csv
"$PERFKIT" import -q --no-local --with control.txt "$file" -o control.db
"$PERFKIT" tail -q --by gap --top 0 --json control.db | cmp - control.json

# beside a recording: of another one they are left out; a spinner may have had none
mkdir beside
tar --zstd -xf "$kept/spin.tar.zst" -C beside perf.data
"$PERFKIT" tail --by wait --top 1 --json beside/perf.data >wait.json 2>err
printf 'perfkit-gaps v1\nclock mono\nspinner 0 7\ngap 0 5 900\n' >beside/perf.data.gaps
"$PERFKIT" tail --by wait --top 1 --json beside/perf.data 2>err | cmp - wait.json
grep -q 'perf.data.gaps: its times .* are outside of the recording .*; they are left out' err || bad "$(cat err)"
printf 'perfkit-gaps v1\nclock mono\nspinner 0 7\n' >beside/perf.data.gaps
"$PERFKIT" tail --by wait --top 1 --json beside/perf.data 2>err | cmp - wait.json
grep -q 'perf.data.gaps: the spinners had no gaps$' err || bad "$(cat err)"

# one that is none, or not whole, costs nothing of the recording; nor does a folder's name
told() # WORDS: what is said of it, and the answer is as ever
{
	timeout 20 "$PERFKIT" tail --by wait --top 1 --json beside/perf.data 2>err >out || bad "$1: $(cat err)"
	cmp out wait.json && grep -q "perf.data.gaps: $1.*; it is left out" err || bad "$1: $(cat err)"
}
: >beside/perf.data.gaps
told 'is empty'
echo junk >beside/perf.data.gaps
told 'not a known kind of side file'
rm beside/perf.data.gaps
mkfifo beside/perf.data.gaps
timeout 20 "$PERFKIT" tail --by wait --top 1 --json beside/perf.data 2>err | cmp - wait.json
rm beside/perf.data.gaps
mv beside beside,cpu=x
printf 'perfkit-gaps v1\nclock mono\nspinner 0 7\n' >beside,cpu=x/perf.data.gaps
"$PERFKIT" tail -q --by wait --top 1 --json beside,cpu=x/perf.data 2>err >out || bad "a comma in the folder's name: $(cat err)"

# percentiles by CPU, by window, and as met by what comes every 100 us
for how in "" "--every 50ms" "--expected 100us"; do
	# shellcheck disable=SC2086
	"$PERFKIT" report -q --no-local --by jitter --csv $how --with control.txt "$file" >"jitter$how.csv"
	# shellcheck disable=SC2086
	"$PERFKIT" report -q --by jitter --csv $how control.db | cmp - "jitter$how.csv"
done
# beside another run CPU by CPU
"$PERFKIT" report -q --by jitter --against control.db --json control.db >against.json
python3 - <<'END'
import json
rows = {r["name"]: r["count"]["after"]["value"] for r in json.load(open("against.json"))["jitter"]}
assert rows.keys() == {"0", "1"} and rows["1"] > rows["0"] > 0, rows
END
refused 2 "no --sort, --filter, --every, --expected" report -q --by jitter --expected 1ms --against control.db control.db
origin=$("$PERFKIT" tail -q --no-local --by wait --json --top 1 "$file" |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["recording"]["origin_ns"])')
python3 - "$origin" <<'END'
import csv, math, sys
gaps = [tuple(map(int, x.split()[1:])) for x in open("control.txt") if x.startswith("gap ")]
origin = int(sys.argv[1])
def rows(name):
    return list(csv.DictReader(open(name)))
def at(v, p):
    return sorted(v)[max(0, math.ceil(len(v) * p / 100) - 1)]
def check(row, lengths, more=()):
    all = list(lengths) + list(more)
    assert (int(row["gaps"]), int(row["total_ns"])) == (len(lengths), sum(lengths)), (row, len(lengths))
    for column, p in ("p50_ns", 50), ("p90_ns", 90), ("p99_ns", 99), ("p999_ns", 99.9), ("max_ns", 100):
        assert int(row[column]) == at(all, p), (row, column, at(all, p))
of = {}
for cpu, a, b in gaps:
    of.setdefault(cpu, []).append((a, b - a))
plain = rows("jitter.csv")
assert sorted(int(r["cpu"]) for r in plain) == [0, 1]
assert {int(r["cpu"]): int(r["control"]) for r in plain} == {0: 1, 1: 0}
for r in plain:
    check(r, [n for _, n in of[int(r["cpu"])]])
for r in rows("jitter--expected 100us.csv"):
    lengths = [n for _, n in of[int(r["cpu"])]]
    more = [x for n in lengths for x in range(n - 100_000, 99_999, -100_000)]
    check(r, lengths, more)
windows = rows("jitter--every 50ms.csv")
assert len(windows) > 6
base = int(windows[0]["time_ns"])
for r in windows:
    at0 = int(r["time_ns"])
    check(r, [n for a, n in of[int(r["cpu"])] if at0 <= a < at0 + 50_000_000])
END
# the kept bundle: each burst of the thief is in one gap, as long as it was
"$PERFKIT" tail -q --no-local --by gap --top 0 --json "$kept/spin.tar.zst" >spin.json
origin=$("$PERFKIT" tail -q --no-local --by wait --json --top 1 "$kept/spin.tar.zst" |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["recording"]["origin_ns"])')
python3 - "$origin" "$kept/bursts.txt" <<'END'
import json, sys
NEAR, origin, seen = 60_000, int(sys.argv[1]), 0
gaps = json.load(open("spin.json"))["episodes"]
for line in open(sys.argv[2]):
    kind, _, a, b = line.split()
    a, b = int(a) - origin, int(b) - origin
    around = [e for e in gaps if e["start_ns"] <= a and b <= e["end_ns"]]
    if kind != "burst" or a < gaps[0]["start_ns"] and not around:
        continue
    assert len(around) == 1, line
    parts = around[0]["parts"]
    assert sum(p["ns"] for p in parts) == around[0]["duration_ns"]
    hog = sum(p["ns"] for p in parts if p.get("comm") == "hog")
    rest = sum(p["ns"] for p in parts if p["by"] in ("interrupt", "records missing"))
    assert hog - 4 * NEAR <= b - a <= hog + rest + NEAR, (line, parts)  # it also wakes and sleeps
    seen += 1
assert seen >= 7, seen
END
refused 2 "--expected is for --by jitter" report -q --no-local --by gap --expected 1ms --with control.txt "$file"
refused 1 "--expected is too short" report -q --no-local --by jitter --expected 1ns --with control.txt "$file"
exit 0
