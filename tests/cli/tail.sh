# perfkit tail on the bundled recording with a planted tail: what it says against what the program
# measured itself, every output, every refusal.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
fails()  # status command...
{
	want=$1 got=0
	shift
	"$@" >out 2>err </dev/null || got=$?
	[ $got = "$want" ] || { echo "exit $got, not $want: $*"; cat err; exit 1; }
}
has() { grep -qF -- "$2" "$1" || { echo "$1 lacks: $2"; cat "$1"; exit 1; }; }

ln -s "$SRC/testdata/orders-one-cpu/orders.tar.zst" .
file=orders.tar.zst
"$PERFKIT" tail -q "$file" --by activation --comm front-0,front-1 --over 2ms --json >a.json
python3 "$SRC/tests/cli/tail_schema.py" a.json
# docs/tail-json.md, or the schema that it leads to, explains every key.
python3 - a.json "$SRC/docs/tail-json.md" "$SRC/docs/schema/tail.json" <<'PY'
import json, sys
def keys(x):
    if isinstance(x, dict):
        return set(x).union(*(keys(v) for k, v in x.items() if k != "said"))
    return set().union(*(keys(v) for v in x)) if isinstance(x, list) else set()
def described(s):
    """The keys that have a description, and the text of all descriptions."""
    found, text = set(), ""
    for key, of in s.get("properties", {}).items():
        found |= {key} if "description" in of else set()
        below = described({"properties": {**of.get("properties", {}), **of.get("items", {}).get("properties", {})}})
        found, text = found | below[0], text + of.get("description", "") + below[1]
    return found, text
found, text = described(json.load(open(sys.argv[3])))
text += open(sys.argv[2]).read()
told = keys(json.load(open(sys.argv[1]))) - found
# p50_ns ... p9999_ns stands for those between
lacks = sorted(k for k in told - {"p90_ns", "p99_ns", "p999_ns"} if f"`{k}`" not in text)
sys.exit(f"docs/schema/tail.json and docs/tail-json.md do not explain {lacks}" if lacks else 0)
PY
# The JSON alone gives the sentences of the text: of mechanisms, disks, queues, quotas, locks.
for of in incidents/pipe incidents/disk incidents/reclaim incidents/inversion incidents/quota \
	incidents/fork incidents/journal orders/orders requests/serve; do
	"$PERFKIT" tail -q --no-local --top 5 --json "$SRC/testdata/$of.tar.zst" >said.json
	"$PERFKIT" tail -q --no-local --top 5 --details 5 "$SRC/testdata/$of.tar.zst" >said.text
	python3 "$SRC/tests/tools/told.py" "$SRC/docs/tail-forms.json" said.json said.text
done
"$PERFKIT" tail -q "$file" --by activation --comm front-0,front-1 --over 2ms --details 100 | tr -s ' \n' ' ' >a.text
python3 - a.json a.text <<'PY'
import json, re, sys
d, text = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
for e in d["episodes"]:
    if e["root"]["sentence"] not in text or not e["root"]["sentence"]:
        sys.exit(f"the text lacks: {e['root']['sentence']}")
for who in re.findall(r"\(([^ ]+/\d+) used it for", text):
    if not any(f"{c['comm']}/{c['tid']}" == who for e in d["episodes"] for c in e["root"]["corunners"]):
        sys.exit(f"JSON lacks {who} beside the root")
every, pause = d["recurrence"]["every"], d["recurrence"]["pause"]
if not 99e6 < every["ns"] < 102e6 or not 90e6 < pause["ns"] < 92e6 or every["fitting"] != every["of"]:
    sys.exit(f"rhythm: {d['recurrence']}")
if d["groups"][0]["name"] not in text or sum(b["count"] for b in d["histogram"]) != 579:
    sys.exit("groups, histogram")
