# A store of several recordings: of two hosts, and of one process recorded twice. Every verb is
# asked of all, where sums must add up to those of the single ones, and of one, where the answer
# must be that of the recording itself.
set -eu
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
a=$SRC/testdata/waits/perf.data
gunzip -c "$SRC/testdata/truth/hold/perf.data.gz" >b.data
# the second one is of another host: its name stands in the header
python3 -c '
d = open("b.data", "rb").read()
at = d.index(b"@\0\0\0vm\0\0\0\0")
open("b.data", "wb").write(d[:at + 4] + b"web2\0\0" + d[at + 10:])'
pk() { verb=$1; shift; "$PERFKIT" "$verb" -q --no-local "$@"; }
store() { verb=$1; shift; "$PERFKIT" "$verb" -q "$@"; }

# Two hosts. Both carry clock data.
pk import "$a" b.data -o two.db
pk import "$a" -o a.db
pk import b.data -o b.db
[ "$(sqlite3 two.db 'SELECT group_concat(host) FROM recordings')" = vm,web2 ]

# folded stacks add up
sum() { cat "$@" | awk '{ n = $NF; sub(/ [0-9]+$/, ""); s[$0] += n } END { for (k in s) print k, s[k] }' | LC_ALL=C sort; }
for q in "collapse --offcpu --unit ns" "collapse --offcpu --unit ns --idle --system --tid-name" \
	"collapse --offwake --unit ns" "collapse --event cpu-clock/freq=997/ --cpu 1"; do
	store $q two.db >two.folded
	store $q a.db >a.folded
	store $q b.db >b.folded
	sum a.folded b.folded >want
	LC_ALL=C sort two.folded | cmp - want || { echo "$q does not add up"; exit 1; }
	[ -s two.folded ]
done

# and each alone is the recording's own
for q in "collapse --offcpu --unit ns" "svg --offcpu" "svg --wall" "svg --chain" "timeline" \
	"tail --top 5" "tail --by activation --top 3 --json" "tail --top 9 --csv"; do
	for one in 1:"$a" web2:b.data; do
		pk $q "${one#*:}" >own 2>/dev/null
		store $q --recording "${one%%:*}" two.db >chosen
		cmp own chosen || { echo "$q --recording ${one%%:*}: another answer"; exit 1; }
	done
done

# the population is of both, each episode says of which, and counts time from there
store tail --top 100000 --json two.db >two.json
python3 "$SRC/tests/cli/tail_schema.py" two.json >/dev/null
count() { store tail --top 1 --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["population"]["count"])'; }
[ "$(count two.db)" = $(($(count a.db) + $(count b.db))) ]
python3 - <<'EOF'
import json
d = json.load(open("two.json"))
rec = {r["id"]: r for r in d["recordings"]}
assert [rec[1]["host"], rec[2]["host"]] == ["vm", "web2"], rec
assert {e["recording"] for e in d["episodes"]} == {1, 2}, "only one recording in the tail"
for e in d["episodes"]:
    assert e["end_ns"] <= rec[e["recording"]]["duration_ns"], e
    assert e["cpu"] is None or e["cpu"] < 2, e
assert d["recording"]["host"] is None
assert d["recording"]["duration_ns"] == sum(r["duration_ns"] for r in rec.values())
EOF
store tail --top 40 --rows 0 --details 40 two.db >two.txt
grep -q '/[0-9]*@web2 ' two.txt
grep -q '/[0-9]*@vm ' two.txt
! grep -q 'They recur' two.txt || { echo "times of two clocks were compared"; exit 1; }
! grep -q 'had CPU [^01]' two.txt || { echo "a CPU that no host has"; exit 1; }
store tail --top 3 --csv two.db | head -1 | grep -q ',recording,host$'
store svg --tail --top 9 two.db >tail.svg
store svg --offcpu two.db >two.svg
grep -q 'vm, web2' two.svg
store tail --top 40 --rows 40 --svg worst.svg two.db >/dev/null
grep -q @web2 worst.svg

# what doctor found is told of the recording it is about, as of a recording alone
"$PERFKIT" tail --top 1 two.db 2>told >/dev/null
"$PERFKIT" tail --no-local --top 1 "$a" 2>&1 >/dev/null | sed -n "s|^perfkit: $a: ||p" >one
[ -s one ]
sed -n 's|^perfkit: two.db, recording 1 of vm: ||p' told | cmp - one
grep -q 'recording 2 of web2: ' told

# report tells of each in turn
store report two.db >report.txt
grep -q '^store .*recording 1, of' report.txt
grep -q '^host *web2' report.txt

# what lies on one axis of time wants a choice, and says which there are
refused() { rc=0; "$PERFKIT" "$@" >out 2>err || rc=$?; [ $rc = 2 ] || { echo "$*: exit $rc"; exit 1; }; }
refused timeline two.db
grep -q -- '--recording 2  web2' err
refused svg --flamechart two.db
refused doctor two.db
grep -q 'recording' err
grep -q '`doctor` need one to be selected' "$SRC/docs/store.md"
refused tail --time 5108.53,5108.60 two.db
grep -q 'clocks of their own' err
refused report --recording 3 two.db
grep -q "no recording '3'" err
for q in report collapse "svg -o x.svg" "tail" "collapse --offcpu"; do
	refused $q --recording 1 "$a"
	grep -q 'for stores' err
done

# One process recorded twice, on one clock: times can be compared. The very same recording twice is
# told: by another name, out of a store; two recordings are not.
cp "$a" copy.data
"$PERFKIT" import --no-local "$a" copy.data -o twice.db 2>err
[ "$(grep -c 'copy.data: the same recording as .*, so everything in it counts twice' err)" = 1 ]
"$PERFKIT" import two.db a.db -o all.db 2>err
[ "$(grep -c 'a.db: the same recording as two.db' err)" = 1 ]
"$PERFKIT" import --no-local "$a" b.data -o two.db 2>err
! grep 'the same recording' err || exit 1
store tail --top 2 twice.db >twice.txt
grep -q '@2:vm' twice.txt
store collapse --offcpu --unit ns --time 5108.53,5108.60 twice.db >twice.folded
store collapse --offcpu --unit ns --time 5108.53,5108.60 a.db >once.folded
sum once.folded once.folded >want
LC_ALL=C sort twice.folded | cmp - want

# A clock that cannot be compared is refused by name, and never merged.
rc=0
"$PERFKIT" import -q "$a" "$SRC/testdata/switch-events/perf.data" -o no.db 2>err || rc=$?
[ $rc = 3 ]
grep -q 'cannot be compared' err
[ ! -e no.db ]

# Stores go into stores, too.
"$PERFKIT" import -q two.db a.db -o all.db
[ "$(sqlite3 all.db 'SELECT count(*) FROM recordings')" = 3 ]
store tail --top 5 --recording 2 all.db >chosen
store tail --top 5 b.db | cmp - chosen
