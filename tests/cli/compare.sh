# compare: of runs of one version nothing is claimed; of runs whose hot() has 25 % more work, that function; the
# answer as text, JSON, Markdown and JUnit's XML; conditions and their exit status; runs that are too few, swapped,
# or given twice; recordings, bundles and stores alike; and the steps of the example workflow.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
data=$SRC/testdata/compare
for f in "$data"/*.data.gz; do
	gunzip -c "$f" >"$(basename "$f" .gz)"
done
names="-q --no-local --symfs $data/symfs --kallsyms $SRC/testdata/against/kallsyms"
work="$names --per recording"
wait="$names --comm shift --idle"
# status WANT ARGUMENTS - the exit status; the answer is in out
status()
{
	want=$1 rc=0
	shift
	"$PERFKIT" compare "$@" >out 2>err || rc=$?
	[ $rc = "$want" ] || { echo "compare $*: $rc, not $want"; cat out err; exit 1; }
}

status 0 $work work0.*.data -- work25.*.data
grep -q '^before: 6 runs of .*, work0.1.data to work0.6.data$' out
grep -q '^sums per recording; recorded by turns (by the wall clock)$' out
[ "$(grep -c '^hot, slower .* more$' out)" = 2 ]
! grep '^cold' out | grep -q 'more$\|less$' || exit 1
awk 'length > 80 { exit 1 }' out
status 0 $work --format json work0.*.data -- work25.*.data
cp out longer.json
status 0 $work --format json work0.[135].data work25.[246].data -- work0.[246].data work25.[135].data
cp out mixed.json
python3 - <<'END'
import json, itertools, statistics as st
d = json.load(open("longer.json"))
assert d["schema"] == 1 and d["per"] == "recording" and d["order"] == "by turns" and len(d["before"]) == 6
hot = next(f for f in d["figures"] if f["name"] == "hot, slower" and f["what"] == "self")
a, b = hot["runs"][:6], hot["runs"][6:]
# every figure once more, by itself
assert hot["before"] == st.median(a) and hot["after"] == st.median(b), hot
pairs = sorted(y - x for x in a for y in b)
assert hot["difference"] == hot["after"] - hot["before"] and hot["verdict"] == "more"
# of all choices of six runs, those whose U is as extreme
u = lambda x, y: sum((p > q) + (p == q) / 2 for p in y for q in x)
own, every = u(a, b), hot["runs"]
most = [u([every[i] for i in range(12) if i not in c], [every[i] for i in c]) for c in itertools.combinations(range(12), 6)]
p = min(1, 2 * min(sum(x >= own for x in most), sum(x <= own for x in most)) / len(most))
tested = [f for f in d["figures"] if f["tested"]]
assert d["tested"] == len(tested) and p <= hot["chance"] + 1e-6 <= p * len(tested) + 2e-6, (p, hot["chance"])
assert hot["low"] in pairs and hot["high"] in pairs and hot["low"] < hot["difference"] < hot["high"]
# 25 % are in the range, and groups with half of each are the same
assert hot["low"] <= .25 * hot["before"] <= hot["high"], hot
assert not any(f["verdict"] in ("more", "less") for f in json.load(open("mixed.json"))["figures"])
END

# the smallest effect: 18 % of all CPU time is none of 30, and one of 10
status 0 $work --least 30 work0.*.data -- work25.*.data
! grep -q '\(more\|less\)$' out || exit 1
grep -q '^hot, slower .* same$' out
status 0 $work --least 10 work0.*.data -- work25.*.data
grep -q '^hot, slower .* more$' out

# conditions: 4 it holds, 3 the runs cannot say, 0 neither
status 4 $work --fail-on 'function hot self more 10%' --fail-on 'function nosuch more' work0.*.data -- work25.*.data
grep -q '^yes: function hot self more 10%: hot, slower: ' out
grep -q '^cannot say: function nosuch more: nothing has that name$' out
status 0 $work --fail-on 'function hot self more 80%' --fail-on 'function h* self less 5%' work0.*.data -- work25.*.data
[ "$(grep -c '^no: ' out)" = 2 ]
status 3 $work --fail-on 'function hot self more 10%' work0.1.data -- work25.1.data
grep -q '^With 1 and 1 runs, ' out
! grep -q 'more$\|less$' out || exit 1
status 4 $wait --fail-on 'wait p90 more 10%' wait0.*.data -- wait50.*.data
grep -q '^main: sleep in store() ' out
grep -q '^shift: sleep in store() ' out
grep -q '^waits p99.9 ' out
status 0 $wait --fail-on 'new root' --fail-on 'wait p50 less' wait0.*.data -- wait50.*.data
for bad in 'hot more 10%' 'function hot' 'new' 'wait p77 more' 'function hot more 10'; do
	status 2 $work --fail-on "$bad" work0.*.data -- work25.*.data
	[ ! -s out ]
	[ "$(wc -l <err)" = 1 ]
done

# forms
status 4 $work --fail-on 'function hot self more 10%' --fail-on 'function <&"> more' --fail-on 'new root' \
	--format junit work0.*.data -- work25.*.data
python3 - <<'END'
import xml.etree.ElementTree as xml
suite = xml.parse("out").getroot()[0]
cases = [(c.get("name"), [x.tag for x in c]) for c in suite]
assert cases == [("function hot self more 10%", ["failure"]), ('function <&"> more', ["skipped"]), ("new root", [])], cases
assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
END
status 2 $work --format junit work0.*.data -- work25.*.data
status 0 $work --least 0 --format markdown work0.*.data -- work25.*.data
[ "$(wc -c <out)" -le 60000 ]
[ "$(grep -c '<details>' out)" = "$(grep -c '</details>' out)" ]
grep -q '^| function, self: hot, slower | ' out
grep -q '^<details><summary>function, self</summary>$' out
# the bound of a comment: tables of long names are cut between rows, no element stays open, the end has the command
for size in 1000 1500 100M; do
	status 0 $wait --least 0 --format markdown --budget $size wait0.*.data -- wait50.*.data
	[ "$(grep -c '<details>' out)" = "$(grep -c '</details>' out)" ]
	! grep '^|' out | grep -v '|$' || exit 1
	[ $size = 100M ] || { [ "$(wc -c <out)" -le $size ] && grep -q '^left out: .* All: `perfkit compare ' out; }
done

# the page: well-formed, its policy allows the pictures' script, rows and frames have the values of each run, only
# changes are coloured, and the picture is that of svg --diff
status 0 $work --html page.html work0.*.data -- work25.*.data
"$PERFKIT" svg $names --normalize none --diff -o diff.svg work0.*.data -- work25.*.data
python3 - <<'END'
import base64, hashlib, json, re, urllib.parse, xml.etree.ElementTree as xml
page = open("page.html").read()
svg = urllib.parse.unquote(re.search('data="data:image/svg.xml,([^"]*)"', page).group(1))
assert svg == open("diff.svg").read() and page.count("<object") == 1
script = xml.fromstring(svg).find("{http://www.w3.org/2000/svg}script").text
assert "'sha256-%s'" % base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in page and "<script" not in page
body = xml.fromstring(re.sub("<object.*</object>|<br>", "", page[page.index("<body>"):page.index("</html>")], flags=re.S))
rows = [(r.get("class"), r.get("title"), r.find("th").text) for r in body.iter("tr") if r.get("title")]
want = [f for f in json.load(open("longer.json"))["figures"] if f["tested"] or f["kind"] == "whole"]
assert [(r[0] or "", r[2]) for r in rows] == [(f["verdict"] if f["verdict"] in ("more", "less") else "", f["name"]) for f in want], rows
assert all(len(r.findall("td")[-1][0]) == 12 for r in body.iter("tr") if r.get("title"))
assert all(r[1].startswith("runs before: ") and r[1].count(",") == 10 for r in rows), rows
assert re.search("hot [^<]*runs before: ([0-9.]+ ms, ){5}", svg)
END
status 2 $work --html work0.1.data work0.1.data -- work25.1.data
status 1 $work --html no/such/page.html work0.1.data -- work25.1.data

# the same recordings on both sides of a picture: no error, and every frame is grey
for sides in "work0.1.data work0.1.data" "work0.1.data work0.2.data -- work0.1.data work0.2.data"; do
	"$PERFKIT" svg $names --no-script --diff -o same.svg $sides
	grep -o '<title>[^<]*points[^<]*' same.svg >points
	! grep -v ' +0.00 points' points || exit 1
	[ "$(sed -n '/id="frames"/,$p' same.svg | grep -o '<rect [^>]* fill="#[0-9a-f]*"' | sed 's/.*fill=//' | sort -u)" = '"#dddbd7"' ]
done

# order: the groups one after the other, and swapped
status 0 $work work0.[123].data -- work25.[456].data
grep -q '^All runs of AFTER were recorded after' out
status 0 $work work25.[456].data -- work0.[123].data
tr '\n' ' ' <out | grep -q 'All runs of BEFORE were recorded after those of AFTER (by the wall clock): are *the two swapped?'
status 0 $work work0.[1234].data work25.1.data -- work25.[3456].data work0.5.data
grep -q '^Most runs of one side were recorded before the other' out
! grep -q 'by turns (by' out || exit 1

# a run counts once, whatever it is called
cp work0.1.data again.data
status 2 $work work0.1.data again.data -- work25.1.data
grep -q 'again.data is the same recording as work0.1.data' err
status 2 $work work0.1.data -- work0.1.data
for bad in "" "work0.1.data" "work0.1.data --" "-- work0.1.data"; do
	status 2 $work $bad
done
status 1 $work nothing.data -- work0.1.data
grep -q nothing.data err

# what some runs lack is not 0 there
status 0 $names wait0.1.data work0.1.data -- work25.1.data wait50.1.data
grep -q '^Functions are not compared: only 2 of 4 runs have them.$' out
grep -q '^Waits are not compared: only 2 of 4 runs have them.$' out
grep -q '^recorded ' out
! grep -q '^hot\|^CPU time\|^waiting\|sleep in' out || exit 1

# runs that sampled something else are no comparison
status 2 $work work0.1.data -- "$SRC/testdata/fp-threads/perf.data"
grep -q 'perf.data samples cpu-clock, the runs before it cpu-clock:u: choose an event' err

# bundles and stores are runs as recordings are; each recording of a store is one
"$PERFKIT" pack $names work0.1.data -o bundle.tar.zst
"$PERFKIT" import $names work0.2.data work0.3.data work0.4.data work0.5.data work0.6.data -o before.db
"$PERFKIT" import $names work25.*.data -o after.db
status 0 $work --format json work0.*.data -- work25.*.data
sed 's/"file":"[^"]*"//g' out >plain
status 0 -q --no-local --per recording --format json bundle.tar.zst before.db -- after.db
sed 's/"file":"[^"]*"//g' out | cmp - plain

# the example workflow, with a perf that has the recordings already
python3 -c 'import yaml' 2>/dev/null || { echo "left out: the workflow (no PyYAML)"; exit 0; }
mkdir -p ci/bin ci/before ci/after
cat >ci/bin/perf <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
run=${2##*/} run=${run%.data}
case $run in before.*) cp "../../work0.${run#*.}.data" "$2" ;; after.*) cp "../../work25.${run#*.}.data" "$2" ;; esac
END
cat >ci/bin/perfkit <<END
#!/bin/sh
verb=\$1
shift
exec "$PERFKIT" \$verb --no-local --symfs "$data/symfs" "\$@"
END
chmod +x ci/bin/*
python3 - "$SRC/contrib/ci/perfkit-compare.yml" <<'END'
import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))["jobs"]["compare"]
steps = {s["name"]: s["run"] for s in job["steps"] if "name" in s}
open("ci/record.sh", "w").write(steps["Record by turns"])
open("ci/compare.sh", "w").write(steps["Compare"])
open("ci/conditions", "w").write(job["env"]["CONDITIONS"])
for s in job["steps"]:
    assert "run" in s or "uses" in s
END
cd ci
export PATH="$PWD/bin:$PATH" RUNS=6 BENCH=./bench GITHUB_STEP_SUMMARY=$PWD/summary
CONDITIONS=$(cat conditions)
export CONDITIONS
sh -e record.sh
rc=0
sh compare.sh || rc=$?
[ $rc = 4 ] || { echo "the workflow's status is $rc"; exit 1; }
grep -q '<failure' junit.xml
cmp comment.md summary
rm -f runs/*.data
for i in 1 2 3; do
	cp ../work0.$i.data runs/before.$i.data
	cp ../work0.$((i + 3)).data runs/after.$i.data
done
sh compare.sh # no change, or too few runs to say: green
