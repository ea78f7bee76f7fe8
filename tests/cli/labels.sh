# Labels on samples and waits: what SQL joins by time is what --label keeps; the parts of waits add up
# to those of the spans; --split label:KEY tells them apart; file, pipe and store agree.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
serve=$SRC/testdata/requests/serve.tar.zst
csv=$SRC/testdata/requests/requests.csv
gunzip -c "$SRC/testdata/report/shop.data.gz" >shop.data
"$PERFKIT" import -q --no-local shop.data -o shop.db
"$PERFKIT" import -q --no-local --with "$csv" "$serve" -o serve.db
total() { awk '{ n += $NF } END { print n + 0 }'; }
bad() { echo "$*"; exit 1; }

# samples: the spans around them, by time
for name in handle lookup parse; do
	got=$("$PERFKIT" collapse -q --no-local --label span=$name --weight samples \
		-e cpu-clock/freq=499/ shop.data | total)
	want=$(sqlite3 shop.db "SELECT count(*) FROM samples s JOIN selected_events e ON e.id = s.event_id
		WHERE e.name LIKE 'cpu-clock%' AND s.time_ns IS NOT NULL AND '$name' = (
			SELECT p.name FROM spans p WHERE p.thread_id = s.thread_id
				AND p.start_ns <= s.time_ns AND s.time_ns < p.end_ns
			ORDER BY p.start_ns DESC LIMIT 1)") 2>sql.err || { cat sql.err; exit 1; }
	[ "$got" = "$want" ] || bad "$name: $got samples, $want by SQL"
	[ $name = handle ] || [ "$got" -gt 0 ] || bad "$name: no samples"
done

# waits: cut at the edges of the spans
"$PERFKIT" report -q --by label:route --json serve.db >report.json
for route in /pay /list; do
	got=$("$PERFKIT" collapse -q --no-local --offcpu --idle --unit ns --label route=$route --with "$csv" "$serve" | total)
	want=$(python3 -c 'import json, sys
print(sum(r["blocked_ns"] + r["runnable_ns"] for r in json.load(open("report.json"))["rows"] if r["value"] == sys.argv[1]))' $route)
	[ "$got" = "$want" ] || bad "$route: $got ns, $want in the spans"
done
[ "$want" = 0 ] || bad "/list waits"
key=$("$PERFKIT" collapse -q --offcpu --unit ns --label key=0-30 serve.db | total)
[ "$key" -gt 7000000 ] && [ "$key" -lt 7600000 ] || bad "request 0-30: $key ns"

# the same from a store and a pipe
"$PERFKIT" collapse -q --no-local --label span=lookup shop.data >file.folded
"$PERFKIT" collapse -q --label span=lookup shop.db | cmp - file.folded
"$PERFKIT" collapse -q --no-local --label span=lookup - <shop.data | cmp - file.folded
"$PERFKIT" collapse -q --no-local --offcpu --label route=/pay --with "$csv" "$serve" >file.folded
"$PERFKIT" collapse -q --offcpu --label route=/pay serve.db | cmp - file.folded

# every question about a population: what one value has, and what none has, is what there is
cat >sums.py <<'END'
import json, sys
what, files = sys.argv[1], sys.argv[2:]
def total(f):
    if what == "wall":
        return sum(sum(p["weights"]) for p in json.load(open(f))["profiles"] if "wall" in p["name"])
    if what == "tail":
        return sum(e["duration_ns"] for e in json.load(open(f))["episodes"])
    rows = json.load(open(f))["rows"]
    return sum(r["run_ns"] + r["blocked_ns"] + r["unclear_ns"] + r["runnable_ns"] + r["unknown_ns"] for r in rows)
parts = [total(f) for f in files]
assert sum(parts[1:]) == parts[0] and all(parts), (what, parts)
END
# Usage: sums WHAT FILE SIDE KEY VALUE...
sums()
{
	what=$1 file=$2 side=$3 key=$4
	shift 4
	case $what in
	wall) set -- "$@" -- export --to speedscope --wall ;;
	tail) set -- "$@" -- tail --by wait --top 0 --open --json ;;
	report) set -- "$@" -- report --by thread --json ;;
	esac
	values=
	while [ "$1" != -- ]; do
		values="$values $1"
		shift
	done
	shift
	"$PERFKIT" "$@" -q --force --no-local --idle --system "$file" >whole.json
	parts=
	for value in $values; do
		[ "$value" = none ] && value=
		"$PERFKIT" "$@" -q --force --no-local --idle --system --label "$key=$value" --with "$side" \
			"$file" >"part${value#/}.json"
		parts="$parts part${value#/}.json"
	done
	# shellcheck disable=SC2086 # words
	python3 sums.py "$what" whole.json $parts
}
labelled=$SRC/testdata/labels/labelled.tar.zst
labels=$SRC/testdata/labels/labels.txt
for what in wall report; do
	sums $what "$serve" "$csv" route /pay /list none
	sums $what "$labelled" "$labels" table users orders events none