PY
python3 - a.json "$SRC/testdata/orders-one-cpu/truth.txt" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
truth = sorted((int(l.split()[1]) for l in open(sys.argv[2])), reverse=True)
ours = [e["duration_ns"] for e in d["episodes"]]
# one that is cut by the recording's edge is not ours to tell
if not truth or abs(len(truth) - len(ours)) > 1:
    sys.exit(f"{len(ours)} episodes above 2 ms, the program saw {len(truth)}")
for a, b in zip(truth, ours):
    if abs(a - b) > a * 0.02 + 100000:
        sys.exit(f"the program measured {a} ns, tail says {b} ns")
g = d["groups"][0]
if (g["root"]["comm"], g["root"]["function"], g["root"]["cause"]) != ("snapshot", "pause_ns", "sleep"):
    sys.exit(f"root is {g['root']}")
if g["count"] < 0.9 * len(ours):
    sys.exit(f"only {g['count']} of {len(ours)} have that root")
for e in d["episodes"]:
    if e["cause"] != "lock" or "match_order" not in e["stack"] or e["waker"]["tid"] == e["tid"]:
        sys.exit(f"episode {e['rank']}: {e['cause']} {e['stack']}")
PY

"$PERFKIT" tail -q "$file" --comm front-0,front-1 --p99 --hist >text
has text "population:"
has text "worst waits of front-0 and front-1: snapshot held the lock they wanted"
has text "snapshot: sleep in pause_ns()"
has text "snapshot: held the lock, asleep in pause_ns()"
has text "root cause: thread snapshot/"
has text "held the lock for"
has text "asleep in pause_ns()"
python3 - text <<'PY'
import sys
for line in open(sys.argv[1]):
    if len(line.rstrip("\n")) > 80:
        sys.exit(f"wider than 80 columns: {line}")
PY
# waiting for a CPU is one part, whoever had it, with all who had it
"$PERFKIT" tail -q "$file" --all --top 300 --details 300 | tr -s ' \n' ' ' >queue
has queue ": waiting for a CPU in "
grep -q "ms waiting for a CPU in [^ ]* ([^ ]* used it for 13.0 ms, 5 %, 31 others for 57.5 ms, unrecorded for [0-9.]* ms)" queue || {
	echo "the worst waited for a CPU:"
	cat queue
	exit 1
}
# what the user calls idle is, whatever it waits for; a lock's wait is hidden then
"$PERFKIT" tail -q "$file" --comm front-0,front-1 --json --idle-frame '^match_ord{1,2}er$' >hidden.json
python3 - hidden.json <<'PY'
import json, sys
for e in json.load(open(sys.argv[1]))["episodes"]:
    if e["cause"] == "lock":
        sys.exit(f"a wait in match_order is shown: {e}")
PY
"$PERFKIT" tail -q "$file" --comm front-0 --top 3 --stacks full --details 1 >full
has full "futex_wait [kernel]"
for g in root holder stack cause thread comm; do
	"$PERFKIT" tail -q "$file" --comm front-0 --p90 --group $g --details 0 >"group-$g"
	grep -Eq "^count +time +share  " "group-$g"
done
has group-thread "front-0/"
has group-cause "lock"
# The other front, which waited for the lock itself and then woke this one, held it only briefly.
"$PERFKIT" tail -q "$file" --comm front-0,front-1 --over 2ms --group holder --details 0 >holder
has holder "snapshot: held the lock in pause_ns()"
! grep -q "front-[01]: held the lock" holder || exit 1

# Filters: the population's, and what is shown of the worst.
"$PERFKIT" tail -q "$file" --comm front-0 --cause lock --state blocked --p90 --json >lock.json
python3 - lock.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
if not d["episodes"] or any(e["cause"] != "lock" or e["comm"] != "front-0" for e in d["episodes"]):
    sys.exit("filters")
if d["population"]["selected"] <= len(d["episodes"]):
    sys.exit("--cause chose the population, not what is shown")
