# Planted causes of slow requests, recorded once (testdata/incidents): the first sentence of `perfkit tail`
# names the mechanism and who is behind it, for the requests that the program logged as slow. So it does
# for the recording's store.
set -u
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
fails=0

# kept KIND PERCENT SENTENCE OPTIONS...: at least that share of the logged requests has that root
kept()
{
	kind=$1 least=$2 sentence=$3
	shift 3
	f=$SRC/testdata/incidents/$kind
	"$PERFKIT" tail -q --no-local --top 0 --json "$@" "$f.tar.zst" >json 2>err || [ $? = 3 ] ||
		{ echo "$kind: $(cat err)"; fails=$((fails + 1)); return; }
	said=$(python3 -c 'import json; print(json.load(open("json"))["answer"])')
	logged=$(python3 "$SRC/tests/truth/check_incident.py" json "$f.log" "$least" 2>&1) ||
		{ echo "$kind: $logged"; fails=$((fails + 1)); }
	echo "$said" | grep -Eq "$sentence" || { echo "$kind: $said"; fails=$((fails + 1)); }
	"$PERFKIT" import -q --no-local "$f.tar.zst" -o "$kind.db" 2>err
	"$PERFKIT" tail -q --top 0 --details 3 "$@" "$f.tar.zst" --no-local 2>&1 |
		sed "s/ in $kind\.[a-z.]*/ in FILE/" >one
	"$PERFKIT" tail -q --top 0 --details 3 "$@" "$kind.db" 2>&1 | sed "s/ in $kind\.[a-z.]*/ in FILE/" >two
	cmp one two || fails=$((fails + 1))
	"$PERFKIT" html -q --force "$kind.db" -o page.html 2>err || { cat err; fails=$((fails + 1)); }
	echo "$kind ($logged): $said"
}

kept thief 75 '^[0-9]+ of [0-9]+ worst waits of front: thief had the CPU, running (thief|steal)\(\)' --comm front
kept pipe 75 '^[0-9]+ of [0-9]+ worst waits of front: front waited for room in a full pipe, which reader emptied; it was asleep in reads\(\)' \
	--comm front --cause pipe --work-frame '^(full_pipe|send_report)$'
# The C library's functions have no names here, so that a lock cannot be told from a condition.
kept flood 75 '^[0-9]+ of [0-9]+ worst waits of front: front waited for a futex, which packer woke; it was interrupted by softirq NET_RX' \
	--comm front --cause futex
kept reclaim 75 '^[0-9]+ of [0-9]+ worst waits of front: reclaiming memory, its cgroup is at its limit' --comm front --cause io
kept dirty 75 '^[0-9]+ of [0-9]+ worst waits of front: throttled, too many dirty pages' --comm front --cause io
kept disk 75 'waiting for a device in [a-z_]+\(\), a write of 4.00 KiB to loop[0-9]+: [0-9.]+ ms queued, [0-9.]+ ms served' \
	--comm front --cause io
kept fork 75 '^[0-9]+ of [0-9]+ worst waits of front: forker held mmap_lock that front wanted, in fork' \
	--comm front --cause rwlock
kept journal 75 "^[0-9]+ of [0-9]+ worst waits of front: front waited in journal\(\) for the ext4 journal's commit, which jbd2/loop0-8 wrote" \
	--comm front --cause io
# Sockets' timers were not recorded.
kept nagle 75 "^[0-9]+ of [0-9]+ worst waits of front: front waited for data on a socket, which server sent; it was waiting for data that Nagle's algorithm kept until a delayed ACK" \
	--comm front --cause net --work-frame '^(query|read_all)$'
kept backup 50 "^[0-9]+ of [0-9]+ worst waits of front: front waited in journal\(\) for the ext4 journal's commit, which jbd2/loop0-8 wrote" \
	--comm front --cause io
grep -q '"behind":{"tid":[0-9]*,"comm":"bulk"' json || { echo "backup: who began the commit?"; fails=$((fails + 1)); }
kept inversion 75 '^[0-9]+ of [0-9]+ worst waits of front: mid had the CPU while low held the lock that front wanted' \
	--comm front --cause lock
kept quota 75 '^[0-9]+ of [0-9]+ worst waits of quota: throttled, its cgroup had used up its CPU quota' \
	--comm quota --cause throttle

# Without an option, where nothing else of the recording was as slow.
plain()
{
	"$PERFKIT" tail -q --no-local "$SRC/testdata/incidents/$1.tar.zst" 2>err | sed -n '1,/^$/p' | tr '\n' ' ' >said
	grep -Eq "^[0-9]+ of [0-9]+ worst waits of $2" said || { echo "$1, without options: $(cat said)"; fails=$((fails + 1)); }
}
plain quota 'quota: throttled, its cgroup had used up its CPU quota'
plain thief 'front: thief had the CPU'
plain pipe 'front: waiting for room in a full pipe'
plain reclaim 'front: reclaiming memory'
plain dirty 'front: throttled, too many dirty pages'
plain disk 'front: waiting for a device in main\(\)'
plain inversion 'front: mid had the CPU while low held the lock'
plain journal "t-61 and front: waiting for the ext4 journal's commit"

# The kernel counted as many throttled periods, and the program was off a CPU for the time they took.
python3 - "$SRC/testdata/incidents/quota.log" <<'PY' || fails=$((fails + 1))
import json, sys
log = {l.split()[0]: int(l.split()[3]) - int(l.split()[2]) for l in open(sys.argv[1])}
waits = [e["duration_ns"] for e in json.load(open("json"))["episodes"]]
assert abs(len(waits) - log["throttled"]) <= 1, (len(waits), log)
assert 0.95 * (log["life"] - log["cpu"]) < sum(waits) <= log["life"] - log["cpu"], (sum(waits), log)
PY

# What the disk took, by the program that is behind it; `report` counts the same requests.
"$PERFKIT" report -q --no-local --by disk --json --comm front "$SRC/testdata/incidents/disk.tar.zst" >json
python3 - json "$SRC/testdata/incidents/disk.log" <<'PY' || fails=$((fails + 1))
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["disk"].startswith("loop")]
waits = [int(l.split()[3]) - int(l.split()[2]) for l in open(sys.argv[2])]
assert len(rows) == 1 and rows[0]["operation"] == "write", rows
r = rows[0]
assert r["count"] == len(waits) and r["bytes"] == 4096 * len(waits), r
# queued and served are what front waited for, but for its way to the disk and back
spent = r["queued_ns"] + r["served_ns"]
assert 0.9 * sum(waits) < spent <= sum(waits), (spent, sum(waits))
assert r["p50_ns"] > 8000000 and r["queued_max_ns"] > 4000000, r
PY
[ $fails = 0 ]