done
sums tail "$serve" "$csv" route /pay none
sums tail "$labelled" "$labels" table events none

# a span has the label itself, or what is around its begin has it
"$PERFKIT" tail -q --top 0 --open --json --label route=/list serve.db >label.json
"$PERFKIT" tail -q --top 0 --open --json --where route=/list serve.db | cmp - label.json
got=$("$PERFKIT" report -q --by function --json --label span=handle shop.db |
	python3 -c 'import json, sys; print(*sorted(r["name"] for r in json.load(sys.stdin)["rows"]))')
[ "$got" = handle ] || bad "spans named handle: $got"

# a timeline marks where its threads have the label
"$PERFKIT" timeline -q --no-local --label route=/pay --with "$csv" "$serve" -o marked.svg
[ "$(grep -o 'class="highlight"' marked.svg | wc -l)" = 46 ] || bad "timeline: not 46 requests marked"
! grep -q '>snapshot' marked.svg || bad 'timeline: a thread without the label'
"$PERFKIT" timeline -q --label route=/pay serve.db -o marked.db.svg
cmp marked.svg marked.db.svg
for to in firefox pprof; do
	"$PERFKIT" export -q --no-local --to $to --label span=lookup shop.data -o lookup.$to
	"$PERFKIT" export -q --to $to --label span=lookup shop.db | cmp - lookup.$to
done

# pictures
"$PERFKIT" svg -q --no-local -e cpu-clock/freq=499/ --split label:span shop.data -o split.svg
for name in lookup parse '\[no label\]'; do
	grep -q "$name" split.svg || bad "split.svg lacks $name"
done
"$PERFKIT" svg -q --no-local --offcpu --split label:route --with "$csv" "$serve" -o waits.svg
grep -q '/pay' waits.svg
"$PERFKIT" svg -q --offcpu --split label:route serve.db -o stored.svg
"$PERFKIT" svg -q --no-local --label span=lookup shop.data -o lookup.svg

# coloured by a label: its values stand on top, with the weight that collapse finds for each
"$PERFKIT" svg -q --all --no-local --color label:table --with "$labels" "$labelled" -o color.svg
"$PERFKIT" import -q --no-local --with "$labels" "$labelled" -o labelled.db
"$PERFKIT" svg -q --all --color label:table labelled.db | cmp - color.svg
event=$(sqlite3 labelled.db "SELECT name FROM selected_events WHERE name LIKE '%clock%'")
"$PERFKIT" collapse -q --no-local -e "$event" "$labelled" | total >all
for t in users orders events; do
	"$PERFKIT" collapse -q --no-local -e "$event" --label table=$t --with "$labels" "$labelled" | total >one
	share=$(awk -v all="$(cat all)" '{ printf "%.2f", 100 * $1 / all }' one)
	grep -q "$t $share%" color.svg || bad "color.svg: $t is not $share %"
	grep -q "<text x=\"17\" y=\"10\">$t</text>" color.svg || bad "color.svg: no $t in the legend"
done
"$PERFKIT" svg -q --no-local --offcpu --color label:route --with "$csv" "$serve" -o color.svg
grep -q '/pay' color.svg || bad 'waits: no /pay'
grep -q '\[no label\]' color.svg || bad 'waits: all have a label'

# a report begins with the label, and explains the episodes that have it; nobody has it: no report
"$PERFKIT" html -q --no-local --label route=/list --top 3 --with "$csv" "$serve" -o label.html
"$PERFKIT" html -q --label route=/list --top 3 serve.db -o stored.html
"$PERFKIT" tail -q --no-local --label route=/list --top 3 --json --with "$csv" "$serve" >top.json
python3 - label.html stored.html top.json <<'END'
import base64, json, re, sys, zlib
heads = [json.loads(zlib.decompress(base64.b64decode(re.search(r'id="head"[^>]*>([^<]*)<', open(f).read())[1])))
         for f in sys.argv[1:3]]
