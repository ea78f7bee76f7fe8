# Requests that a program logged (--with): matched to the nanosecond, explained by whoever held them
# up; chosen by key and label; the same from file and store; refused with what would have helped.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
kept=$SRC/testdata/requests
csv=$kept/requests.csv
file=$kept/serve.tar.zst

"$PERFKIT" tail -q --no-local --with "$csv" --top 0 --open --json "$file" >all.json
python3 "$SRC/tests/truth/check_requests.py" "$csv" all.json
"$PERFKIT" tail --no-local --with "$csv" --p99 "$file" >file.txt 2>err
grep -q 'requests.csv: 134 spans on CLOCK_MONOTONIC (assumed: on no other do they lie in the recording), exact' err

# the store keeps them, and takes them
"$PERFKIT" import -q --no-local --with "$csv" "$file" -o with.db
"$PERFKIT" import -q --no-local "$file" -o without.db
"$PERFKIT" tail -q --p99 with.db | cmp - file.txt
"$PERFKIT" tail -q --with "$csv" --p99 without.db | cmp - file.txt
"$PERFKIT" tail -q --top 0 --open --json with.db >stored.json
cmp all.json stored.json
"$PERFKIT" tail -q --no-local --with - --p99 "$file" <"$csv" | cmp - file.txt
gzip -c "$csv" >packed.gz
"$PERFKIT" tail -q --no-local --with packed.gz --p99 "$file" | cmp - file.txt
if command -v sqlite3 >/dev/null; then
	n=$(sqlite3 with.db "SELECT count(*) FROM spans s JOIN labels l ON l.span_id = s.id
		WHERE l.key = 'route' AND l.value = '/pay' AND s.key_text LIKE '0-%'")
	[ "$n" = 23 ]
fi

# one request; those of a label; groups
"$PERFKIT" tail -q --key 0-30 with.db >one.txt
grep -q '0-30 (route=/pay' one.txt
grep -q 'root cause: thread snapshot/[0-9]* held the lock' one.txt
"$PERFKIT" tail -q --where route=/list --json --top 0 --open with.db |
	python3 -c 'import json, sys
d = json.load(sys.stdin)
assert len(d["episodes"]) == 88, len(d["episodes"])
assert all({"key": "route", "value": "/list"} in e["labels"] for e in d["episodes"])'
"$PERFKIT" tail -q --top 10 --group label:route with.db | grep -q '^ *[0-9]* .* /pay$'
"$PERFKIT" tail -q --csv --top 1 with.db | tail -1 | grep -q ',0-30$'
"$PERFKIT" svg -q --no-local --tail --key 0-30 --with "$csv" "$file" -o one.svg
grep -q handle_request one.svg

# without threads they are windows, or belong to the one thread that is chosen
cut -d, -f1,2,4- "$csv" >windows.csv
"$PERFKIT" tail --no-local --with windows.csv --top 1 --comm server --comm snapshot "$file" >w.txt 2>err
grep -q '134 name no thread: ask about these with --by window' err
grep -q '^tail by window in ' w.txt
grep -q 'Windows tell what threads did' w.txt
grep -q '^ *in it  *server/[0-9]* ran ' w.txt
"$PERFKIT" tail -q --no-local --with windows.csv --top 1 --comm snapshot "$file" | grep -q '^#1  snapshot/'
"$PERFKIT" tail -q --no-local --with windows.csv --top 2 --json "$file" |
	python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["by"] == "window" and d["population"]["count"] == 134, d
for e in d["episodes"]:
    for t in e["threads"]:
        assert t["run_ns"] + t["blocked_ns"] + t["runnable_ns"] + t["unknown_ns"] <= e["duration_ns"]'
"$PERFKIT" import -q --no-local --with windows.csv "$file" -o windows.db
"$PERFKIT" tail -q --no-local --with windows.csv --top 3 "$file" >w.txt
"$PERFKIT" tail -q --top 3 windows.db | cmp - w.txt

# the same requests as OpenTelemetry and Chrome traces; wall-clock time by the recording's clock data
pid=$(python3 -c 'import json; print(json.load(open("all.json"))["episodes"][0]["pid"])')
offset=$(sqlite3 with.db 'SELECT wall_ns - origin_ns FROM recordings' 2>/dev/null) || offset=
if [ "$offset" ]; then
	python3 "$SRC/tests/truth/retell.py" otlp "$csv" "$pid" "$offset" >traces.jsonl
	"$PERFKIT" tail --no-local --with traces.jsonl --top 0 --open --json "$file" >otlp.json 2>err
	grep -q 'traces.jsonl: 134 spans on CLOCK_REALTIME, within 1.0 us' err
	python3 - all.json otlp.json <<'END'
import json, sys
a, b = (json.load(open(f))["episodes"] for f in sys.argv[1:])
assert len(a) == len(b) == 134
for x, y in zip(a, b):
    assert y.pop("key") == x.pop("key").encode().hex().zfill(32)
    labels = {l["key"]: l["value"] for l in y.pop("labels")}
    assert {l["key"]: l["value"] for l in x.pop("labels")}.items() <= labels.items()
    assert labels["service.name"] == "shop"
    assert x == y, (x, y)
END
	"$PERFKIT" import -q --no-local --with traces.jsonl "$file" -o otlp.db
	"$PERFKIT" tail -q --top 0 --open --json otlp.db | cmp - otlp.json
	# the language's own thread numbers: by process and name there is more than one thread
	sed 's/"thread.id","value":{"intValue":"[0-9]*"/"thread.id","value":{"intValue":"1"/g' traces.jsonl >own.jsonl
	"$PERFKIT" tail --no-local --with own.jsonl --top 1 "$file" 2>err | grep -q '^tail by window'
	grep -q '134 name no thread' err
fi

# what an SDK of OpenTelemetry sent: its spans name no thread until one is chosen
otel="--no-local --with $kept/traces.jsonl.gz"
# shellcheck disable=SC2086
"$PERFKIT" tail $otel --by span "$kept/otel.tar.zst" >otel.txt 2>err
grep -q 'traces.jsonl.gz: 49 spans on CLOCK_REALTIME, within 1.0 us$' err
grep -q '49 name no thread' err
grep -q 'windows of GET /report' otel.txt
# shellcheck disable=SC2086
"$PERFKIT" tail -q $otel --tid 10758 --by 'span:GET /report' --top 0 --json "$kept/otel.tar.zst" |
	python3 -c 'import json, sys
e = json.load(sys.stdin)["episodes"]
assert len(e) == 8
for x in e:
    blocked = {b["cause"]: b["ns"] for b in x["blocked_by"]}
    assert blocked["io"] > 2_000_000 and x["tid"] == 10758, x
    assert {"key": "http.route", "value": "/report"} in x["labels"]'
# from "this trace is slow" to its cause: the commands of docs/requests.md say what it says
slow()
{
	words=$1
	shift
	# shellcheck disable=SC2086
	"$PERFKIT" tail -q $otel --tid 10758 "$@" "$kept/otel.tar.zst" >slow.txt
	tr -s ' \n' ' ' <slow.txt | grep -q -e "$words" || { cat slow.txt; exit 1; }
}
slow ' 11.6 ms 13138c683c415d765c2f76e633d598a7 node/10758 ' --by 'span:GET /report' --top 4 --details 0
slow '4.2 ms running + 6.8 ms blocked (io).*waiting for the disk' \
	--key 13138c683c415d765c2f76e633d598a7
slow 'root cause: .*waiting for the disk to write its pages' --by span:store --top 1
rc=0
# shellcheck disable=SC2086
"$PERFKIT" tail -q $otel --key 13138c683c415d765c2f76e633d598a7 --by span:store "$kept/otel.tar.zst" 2>err || rc=$?
[ $rc = 3 ]
grep -q 'no span of that name has the key' err
python3 "$SRC/tests/truth/retell.py" chrome "$csv" >trace.json
"$PERFKIT" tail -q --no-local --with trace.json --top 0 --open --json "$file" >chrome.json
cmp all.json chrome.json

# broken rows are told, the rest is used
{ head -3 "$csv"; echo '1,2'; sed -n 4,20p "$csv"; } >torn.csv
"$PERFKIT" tail --no-local --with torn.csv --top 1 "$file" 2>err >/dev/null
grep -q 'torn.csv: 1 of 20 rows are left out: line 4: it has too few cells' err

# what cannot be: status, one line with the file's name, nothing written
refused()
{
	want=$1
	shift
	rc=0
	"$PERFKIT" import -q --no-local "$@" "$file" -o bad.db 2>err || rc=$?
	[ $rc = "$want" ] || { echo "$*: exit $rc"; cat err; exit 1; }
	[ "$(wc -l <err)" = 1 ] && [ ! -e bad.db ] || { cat err; exit 1; }
}
refused 1 --with nowhere.csv
grep -q nowhere.csv err
echo 'a,b' >none.csv
refused 1 --with none.csv
grep -q 'none.csv: not a known kind of side file' err
refused 3 --with "$csv,clock=raw"
grep -q 'requests.csv: .*perf record -k CLOCK_MONOTONIC_RAW' err
refused 2 --with "$csv,clock=sun"
grep -q "not 'sun'" err
printf 'start_s,end_s\n5,6\n' >early.csv
refused 3 --with early.csv
grep -q 'early.csv: .*outside of the recording' err
rc=0
"$PERFKIT" tail -q --key nobody with.db 2>err || rc=$?
[ $rc = 3 ]
grep -q 'no span has the key nobody' err
rc=0
"$PERFKIT" tail -q --where colour=red with.db 2>err || rc=$?
[ $rc = 3 ]
grep -q 'no span has the label colour' err