PY
"$PERFKIT" tail -q "$file" --idle --system --over 1ms --json >all.json
python3 "$SRC/tests/cli/tail_schema.py" all.json
python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in ("all.json", "a.json"))
p = a["population"]
sys.exit(bool(p["idle_hidden"] or p["system_hidden"] or a["unclear"]["count"]) or not b["unclear"]["count"])'

# CSV: as many fields in each line, durations as in JSON.
"$PERFKIT" tail -q "$file" --by activation --comm front-0,front-1 --over 2ms --csv >a.csv
python3 - a.csv a.json <<'PY'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
want = json.load(open(sys.argv[2]))["episodes"]
if [int(r["duration_ns"]) for r in rows] != [e["duration_ns"] for e in want]:
    sys.exit("CSV and JSON differ")
if any(None in r or r["root_function"] != e["root"]["function"] for r, e in zip(rows, want)):
    sys.exit("fields")
PY

# Pictures.
"$PERFKIT" tail -q "$file" --comm front-0 --top 3 --details 3 --rows 2 --svg worst.svg --flame flame.svg >answer
[ "$(grep -c '^    picture: worst.svg#ep=[12]$' answer)" = 2 ] || { echo "no links to the pictures"; exit 1; }
python3 -c 'import xml.dom.minidom as m; m.parse("worst.svg"); m.parse("flame.svg")'
has worst.svg "held the lock for"
has flame.svg "match_order"

# A store answers as the recording does, byte for byte.
"$PERFKIT" import -q "$file" -o run.db
for o in --json --csv --hist "--by activation --json" "--group stack" "--idle --system"; do
	"$PERFKIT" tail -q "$file" $o --over 300us >of-file
	"$PERFKIT" tail -q run.db $o --over 300us >of-store
	cmp of-file of-store || { echo "store and recording differ: $o"; diff of-file of-store | head; exit 1; }
done

# The store's own view says where as tail does, not how the kernel puts any thread off.
if command -v sqlite3 >/dev/null; then
	functions=$(sqlite3 run.db "SELECT DISTINCT function FROM v_offcpu WHERE cause = 'lock' AND comm = 'front-0'")
	[ "$functions" = match_order ] || { echo "v_offcpu.function of a lock: $functions"; exit 1; }
	functions=$(sqlite3 run.db "SELECT DISTINCT function FROM v_offcpu WHERE NOT system AND NOT running")
	case $functions in *schedule*) echo "v_offcpu.function: $functions"; exit 1 ;; esac
fi

# A tail that rests on what was seen in part only: no number.
fails 3 "$PERFKIT" tail "$file" --all --p999
has err "cannot say what p99.9 is"
has out "p99.9: cannot say"
lacks_number=$(grep -c "^p99.9 = " out || :)
[ "$lacks_number" = 0 ]
fails 0 "$PERFKIT" tail "$file" --all --p999 --force
# --open lists them, still without a number
fails 0 "$PERFKIT" tail "$file" --all --open --details 1
has out 'p99.9: cannot say; 27 episodes lasted '
has out ', open'
fails 3 "$PERFKIT" tail "$file" --all --p999 --json
python3 "$SRC/tests/cli/tail_schema.py" out
python3 -c 'import json; assert json.load(open("out"))["population"]["p999_ns"] is None'

waits()
{
	"$PERFKIT" tail -q --all --no-local --symfs "$SRC/testdata/demo/symfs" \
		--kallsyms "$SRC/testdata/waits/kallsyms" "$SRC/testdata/waits/perf.data" "$@"
}
"$PERFKIT" tail -q --no-local --top 20 "$SRC/testdata/orders/orders.tar.zst" | tr '\n' ' ' >orders
has orders "20 of 20 worst waits of front-0 and front-1: snapshot held the lock they wanted (book), asleep in write_pages()."
# A wait where its thread rests is not spoken of. A cell too narrow for a thread keeps the tid.
waits --p99 >waits
has waits "9 of 9 worst waits of other07________: "
! grep -q "is unclear: see" waits || { cat waits; exit 1; }
has waits "~/2897  futex"
waits --idle --top 2 --force | tr '\n' ' ' >waits
has waits "(no two have the same root): "