want = [e["duration_ns"] for e in json.load(open(sys.argv[3]))["episodes"]]
for h in heads:
    assert h["label"] == "route=/list" and "route" in h["labels"], (h["label"], h["labels"])
    assert [e["duration_ns"] for e in h["tail"]["episodes"]] == want, h["tail"]["episodes"]
END
for what in 'html -o' 'tail --top 3 --html' 'export --to perfetto -o'; do
	rc=0
	# shellcheck disable=SC2086 # words
	"$PERFKIT" $what none.out -q --no-local --label route=/none --with "$csv" "$serve" >out 2>err || rc=$?
	[ $rc = 3 ] && [ ! -e none.out ] && grep -q 'nothing has the label route=/none' err || bad "$what: exit $rc: $(cat err)"
done
"$PERFKIT" tail -q --label route=/list --top 3 --html tail.html serve.db >out
cmp tail.html stored.html

# Perfetto: the samples and switches of all values are those of the whole, as many as collapse has;
# a slice for each span with the label; runs of CPUs stay whole
cat >perfetto.py <<'END'
import collections, sys
sys.path.insert(0, sys.argv[1])
from exportcheck import Perfetto
sums = []
for f in sys.argv[2:]:
    p = Perfetto(f)
    sums.append((collections.Counter(k[0].split("/")[0] for k in p.samples.elements()), p.runs, p.labels))
whole, parts = sums[0], sums[1:]
assert sum((s for s, _, _ in parts), collections.Counter()) == whole[0], [s for s, _, _ in sums]
assert sum((n for _, _, n in parts), collections.Counter()) == whole[2]
assert all(runs == whole[1] for _, runs, _ in parts)
print(*(sum(n.values()) if n else s["cpu-clock"] for s, _, n in sums))
END
# Usage: perfetto WANT FILE SIDE KEY VALUE...
perfetto()
{
	want=$1 file=$2 side=$3 key=$4
	shift 4
	"$PERFKIT" export -q --no-local --to perfetto --with "$side" "$file" -o whole.pftrace
	set -- "$@" none
	parts=
	for value in "$@"; do
		part=part${value#/}.pftrace
		"$PERFKIT" export -q --no-local --to perfetto --label "$key=${value%none}" --with "$side" "$file" -o "$part"
		parts="$parts $part"
	done
	# shellcheck disable=SC2086 # words
	got=$(python3 perfetto.py "$SRC/tests" whole.pftrace $parts) && [ "$got" = "$want" ] || bad "perfetto $key: $got"
}
perfetto '134 46 88 0' "$serve" "$csv" route /pay /list
of_table() { "$PERFKIT" collapse -q --no-local -e "$event" --weight samples --label "table=$1" --with "$labels" "$labelled" | total; }
perfetto "$("$PERFKIT" collapse -q --no-local -e "$event" --weight samples "$labelled" | total) $(of_table users) $(of_table orders) \
$(of_table events) $(of_table '')" "$labelled" "$labels" table users orders events

# what cannot be
refused()
{
	status=$1 words=$2
	shift 2
	rc=0
	"$PERFKIT" "$@" >out 2>err || rc=$?
	[ $rc = "$status" ] && grep -qF -e "$words" err || { echo "$*: exit $rc"; cat err; exit 1; }
}
refused 3 'has the label nothing' collapse -q --no-local --label nothing=1 shop.data
refused 2 'is KEY=VALUE' collapse -q --no-local --label span shop.data
refused 2 'label does not go with --to parquet' export --to parquet -o tables --label span=lookup shop.data
refused 2 'is for samples, --offcpu' svg --wall --color label:span shop.data -o x.svg
refused 2 'name the label' svg --color label shop.data -o x.svg
refused 2 'gaps are of CPUs' report --by gap --label span=lookup shop.data
refused 2 'comm, pid or tid' svg --wall --split label:span shop.data -o x.svg
refused 2 'name different labels' svg --color label:span --split label:key shop.data -o x.svg
refused 2 '--with goes with --label' svg --no-local --with "$csv" "$serve" -o x.svg
refused 2 '--with goes with --label' collapse --no-local --offcpu --with "$csv" "$serve"
exit 0
