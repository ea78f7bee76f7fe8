# perfkit record jitter beside a thief of its CPU that logs when it ran: each of its bursts lies in one
# gap, which is explained by that thread, to the nanosecond of the clock; the bundle needs no option;
# store, table, lanes and the files for other tools agree.
# live: records now, on this machine
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cc=$(command -v gcc || command -v cc) || { echo "no compiler"; exit 77; }
HOME=$PWD # perf keeps copies of binaries in ~/.debug
export HOME
perf record -q -a -e sched:sched_switch -o probe.data -- true >/dev/null 2>&1 ||
	{ echo "perf may not record tracepoints here"; exit 77; }
$cc -std=gnu11 -D_GNU_SOURCE -O1 -pthread -Wno-unused-function -o hog "$SRC/tests/truth/hog.c"
chrt -f 40 true 2>/dev/null || { echo "no real-time priority here"; exit 77; }
bad() { echo "$*"; exit 1; }
control=
[ "$(nproc)" -lt 2 ] || control="--control 1"
# shellcheck disable=SC2086
"$PERFKIT" record jitter -c 0 $control -d 4 -o run.tar.zst --csv run.csv >out 2>err &
recorder=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
	ls run.tar.zst.*/perf.data >/dev/null 2>&1 && break
	sleep 0.3
done
sleep 1
./hog burst.log --rounds 41
rc=0
wait $recorder || rc=$?
[ $rc = 0 ] || bad "record: exit $rc: $(cat err)"
grep -q '^next: perfkit tail --by gap run.tar.zst$' err || bad "$(cat err)"
[ -z "$(ls -d run.tar.zst.* 2>/dev/null)" ] || bad "a folder is left"

"$PERFKIT" tail -q --by gap --top 0 --json run.tar.zst >gaps.json
origin=$("$PERFKIT" tail -q --by wait --json --top 1 run.tar.zst |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["recording"]["origin_ns"])')
tar --zstd -xOf run.tar.zst perf.data.gaps >run.gaps
python3 - "$origin" "$control" <<'END'
import json, sys
NEAR = 60_000  # ns: switching threads, entering and leaving interrupts
origin = int(sys.argv[1])
answer = json.load(open("gaps.json"))
gaps = answer["episodes"]
assert len(answer["control"]) == bool(sys.argv[2])
noted = sorted(tuple(map(int, x.split()[2:])) for x in open("run.gaps") if x.startswith("gap 0 "))
seen = sorted((e["start_ns"] + origin, e["end_ns"] + origin) for e in gaps if not e["open"])
assert set(seen) <= set(noted) and len(seen) >= len(noted) - 2, (len(seen), len(noted))
csv = [int(x.split(",")[1]) for x in open("run.csv").read().split("\n")[1:-1]]
assert sorted(csv) == sorted(b - a for a, b in noted)
for e in gaps:
    assert sum(p["ns"] for p in e["parts"]) == e["duration_ns"], e
    assert e["spinner"]["comm"] == "spinner-0", e
bursts = [tuple(map(int, x.split()[2:])) for x in open("burst.log") if x.startswith("burst ")]
inside = [(a, b) for a, b in bursts if noted[0][0] <= a and b <= noted[-1][1]]
assert len(inside) >= 11, f"{len(inside)} of {len(bursts)} bursts while the spinner spun"
whole = 0
for a, b in inside:
    around = [e for e in gaps if e["start_ns"] + origin <= a and b <= e["end_ns"] + origin]
    assert len(around) == 1, f"{len(around)} gaps around {a} to {b}"
    ns = {}
    for p in around[0]["parts"]:
        who = p.get("comm") if p["by"] == "thread" else p["by"]
        ns[who] = ns.get(who, 0) + p["ns"]
    hog, rest = ns.get("hog", 0), ns.get("interrupt", 0) + ns.get("records missing", 0)
    assert hog <= b - a + 4 * NEAR, (a, b, ns)  # it also wakes and sleeps
    assert b - a <= hog + rest + NEAR, (a, b, ns)
    whole += ns.get("records missing", 0) == 0
assert whole * 2 > len(inside), f"records are missing in {len(inside) - whole} of {len(inside)}"
END
"$PERFKIT" report -q --by gap --csv run.tar.zst >table.csv
grep -q '^hog,' table.csv || bad "the thief is not in the table: $(cat table.csv)"
"$PERFKIT" import -q run.tar.zst -o run.db
"$PERFKIT" tail -q --by gap --top 0 --json run.db | cmp - gaps.json
"$PERFKIT" report -q --by jitter --every 1s --json run.db >db.json
"$PERFKIT" report -q --by jitter --every 1s --json run.tar.zst | cmp - db.json
"$PERFKIT" timeline -q run.tar.zst -o run.html
grep -q 'spinner-0' run.html || bad "no spinner in the timeline"
# packed again, and beside the recording, it is found as well
mkdir new
tar --zstd -xf run.tar.zst -C new
"$PERFKIT" tail -q --by gap --top 0 --json new/perf.data | cmp - gaps.json
"$PERFKIT" pack -q --min-share 1 new/perf.data -o again.tar.zst
"$PERFKIT" tail -q --by gap --top 0 --json again.tar.zst | cmp - gaps.json

# asked to end, it ends whole
"$PERFKIT" record jitter -c 0 -o cut.tar.zst >out 2>err &
recorder=$!
sleep 2.5
kill -TERM $recorder # a job in the background does not hear SIGINT
rc=0
wait $recorder || rc=$?
[ $rc = 0 ] || bad "ended: exit $rc: $(cat err)"
"$PERFKIT" report -q --by jitter --csv cut.tar.zst | grep -q '^0,spinner-0,' || bad "cut: no gaps"

# an output that cannot be written is refused before anything is recorded
mkdir taken
"$PERFKIT" record jitter -c 0 -d 1 -o taken >out 2>err && bad "packed into a folder"
grep -qxF 'perfkit record: taken: cannot write: is a directory' err || bad "$(cat err)"
ls taken.* 2>/dev/null && bad "recorded for a folder"
rmdir taken

# what cannot be packed is kept, and said where
"$PERFKIT" record jitter -c 0 -d 3 -o taken >out 2>err &
recorder=$!
sleep 1.5
mkdir taken
wait $recorder && bad "packed into a folder that came later"
grep -qxF "perfkit record: cannot pack the recording, which is in $(ls taken.*/perf.data)" err || bad "$(cat err)"
exit 0