# A high percentile of few episodes is the longest of them, and that is said.
waits --p999 --force | tr -s ' \n' ' ' >few
has few "(the longest: p99.9 takes 1,000 episodes, and there are 862;"
waits --pct 99.8 --force >enough
! grep -q "the longest:" enough || { cat enough; exit 1; }
# A process that vforks waits for its child.
waits --idle --cause child --top 2000 --details 2000 | tr -s ' \n' ' ' >children
has children "waited in __vfork"
has children "called exec or exited only after"

# What cannot be answered, and what is not asked well.
fails 3 "$PERFKIT" tail "$SRC/testdata/demo/perf.data"
has err "record with: perfkit record tail"
awk 'length > 80 { exit 1 }' err
fails 2 "$PERFKIT" tail "$file" --by lunch
fails 2 "$PERFKIT" tail "$file" --pct 99.9999
fails 2 "$PERFKIT" tail "$file" --pct 0
fails 2 "$PERFKIT" tail "$file" --over 5
fails 2 "$PERFKIT" tail "$file" --p99 --top 3
fails 2 "$PERFKIT" tail "$file" --cause xyzzy
has err "no cause 'xyzzy'; there are unknown, lock, rwlock,"
fails 2 "$PERFKIT" collapse --offcpu "$file" --cause lok
has err "no cause 'lok'; did you mean 'lock'?"
fails 2 "$PERFKIT" tail "$file" --state lunch
fails 2 "$PERFKIT" tail "$file" --group lunch
fails 3 "$PERFKIT" tail "$file" --by span:none
has err "no span"
fails 2 "$PERFKIT" tail "$file" --json --csv
fails 0 "$PERFKIT" tail -q "$file" --comm nobody
has out "no episodes: the recording has no such thread"
# process 1 is known by its name alone; front-0 waits, though not for the network
fails 0 "$PERFKIT" tail -q --no-local "$SRC/testdata/waits/perf.data" --pid 1
has out "no episodes: no switch was recorded of 1 such thread,"
fails 0 "$PERFKIT" tail -q "$file" --comm front-0 --cause net
! grep -q 'such thread' out || { cat out; exit 1; }
fails 0 "$PERFKIT" tail -q "$file" --comm nobody --json
python3 "$SRC/tests/cli/tail_schema.py" out

# each verb speaks for itself
fails 2 "$PERFKIT" timeline "$file" --tail --over 2ms --top 20 -o x.svg
has err 'perfkit timeline: give only one of --p50'
has err 'see: perfkit help timeline'

# several spans: percentiles of each, with what they leave out; one has to be chosen for the rest
gzip -dc "$SRC/testdata/kinds/perf.data.gz" >kinds.data
fails 0 "$PERFKIT" tail -q --no-local kinds.data --by span
has out 'choose one with --by span:NAME'
# a kind of spans has several names
fails 0 "$PERFKIT" tail -q --no-local kinds.data --span syscalls
has out 'choose one with --by span:NAME'
for as in --json --csv '--svg x.svg' '--flame x.svg'; do
	fails 2 "$PERFKIT" tail -q --no-local kinds.data --by span $as
	has err 'choose one with --by span:NAME'
	[ ! -s out ] && [ ! -e x.svg ] || { echo "$as of several spans: something came"; exit 1; }
done

# an idle wait whose wakeup is not known is hidden everywhere, as a whole
"$PERFKIT" import -q --no-local "$file" -o idle.db
sqlite3 idle.db "INSERT INTO offcpu_kinds SELECT id + 1000000, prev_state, cause, NULL, 'missing wakeup',
	open, suspect, running, no_stack, rest, syscall, arg0, arg0_kind, arg0_variable FROM offcpu_kinds;
	UPDATE offcpu_rows SET blocked_ns = 0, waker_thread_id = NULL, kind_id = kind_id + 1000000
	WHERE kind_id IN (SELECT id FROM offcpu_kinds WHERE unknown_reason IS NULL)
	AND site_id IN (SELECT id FROM sites WHERE verdict = 'unclear');
	UPDATE sites SET verdict = 'idle', reason = '--idle-frame' WHERE verdict = 'unclear'"
