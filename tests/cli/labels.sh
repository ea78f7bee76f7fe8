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

# pictures
"$PERFKIT" svg -q --no-local -e cpu-clock/freq=499/ --split label:span shop.data -o split.svg
for name in lookup parse '\[no label\]'; do
	grep -q "$name" split.svg || bad "split.svg lacks $name"
done
"$PERFKIT" svg -q --no-local --offcpu --split label:route --with "$csv" "$serve" -o waits.svg
grep -q '/pay' waits.svg
"$PERFKIT" svg -q --offcpu --split label:route serve.db -o stored.svg
"$PERFKIT" svg -q --no-local --label span=lookup shop.data -o lookup.svg

# what cannot be
refused()
{
	words=$1
	shift
	rc=0
	"$PERFKIT" "$@" >out 2>err || rc=$?
	[ $rc = 2 ] && grep -qF -e "$words" err || { echo "$*: exit $rc"; cat err; exit 1; }
}
refused 'has the label nothing' collapse -q --no-local --label nothing=1 shop.data
refused 'is KEY=VALUE' collapse -q --no-local --label span shop.data
refused 'label does not go with --wall' svg --wall --label span=lookup shop.data -o x.svg
refused 'has no meaning here' tail --label span=lookup shop.data
refused 'comm, pid or tid' svg --wall --split label:span shop.data -o x.svg
refused '--with goes with --label' svg --no-local --with "$csv" "$serve" -o x.svg
refused '--with goes with --label' collapse --no-local --offcpu --with "$csv" "$serve"
exit 0
