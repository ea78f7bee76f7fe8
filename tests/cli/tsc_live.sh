# --with FILE,clock=tsc: a program logs its sleeps by the time stamp counter and by CLOCK_MONOTONIC. perf
# notes how the counter maps to its clock (TIME_CONV) only where that is the TSC, and never with -k;
# where it does not, the record is put into the stream here, from what the program saw. Spans by one
# clock are those by the other, and lie around their waits.
# live: records now, on this machine
set -eu
[ "$(uname -m)" = x86_64 ] || { echo "no time stamp counter here"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cc=$(command -v gcc || command -v cc) || { echo "no compiler"; exit 77; }
HOME=$PWD # perf keeps copies of binaries in ~/.debug
export HOME
bad() { echo "$*"; exit 1; }
$cc -std=gnu11 -D_GNU_SOURCE -O1 -pthread -Wno-unused-function -o tsc "$SRC/tests/truth/tsc.c"
record() { perf record -q -a -e sched:sched_switch -e sched:sched_waking -c 1 "$@" 2>err; }
record -o - -k CLOCK_MONOTONIC -- ./tsc tsc.log >stream.data || { echo "perf may not record tracepoints here"; exit 77; }

python3 - <<'END'
import struct
rows = [x.split() for x in open("tsc.log")]
tsc = [(int(a), int(b), int(tid)) for k, tid, a, b in rows if k == "tsc"]
mono = [(int(a), int(b), int(tid)) for k, tid, a, b in rows if k == "mono"]
for name, spans in ("tsc.csv", tsc), ("mono.csv", mono):
    with open(name, "w") as f:
        f.write("start_ns,end_ns,tid,key\n")
        f.writelines("%d,%d,%d,%d\n" % (a, b, tid, i) for i, (a, b, tid) in enumerate(spans))
SHIFT = 31
mult = ((mono[-1][1] - mono[0][0]) << SHIFT) // (tsc[-1][1] - tsc[0][0])
zero = (mono[0][0] - (tsc[0][0] * mult >> SHIFT)) % 2**64
data = open("stream.data", "rb").read()
record = struct.pack("<IHHQQQQQ??6x", 79, 0, 56, SHIFT, mult, zero, 0, 2**64 - 1, True, False)
at = 16  # behind the first record, which declares an event
at += struct.unpack_from("<H", data, at + 6)[0]
open("with.data", "wb").write(data[:at] + record + data[at:])
END
spans() { "$PERFKIT" tail -q --by span --top 0 --json --with "$1" "$2" >"$3"; }
spans tsc.csv,clock=tsc with.data tsc.json
spans mono.csv,clock=mono with.data mono.json
python3 - <<'END'
import json
a, b = ({e["key"]: e for e in json.load(open(f))["episodes"]} for f in ("tsc.json", "mono.json"))
assert len(a) == 40 and a.keys() == b.keys()
worst = 0
for key, x in a.items():
    y = b[key]
    worst = max(worst, abs(x["start_ns"] - y["start_ns"]), abs(x["end_ns"] - y["end_ns"]))
    assert x["blocked_ns"] + x["unknown_ns"] > 2_500_000, x
assert worst < 20_000, f"{worst} ns apart"  # CLOCK_MONOTONIC is slewed, the counter is not
END
"$PERFKIT" tail --by span --with tsc.csv,clock=tsc with.data 2>err >out
grep -q 'tsc.csv: 40 spans on TSC, exact$' err || bad "$(cat err)"
rc=0
"$PERFKIT" tail -q --by span --with tsc.csv,clock=tsc stream.data 2>err >out || rc=$?
{ [ $rc = 3 ] && grep -q 'record with perf record without -k' err; } || bad "exit $rc: $(cat err)"

# what perf itself notes, where it does
record -o own.data -- ./tsc own.log || bad "perf record: $(cat err)"
awk 'BEGIN { print "start_ns,end_ns,tid,key" } $1 == "tsc" { print $3 "," $4 "," $2 "," n++ }' own.log >own.csv
rc=0
"$PERFKIT" tail -q --by span --top 0 --json --with own.csv,clock=tsc own.data >own.json 2>err || rc=$?
if [ $rc = 0 ]; then
	python3 - <<'END'
import json
e = json.load(open("own.json"))["episodes"]
assert len(e) == 40 and all(x["blocked_ns"] + x["unknown_ns"] > 2_500_000 for x in e)
END
else
	grep -q "the kernel's clock was not the TSC" err || bad "exit $rc: $(cat err)"
	echo "left out: perf's own TIME_CONV: the kernel's clock is not the TSC here"
fi
exit 0
