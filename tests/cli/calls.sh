# Counters of calls: each call has the page faults and context switches that the program counted
# in it; tables add them up, with recursion or without; a store answers as its recording.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
data=$SRC/testdata/calls
gunzip -c "$data/calls.data.gz" >calls.data
pk() { "$PERFKIT" "$@"; }

check() # RECORDING LOG
{
	for name in work walk; do
		pk tail -q --no-local --by span:$name --csv --top 0 "$1" >$name.csv
		python3 "$SRC/tests/truth/check_calls.py" "$data/$2" $name.csv $name
	done
}
check calls.data log.txt
# all probes in one group, with `cycles` that became a clock: a counter of its name counts once
gunzip -c "$data/grouped.data.gz" >grouped.data
check grouped.data grouped.txt
pk report -q --no-local --csv --by span grouped.data | head -1 >columns
[ "$(grep -o 'task-clock[^_]' columns | wc -l)" = 1 ] || { cat columns; exit 1; }
pk import -q --no-local grouped.data -o grouped.db
pk report -q --no-local --csv --by span grouped.data >file.out
pk report -q --no-local --csv --by span grouped.db >store.out
cmp file.out store.out

pk import -q --no-local calls.data -o calls.db
for q in "report -q --no-local --json --by span" "report -q --no-local --csv --outermost --by span" \
	"tail -q --no-local --by span:walk --top 3 --json" "tail -q --no-local --by span:work --top 2"; do
	pk $q calls.data >file.out
	pk $q calls.db >store.out
	cmp file.out store.out
done

# what probes take is left out of calls, if a context says how much: no sign, no word, less than a second
cp calls.data costly.data
pk report -q --no-local --by span costly.data >without.out
for ns in 5000 0 -5 5000x 1e9 1000000000 18446744073709551616; do
	printf 'perfkit-context 1\nof %s\nfact probe\twork\treturn_ns\t%s\nsnapshot\n' "$(wc -c <costly.data)" $ns >costly.data.context
	pk report -q --no-local --by span costly.data >with.out
	rc=0
	cmp -s with.out without.out || rc=1
	[ $rc = "$([ $ns = 5000 ] && echo 1 || echo 0)" ] || { echo "probes that take $ns"; cat with.out; exit 1; }
done

pk tail -q --no-local --by span:work --top 1 calls.data | grep -q '^    counted     page-faults [0-9]*, context-switches [0-9]*, task-clock '

pk report -q --no-local --json --by span calls.data >all.json
pk report -q --no-local --json --by span --outermost calls.data >outer.json
python3 - "$data/log.txt" <<'END'
import json, sys
rows = {n: {r["name"]: r for r in json.load(open(n))["rows"]} for n in ("all.json", "outer.json")}
truth = {}
for line in open(sys.argv[1]):
    kind, tid, faults, switches = line.split()
    if kind.endswith("-counts"):
        truth.setdefault(kind[:-7], []).append((int(faults), int(switches)))
# the first calls are not in the log
assert rows["all.json"]["walk"]["calls"] == len(truth["walk"]) + 3
assert rows["outer.json"]["walk"]["calls"] * 3 == rows["all.json"]["walk"]["calls"]
assert rows["outer.json"]["work"] == rows["all.json"]["work"]
# every third line is a whole walk: three, two and one page
outer = truth["walk"][2::3]
assert all(f == 6 and s == 3 for f, s in outer), outer
assert rows["outer.json"]["walk"]["context-switches"] == sum(s for f, s in outer) + 3
assert rows["outer.json"]["walk"]["page-faults"] == 6 * len(outer) + 6
r = rows["all.json"]["work"]
assert (r["counted_calls"], r["bounded_calls"], r["scaled_calls"]) == (len(truth["work"]) + 1, 0, 0), r
END

# what threads had no counters is said by name
"$PERFKIT" doctor -v -q --no-local calls.data >doctor.out || true
# the line to record it again has each probe with the counters that it reads
for probe in work work__return walk walk__return; do
	pk record --like calls.data | grep -qF -e "-e '{truth:$probe,page-faults,context-switches,task-clock}:S'" ||
		{ echo "record --like takes the group of $probe apart"; exit 1; }
done
! grep -q 'not measured' doctor.out || { cat doctor.out; exit 1; }
# switch records asked for on a tracepoint's line are switches, from the recording as from its store
for f in calls.data calls.db; do
	"$PERFKIT" doctor -v --json --no-local $f 2>/dev/null | grep -o '"asked":\[[^]]*\]' >asked.$f || true
done
grep -q '"offcpu"' asked.calls.data && cmp asked.calls.data asked.calls.db || { cat asked.*; exit 1; }