"$PERFKIT" tail -q --all --force --json idle.db >idle.json || [ $? = 3 ]
python3 - idle.json "$(sqlite3 idle.db 'SELECT sum(wait_ns) FROM v_offcpu WHERE idle')" \
	"$(sqlite3 idle.db 'SELECT sum(off_ns) FROM v_offcpu WHERE idle AND NOT system')" <<'PY'
import json, sys
hidden = json.load(open(sys.argv[1]))["population"]["idle_hidden_ns"]
assert sys.argv[2] == "0", sys.argv
# but for the waits of a whole life
assert 5e9 < hidden <= int(sys.argv[3]) < hidden * 1.01, (hidden, sys.argv)
PY
"$PERFKIT" collapse --offcpu idle.db 2>err >idle.folded
grep -q 'hidden: 1,[0-9]* waits at rest at [0-9]* sites, [5-9].[0-9] s' err
shown=$(sqlite3 idle.db 'SELECT sum(wait_ns) / 1000 FROM v_offcpu WHERE NOT system') # lines are rounded
awk -v want="$shown" '{ n += $NF } END { exit n < want - 99 || n > want + 99 }' idle.folded

# --no-unclear takes unclear waits out of the list, of both percentiles, and says how many
orders=$SRC/testdata/orders/orders.tar.zst
"$PERFKIT" tail -q --no-local --comm front-0 --p99 --details 0 "$orders" >out
grep -q 'work or unclear' out
grep -q 'decide with' out
# an unclear wait without run-queue delay is in the second row alone
"$PERFKIT" tail -q --all --no-local --top 1 "$SRC/testdata/orders-one-cpu/orders.tar.zst" >out
awk '/^work  / { one = $2 } /^work or / { both = $4 } END { exit both == "" || one == both }' out
grep -q '^(the row work counts an unclear wait from its wakeup on)$' out
"$PERFKIT" tail -q --no-local --comm front-0 --p99 --details 0 --no-unclear "$orders" >out
grep -q '^left out: [0-9]* waits that are unclear, ' out
if grep -q 'work or unclear\|decide with\|is unclear' out; then
	cat out
	exit 1
fi
# which lock: the variable at the futex's address, from the registers, and who let it go
"$PERFKIT" tail -q --no-local --comm front-0 --cause lock --p99 --details 1 "$orders" >out
grep -q '^    lock  *orders: book (futex 0x[0-9a-f]*), let go in take_snapshot()$' out || { cat out; exit 1; }
# how many are not explained; nothing where all are, or none was to be
"$PERFKIT" tail -q --no-local --comm front-0 --top 5 "$orders" >out
[ "$(tail -n 3 out | head -n 1)" = "... 4 more (explain all with --details 5)" ] || { tail -n 3 out; exit 1; }
for n in 0 5 6; do
	"$PERFKIT" tail -q --no-local --comm front-0 --top 5 --details $n "$orders" >out
	! grep 'more (explain' out || exit 1
done
# sites of several programs say which: each has a main()
thief=$SRC/testdata/incidents/thief.tar.zst
"$PERFKIT" tail -q --all --no-local --details 0 "$thief" | tr -s ' ' >out
grep -q '^unclear: at rest, or work? program count ' out && grep -q '^main: sleep in main() front 100 ' out &&
	grep -q '^main: sleep in robbed() thief ' out || { cat out; exit 1; }
"$PERFKIT" tail -q --no-local --details 0 --comm front "$thief" | tr -s ' ' >out
grep -q '^unclear: at rest, or work? count ' out || { cat out; exit 1; }
