# report --brief: the answer is at most 2 kB, as Markdown and as JSON, names what report and tail name, and its
# commands work; recordings and stores alike; names that are long or full of control characters stay within.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
d=$SRC/testdata
names="-q --no-local --symfs $d/against/symfs --kallsyms $d/against/kallsyms --comm shift --idle"
gunzip -c "$d/against/before.data.gz" >before.data
gunzip -c "$d/compare/work0.1.data.gz" >work.data

"$PERFKIT" report --brief --json $names before.data >waits.json
"$PERFKIT" report --by site --json $names before.data >sites.json
"$PERFKIT" tail --by wait --top 1 --json $names before.data >tail.json
"$PERFKIT" report --brief --json -q --no-local --symfs "$d/compare/symfs" work.data >work.json
"$PERFKIT" report --by function --json -q --no-local --symfs "$d/compare/symfs" work.data >functions.json
python3 - <<'END'
import json
def rows(name):
    x = json.load(open(name))
    return x if isinstance(x, list) else x["rows"]
b, t = json.load(open("waits.json")), json.load(open("tail.json"))
assert b["schema"] == 1 and set(b["can"]) == {"cpu", "waits", "tail"} and b["file"] == "before.data", b
assert sorted((r["total_ns"] for r in rows("sites.json")), reverse=True)[:5] == [s["ns"] for s in b["sites"]]
assert any("sleep in store()" in s["name"] for s in b["sites"]), b["sites"]
chain = t["episodes"][0]["chain"]
assert [l["ns"] for l in b["worst"]] == [l["ns"] for l in chain][:6], (b["worst"], chain)
assert b["worst"][0]["name"].endswith("blocked, sleep") and not b["functions"] and "worst wait" in b["headline"]
w = json.load(open("work.json"))
want = sorted((r["self_ns"] for r in rows("functions.json") if r["self_ns"]), reverse=True)[:5]
assert [f["self_ns"] for f in w["functions"]] == want and w["functions"][0]["name"] == "hot, slower", w
assert not w["sites"] and not w["worst"] and "perfkit tail work.data" not in w["next"], w
open("next", "w").write("\n".join(b["next"] + w["next"]) + "\n")
END
grep -q '^perfkit source work.data$' next

