# --against: of two recordings of the same program nothing is claimed; of one whose store() waits half as
# long again, that wait and no other; files, bundles and stores answer alike; JSON has the figures.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
data=$SRC/testdata/against
for n in before same longer; do
	gunzip -c "$data/$n.data.gz" >$n.data
done
names="-q --no-local --symfs $data/symfs --kallsyms $data/kallsyms"
of="--comm shift --idle"
pk() { "$PERFKIT" "$@"; }

pk report $names --by site before.data >alone # without --against, as ever
pk report $names $of --json --against before.data same.data >sites-same.json
pk report $names $of --json --against before.data longer.data >sites-longer.json
pk tail $names $of --json --p90 --against before.data same.data >tail-same.json
pk tail $names $of --json --p90 --against before.data longer.data >tail-longer.json
python3 - <<'END'
import json
same, longer = (json.load(open("sites-%s.json" % n))["site"] for n in ("same", "longer"))
figures = ("mean", "time", "count")
assert not any(r[f]["change"] for r in same for f in figures), same
changed = [(r["name"], f) for r in longer for f in figures if r[f]["change"]]
assert ("main: sleep in store()", "mean") in changed, changed
assert not any("fetch" in name and f == "mean" for name, f in changed), changed
by = {r["name"]: r for r in longer}
store, fetch = by["main: sleep in store()"]["mean"], by["main: sleep in fetch()"]["mean"]
# the means that were asked for: 1 ms, and 1.5 ms after
for x, ns in ((store["before"], 1e6), (store["after"], 1.5e6), (fetch["before"], 1e6), (fetch["after"], 1e6)):
    assert x["low"] <= ns + 60000 and ns <= x["high"] and x["low"] <= x["value"] <= x["high"], (x, ns)
same, longer = (json.load(open("tail-%s.json" % n)) for n in ("same", "longer"))
assert not any(p["change"] for p in same["percentiles"]), same
assert not any(r[f]["change"] for r in same["roots"] for f in figures), same
assert [p["change"] for p in longer["percentiles"]][:2] == [1, 1], longer
assert longer["roots"][0]["name"] == "shift: sleep in store()" and longer["roots"][0]["time"]["change"] == 1
END

pk report $names $of --against before.data longer.data >text
grep -q '^main: sleep in store() .* more ' text
! grep 'fetch' text | grep -q '^main: sleep in fetch()  *[0-9.]* [mu]s  *[0-9.]* [mu]s  *more' || exit 1
pk tail $names $of --against before.data longer.data | grep -q '^p90 .*more$'

# stores
pk import $names before.data -o before.db
pk import $names longer.data -o longer.db
pk report $names $of --json --against before.data longer.data | sed 's/\.data//g' >a
pk report -q $of --json --against before.db longer.db | sed 's/\.db//g' >b
cmp a b
pk tail $names $of --json --against before.data longer.data | sed 's/\.data//g' >a
pk tail -q $of --json --against before.db longer.db | sed 's/\.db//g' >b
cmp a b

# every table with times, and no nonsense
for by in thread site waker lock; do
	pk report $names --by $by --against before.data same.data >out 2>err || grep -q 'no' err
done
for bad in "report --csv" "report --by site --sort max" "tail --csv" "tail --hist" "tail --key 7" "tail --why" "tail --details 2"; do
	pk $bad $names --against before.data same.data >out 2>err && { echo "$bad: no error"; exit 1; }
	[ ! -s out ] || { echo "$bad: printed"; exit 1; }
done
pk report $names --against nothing.data same.data 2>err && exit 1
grep -q nothing.data err

# what is not there has no length
pk tail $names --comm nobody --against before.data same.data >out
grep -q '^p50  *-  *-$' out
grep -q '^before has no such episodes' out
pk tail $names --comm nobody --json --against before.data same.data >out
python3 - <<'END'
import json
assert all(p[side]["value"] is None for p in json.load(open("out"))["percentiles"] for side in ("before", "after"))
END