# ids: the row's and the episode's own, accepted where a name is
id=$(sed -n 's/.*"id":"\(site:[0-9a-f]*\)".*/\1/p' waits.json)
name=$(python3 -c 'import json, sys
print(*(s["name"] for s in json.load(open("waits.json"))["sites"] if s["id"] == sys.argv[1]), sep="\n")' "$id")
for asked in "$id" "$name"; do
	"$PERFKIT" report --by site --json $names --filter "site=$asked" before.data >one.json
	python3 -c 'import json, sys
r = json.load(open("one.json"))["rows"]
assert [(x["site"], x["site_id"]) for x in r] == [tuple(sys.argv[1:])], r' "$name" "$id"
done
"$PERFKIT" report --by site --json $names --filter "site!=$id" before.data | grep -q "$id" && exit 1
name="main: sleep in store()"
id=$(python3 -c 'import json, sys
print(*(s["id"] for s in json.load(open("waits.json"))["sites"] if s["name"] == sys.argv[1]), sep="\n")' "$name")
# --site: that site's waits alone, by id and by name, in recording, bundle and store
"$PERFKIT" pack -q --no-local --symfs "$d/against/symfs" --kallsyms "$d/against/kallsyms" before.data -o run.tar.zst
"$PERFKIT" import -q --no-local --symfs "$d/against/symfs" --kallsyms "$d/against/kallsyms" before.data -o run.db
for f in before.data run.tar.zst run.db; do
	only="--comm shift --idle"
	[ $f != before.data ] || only=$names
	for asked in "$id" "$name"; do
		"$PERFKIT" tail -q --no-local $only --json --top 0 --site "$asked" $f >tail.only.json
		"$PERFKIT" source -q --no-local $only --offcpu --site "$asked" $f >source.only
		"$PERFKIT" report -q --no-local $only --by site --json --site "$asked" $f >report.only.json
		python3 - "$id" <<'END'
import json, sys
want = next(r for r in json.load(open("sites.json"))["rows"] if r["site_id"] == sys.argv[1])
(row,) = json.load(open("report.only.json"))["rows"]
own = ("site_id", "waits", "total_ns", "max_ns")
assert [row[k] for k in own] == [want[k] for k in own], (row, want)
tail = json.load(open("tail.only.json"))
episodes, of = tail["episodes"], tail["population"]
assert len(episodes) + of["open"] + of["suspect"] == want["waits"], (len(episodes), want)
assert " in %d waits" % want["waits"] in open("source.only").readline()
END
	done
done
"$PERFKIT" tail $names --site site:00000000 before.data 2>err && exit 1
grep -q 'no wait site site:00000000 (see: perfkit report --by site)$' err
"$PERFKIT" tail $names --by activation --site "$id" before.data 2>err && exit 1
grep -q 'needs --by wait' err
ids() { grep -o '[a-z]*:[0-9a-f]*[+.0-9]*"' "$1"; }
cat before.data | "$PERFKIT" report --brief --json $names - >piped.json
ids waits.json >ids.txt
ids piped.json | cmp - ids.txt
grep -q '^wait:[0-9]*+[0-9]*[.][0-9]*"$' ids.txt
id=$(sed -n 's/.*"name":"hot, slower","id":"\(function:[0-9a-f]*\)".*/\1/p' work.json)
"$PERFKIT" report --by function --csv -q --no-local --symfs "$d/compare/symfs" --filter "function=$id" work.data >one.csv
[ "$(cut -d, -f1 one.csv)" = "function
hot" ]
"$PERFKIT" source -q --no-local --symfs "$d/compare/symfs" "$id" work.data | grep -q hot
rc=0
gunzip -c "$d/compare/work0.2.data.gz" >other.data
"$PERFKIT" compare -q --no-local --symfs "$d/compare/symfs" --fail-on "function $id self more 5%" --format json \
	work.data -- other.data >gate.json || rc=$?
[ $rc = 3 ] || { cat gate.json; exit 1; }
python3 -c 'import json, sys
a = json.load(open("gate.json"))
g = [a["figures"][g["figure"]] for g in a["gates"]]
assert [(x["name"], x["id"]) for x in g] == [("hot, slower", sys.argv[1])], g' "$id"
# an episode's id is accepted by all commands that show episodes
"$PERFKIT" report --brief --json -q --no-local "$d/orders/orders.tar.zst" >orders.json
id=$(sed -n 's/.*"episode":"\([^"]*\)".*/\1/p' orders.json)
for verb in tail "tail --format markdown" "tail --json" "svg --tail -o one.svg" "collapse --tail" "timeline -o one.svg" "html -o one.html" \
	"export --to pprof --tail -o one.pb.gz"; do
	"$PERFKIT" $verb -q --no-local --episode "$id" "$d/orders/orders.tar.zst" >one.out || { echo "$verb --episode $id"; exit 1; }
done
grep -q 'id="answer">The worst wait of front-0: ' one.html

sed 's/^perfkit //' next | while read -r words; do
	"$PERFKIT" $words -q --no-local >out 2>err || [ $? = 3 ] || { echo "$words: $(cat err)"; exit 1; }
done

"$PERFKIT" report --brief -q --no-local --symfs "$d/compare/symfs" work.data >text
grep -q '^- .* ms  `hot, slower`  function:' text
for f in run.db run.tar.zst; do
	"$PERFKIT" report --brief --json -q --no-local --comm shift --idle $f | sed "s/$f/before.data/g" | cmp - waits.json
done

for f in "$d"/*/perf.data; do
	for form in "" --json; do
		"$PERFKIT" report --brief $form -q --no-local "$f" >out 2>err || continue
		[ "$(wc -c <out)" -le 2048 ] || { echo "$f $form: $(wc -c <out) bytes"; exit 1; }
		[ -z "$form" ] || python3 -c 'import json; json.load(open("out"))'
	done
done
"$PERFKIT" report --brief --csv -q work.data 2>err && exit 1
grep -q 'csv' err

# waits that are unclear and longer than the worst one: the command that ranks them comes next
"$PERFKIT" report --brief --json -q --no-local "$d/incidents/nagle.tar.zst" >unclear.json
python3 -c 'import json; print(*json.load(open("unclear.json"))["next"], sep="\n")' >next
sed -n 2p next | grep -q '^perfkit tail --work-frame query ' || { cat next; exit 1; }
! grep -q work-frame waits.json || { cat waits.json; exit 1; }
