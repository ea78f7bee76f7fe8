#!/bin/sh
# export: what other tools open holds what perfkit itself says, read back by a decoder of the test's
# own and by the tools where they are here; each bad question is refused.
command -v python3 >/dev/null 2>&1 || { echo "no python3 here"; exit 77; }
bad=0
wrong() { echo "$*"; bad=1; }
check() { python3 "$SRC/tests/exportcheck.py" "$@" || wrong "$*"; }
export_() { "$PERFKIT" export -q --all --no-local "$@" 2>err || wrong "export $*: $(cat err)"; }
collapse() { "$PERFKIT" collapse -q --no-local "$@" 2>err || wrong "collapse $*: $(cat err)"; }
refuses()  # STATUS WORDS OPTIONS...
{
	status=$1 words=$2
	shift 2
	"$PERFKIT" export "$@" >out 2>err </dev/null
	rc=$?
	[ $rc = "$status" ] && [ ! -s out ] && grep -qF -- "$words" err || wrong "export $*: status $rc, $(cat err)"
}
at() { echo "--symfs $SRC/testdata/$1/symfs $SRC/testdata/$1/perf.data"; }
waits=$SRC/testdata/waits/perf.data
symbols="--kallsyms $SRC/testdata/waits/kallsyms"

# --- pprof ----------------------------------------------------------------------------------------
# The go tool where it is here: the same total, names and labels, nothing said on stderr.
go=$(command -v go || ls /usr/local/go/bin/go 2>/dev/null)
[ -n "$go" ] && "$go" tool pprof -help >/dev/null 2>&1 || go=
[ -n "$go" ] || echo "no go tool pprof here"
GOFLAGS=-mod=mod HOME=$PWD PPROF_TMPDIR=$PWD && export GOFLAGS HOME PPROF_TMPDIR
go_reads()  # PROFILE FOLDED TYPE
{
	[ -n "$go" ] || return 0
	total=$(awk '{ s += $NF } END { printf "%.0f", s }' "$2")
	"$go" tool pprof -top -nodefraction=0 -sample_index="$3" -unit=ns "$1" >top 2>go.err || wrong "$1: $(cat go.err)"
	got=$(sed -n 's/.*accounting for .* of \([0-9]*\)[a-z]* total$/\1/p' top)
	[ "$got" = "$total" ] || wrong "$1 $3: go tool pprof reads $got, collapse says $total"
	"$go" tool pprof -peek . "$1" >peek 2>>go.err && "$go" tool pprof -tags "$1" >tags 2>>go.err || wrong "$1: -peek, -tags"
	grep -q '^ *comm: Total' tags && grep -q '^ *tid: Total' tags || wrong "$1: tags lack comm or tid: $(cat tags)"
	[ ! -s go.err ] || wrong "go tool pprof says: $(cat go.err)"
}
one_event='demo fp-threads inlined no-callchain system-wide dwarf cxx-names lbr'
for f in $one_event; do
	export_ --to pprof $(at $f) -o $f.pb.gz
	collapse $(at $f) >want.folded
	check pprof $f.pb.gz want.folded
	[ $f != demo ] || go_reads $f.pb.gz want.folded cpu
done
# every event is a type of its own; --event chooses
export_ --to pprof $(at events) -o events.pb.gz
for e in cpu-clock page-faults context-switches; do
	type=$(echo $e | sed 's/cpu-clock/cpu/')
	collapse --event $e $(at events) >want.folded
	check pprof events.pb.gz want.folded $type
	[ $e = cpu-clock ] || go_reads events.pb.gz want.folded $type
	collapse --event $e --weight samples $(at events) >want.folded
	check pprof events.pb.gz want.folded $e:samples
	export_ --to pprof --event $e $(at events) -o one.pb.gz
	check pprof one.pb.gz want.folded samples
done
# tracepoints weigh 1; waits, with the waker, in the worst episodes, under filters
for q in '--event sched:sched_switch' '--unit ns --offcpu' '--unit ns --offcpu --comm locker_a' \
	'--unit ns --tail --p90'; do
	collapse $q $symbols "$waits" | sed 's/;\[runnable\]//' >want.folded # without the level of states
	export_ --to pprof ${q#--unit ns} $symbols "$waits" -o waits.pb.gz
	check pprof waits.pb.gz want.folded
	case $q in *--comm*) ;; *) go_reads waits.pb.gz want.folded "$(echo "$q" | sed 's/--unit ns --//; s/--event //; s/ .*//')" ;; esac
done
collapse --unit ns --offwake $symbols "$waits" | sed 's/_\[w\]//g' >want.folded
export_ --to pprof --offwake $symbols "$waits" -o waits.pb.gz
check pprof waits.pb.gz want.folded
# running and waiting: the waiting part is that of --offcpu
export_ --to pprof --wall $symbols "$waits" -o wall.pb.gz
python3 - "$SRC/tests" <<'E2' || wrong "--wall: the waiting is not that of --offcpu"
import sys
sys.path.insert(0, sys.argv[1])
from exportcheck import Pprof
total = lambda p, t: sum(v[[x[0] for x in p.types].index(t)] for _, v, _ in p.samples)
wall, waits = Pprof("wall.pb.gz"), Pprof("waits.pb.gz")
assert wall.default == "wall" and total(wall, "wall") > total(wall, "offcpu")
assert total(wall, "offcpu") == total(waits, "offcpu")
causes = {labels["cause"] for _, _, labels in waits.samples}
assert {"futex", "sleep", "pipe"} <= causes, causes
E2
# labels of spans: each value's samples and waits are those of collapse --label, what no label has stays, and
# keys do not mix; a store gives the same
requests="--with $SRC/testdata/requests/requests.csv $SRC/testdata/requests/serve.tar.zst"
"$PERFKIT" import -q --no-local --with "$SRC/testdata/requests/requests.csv" -o serve.db "$SRC/testdata/requests/serve.tar.zst" || wrong "import serve"
for q in '--offcpu' '--offwake' ''; do
	export_ --to pprof $q --by-label route,key --by-label span $requests -o labels.pb.gz
	"$PERFKIT" export -q --all --to pprof $q --by-label route,key,span serve.db | cmp -s - labels.pb.gz || wrong "labels $q: the store's are others"
	export_ --to pprof $q ${requests##* } -o plain.pb.gz
	for l in route=/pay route=/list key=0-30 span=request; do
		case $q in '') u='--event sched:sched_switch' ;; *) u='--unit ns' ;; esac
		collapse $u $q --label $l $requests | sed 's/_\[w\]//g; s/;\[runnable\]//' >"$(echo $l | tr -d /).folded"
	done
	python3 - "$SRC/tests" "${q#--}" <<'E2' || wrong "labels $q"
import collections, sys
sys.path.insert(0, sys.argv[1])
from exportcheck import Pprof, folded, tell
p, plain = Pprof("labels.pb.gz"), Pprof("plain.pb.gz")
at = [t[0] for t in p.types].index("sched:sched_switch" if not sys.argv[2] else "offcpu")
def stacks(p, key=None, value=None):
    out = collections.Counter()
    for frames, values, labels in p.samples:
        if key is None or labels.get(key) == value:
            out[";".join([labels["comm"].replace(" ", "_")] + [f.replace(";", ":") for f in frames])] += values[at]
    return +out
bad = tell("all", stacks(p), stacks(plain))
for key, value in (("route", "/pay"), ("route", "/list"), ("key", "0-30"), ("span", "request")):
    want = folded("%s=%s.folded" % (key, value.strip("/")))
    bad |= tell("%s=%s" % (key, value), stacks(p, key, value), want)
    assert want or value == "/list", (key, value)
assert {"route", "key", "span"} <= {k for _, _, labels in p.samples for k in labels}
assert not any("route" in labels and "span" not in labels for _, _, labels in p.samples)
sys.exit(bad)
E2
done
if [ -n "$go" ]; then
	"$go" tool pprof -tags labels.pb.gz >tags 2>go.err && grep -q '^ *route: Total' tags || wrong "-tags: $(cat go.err)"
fi
refuses 3 'nothing in' --to pprof -q --no-local --by-label nothing $requests
refuses 2 'go with --to pprof' --to speedscope --by-label route $requests
refuses 2 'does not go with --label' --to pprof --by-cgroup --by-label route $requests
# inlined functions are lines of one location; files are told by their build-ids
export_ --to pprof --srcline $(at inlined) -o lines.pb.gz
python3 - "$SRC/tests" <<'E2' || wrong "locations, mappings"
import sys
sys.path.insert(0, sys.argv[1])
from exportcheck import Pprof, message
p = Pprof("inlined.pb.gz")
assert max(len(names) for names in p.locations.values()) >= 2
inlined = [names for names in p.locations.values() if len(names) > 1]
stacks = [frames for frames, _, _ in p.samples]
assert all(any(";".join(names[::-1]) in ";".join(s) for s in stacks) for names in inlined)
ids = {p.text[m[5][0]]: p.text[m[6][0]] for m in Pprof("demo.pb.gz").mappings.values() if m[6]}
p = Pprof("demo.pb.gz")
assert {p.text[m[5][0]]: p.text[m[6][0]] for m in p.mappings.values()} == {
    "/srv/perfkit/shop": "9a33b27d5a846de5aa3422556806c6979a668ff6",
    "/usr/lib/x86_64-linux-gnu/libc.so.6": "93ac61ec5a8eb1396f9fbd350e3169a558528a40"}
p = Pprof("lines.pb.gz")
files = [p.text[f[4][0]] for f in p.functions.values() if f[4]]
assert files and all(files), files
E2

# --- speedscope -----------------------------------------------------------------------------------
for f in demo dwarf inlined no-callchain; do
	export_ --to speedscope $(at $f) -o $f.json
	collapse $(at $f) >want.folded
	case $f in
	inlined) ;; # collapse cuts arguments
	*) check speedscope $f.json want.folded ;;
	esac
done
export_ --to speedscope $(at events) -o events.json
collapse --event page-faults $(at events) >want.folded
check speedscope events.json want.folded page-faults
collapse --unit ns --offcpu $symbols "$waits" | sed 's/;\[runnable\]//' >want.folded
export_ --to speedscope --offcpu $symbols "$waits" -o waits.json
check speedscope waits.json want.folded
# in time: stack by stack the sums of --wall, whose pieces they are; spans as long as the store's
export_ --to speedscope --by-time $symbols "$waits" -o time.json
gunzip -c "$SRC/testdata/kinds/perf.data.gz" >kinds.data
export_ --to speedscope --by-time kinds.data -o spans.json
"$PERFKIT" import -q --no-local kinds.data -o kinds.db || wrong "import of spans"
"$PERFKIT" export -q --all --to speedscope --by-time kinds.db | cmp -s - spans.json || wrong "the store's is another"
python3 - "$SRC/tests" <<'E2' || wrong "--by-time"
import collections, sqlite3, sys
sys.path.insert(0, sys.argv[1])
from exportcheck import Pprof, speedscope_file, stacks_in_time
wall = collections.Counter()
for frames, values, labels in Pprof("wall.pb.gz").samples:
    wall[";".join(frames)] += values[0]
got = collections.Counter()
d = speedscope_file("time.json")
names = [f["name"] for f in d["shared"]["frames"]]
for p in d["profiles"]:
    for stack, ns in stacks_in_time(p):
        got[";".join(names[f] for f in stack)] += ns
assert got == wall, (got - wall, wall - got)
shown = d["profiles"][d["activeProfileIndex"]]["name"]
assert shown.startswith("burner "), shown  # the only one that does not wait
want = collections.Counter()
for name, thread, ns in sqlite3.connect("kinds.db").execute(
        "SELECT name, tid, end_ns - start_ns FROM spans s JOIN threads t ON t.id = thread_id "
        "WHERE thread_id = end_thread_id"):
    want[name, thread] += ns
got = collections.Counter()
d = speedscope_file("spans.json")
names = [f["name"] for f in d["shared"]["frames"]]
kinds = {name for name, _ in want}
for p in d["profiles"]:
    tid = int(p["name"].rpartition("/")[2])
    for stack, ns in stacks_in_time(p):
        for f in stack:
            if names[f] in kinds:
                got[names[f], tid] += ns
assert len(want) > 1 and got == want, (got, want)
E2

# --- perfetto -------------------------------------------------------------------------------------
# Every run, wakeup, sample, span and loss is the store's; protoc knows every field.
for f in waits/perf.data kinds/perf.data.gz switch-events/perf.data orders/orders.tar.zst requests/serve.tar.zst; do
	rm -f run.pftrace run.db
	set -- "$SRC/testdata/$f"
	[ $f != requests/serve.tar.zst ] || set -- "$@" --with "$SRC/testdata/requests/requests.csv"
	export_ --to perfetto "$@" -o run.pftrace
	"$PERFKIT" import -q --no-local "$@" -o run.db || wrong "import $f"
	# where most of the longest were not seen whole, tail refuses, and the trace has none
	"$PERFKIT" tail -q --all --json --by wait run.db >tail.json 2>err || echo '{"episodes": []}' >tail.json
	python3 "$SRC/tests/exportcheck.py" perfetto run.pftrace run.db tail.json >counts || wrong "perfetto $f: $(cat counts)"
	[ $f != waits/perf.data ] || ! head -1 counts | grep -q ' 0 w\| 0 sa\| 0 sw\|^0 ' || wrong "$f: $(cat counts)"
	[ $f != requests/serve.tar.zst ] || grep -q ' 134 labelled' counts || wrong "$f: $(cat counts)"
	[ $f != orders/orders.tar.zst ] || grep -q '[1-9][0-9]* worst episodes, [1-9]' counts || wrong "$f: $(cat counts)"
	"$PERFKIT" export -q --all --to perfetto run.db | cmp -s - run.pftrace || wrong "perfetto $f: the store's is another"
	if command -v protoc >/dev/null; then
		python3 "$SRC/tests/exportcheck.py" perfetto-plain run.pftrace plain
		protoc -I "$SRC/tests" --decode=perfetto.protos.Trace perfetto.proto <plain >decoded || wrong "protoc $f"
		! grep -m 1 -E '^ *[0-9]+(:| \{)' decoded || wrong "protoc $f: a field that the format does not have"
	fi
done
command -v protoc >/dev/null || echo "no protoc here"
# without scheduler events there are samples alone, as many as collapse counts
export_ --to perfetto $(at demo) -o run.pftrace
"$PERFKIT" collapse -q --no-local --weight samples $(at demo) >want.folded || wrong "collapse"
python3 - "$SRC/tests" want.folded <<'E2' || wrong "perfetto: samples alone"
import sys
sys.path.insert(0, sys.argv[1])
from exportcheck import Perfetto
p = Perfetto("run.pftrace")
want = sum(int(line.rsplit(" ", 1)[1]) for line in open(sys.argv[2]))
assert sum(p.samples.values()) == want > 1000, (sum(p.samples.values()), want)
E2

# --- firefox --------------------------------------------------------------------------------------
# Every sample, wait, span and loss is the store's, and a thread's CPU time is its running time.
for f in waits/perf.data kinds/perf.data.gz switch-events/perf.data requests/otel.tar.zst; do
	rm -f run.json.gz run.db
	export_ --to firefox --idle --system "$SRC/testdata/$f" -o run.json.gz
	"$PERFKIT" import -q --no-local "$SRC/testdata/$f" -o run.db || wrong "import $f"
	case $f in switch*) e=cpu-clock ;; *) e=cpu-clock/freq=997/ ;; esac
	python3 "$SRC/tests/exportcheck.py" firefox run.json.gz run.db $e >counts || wrong "firefox $f: $(cat counts)"
	case $f in
	waits*) grep -q '^1032 samples, 1090 waits, .* 63 losses' counts ;;
	kinds*) grep -q ' 122 spans' counts ;;
	switch*) grep -q '^405 samples, 6289 waits' counts ;;
	esac || wrong "$f: $(cat counts)"
	"$PERFKIT" export -q --all --to firefox --idle --system run.db | cmp -s - run.json.gz || wrong "firefox $f: the store's is another"
done
# without switches there are samples alone, as many ns as collapse has; filters choose
export_ --to firefox $(at demo) --comm search -o run.json.gz
collapse $(at demo) --comm search >want.folded
python3 - want.folded <<'E2' || wrong "firefox: the samples of a clock"
import decimal, gzip, json, sys
d = json.load(gzip.open("run.json.gz"), parse_float=decimal.Decimal)
t, = d["threads"]
assert t["name"] == "search" and "threadCPUDelta" not in t["samples"]
assert t["samples"]["weightType"] == "tracing-ms" and not t["markers"]["length"]
want = sum(int(line.rsplit(" ", 1)[1]) for line in open(sys.argv[1]))
assert sum(t["samples"]["weight"]) * 1000000 == want, (sum(t["samples"]["weight"]), want)
names = {d["shared"]["stringArray"][i] for i in d["shared"]["resourceTable"]["name"]}
assert "shop" in names and [x["codeId"] for x in d["libs"] if x["name"] == "shop"] == [
    "9a33b27d5a846de5aa3422556806c6979a668ff6"]
lib = next(x for x in d["libs"] if x["name"] == "shop")
assert lib["breakpadId"] == "7DB2339A845AE56DAA3422556806C6970", lib
E2
# idle waits are hidden, and that is said
"$PERFKIT" export --all --no-local --to firefox "$waits" -o run.json.gz 2>err && grep -q 'hidden: .*kernel threads' err ||
	wrong "firefox: nothing is said of what is hidden: $(cat err)"

# --- what is refused, and what stays as it was ------------------------------------------------------
refuses 2 'name the format with --to' "$waits"
refuses 2 'exclude each other' --to pprof --offcpu --wall "$waits"
refuses 2 "nonsense" --to nonsense "$waits"
refuses 2 '--by-time goes with --to speedscope, firefox and perfetto' --to pprof --by-time "$waits"
refuses 2 '--comm does not go with --to perfetto' --to perfetto --comm x "$waits"
refuses 2 'do not go with them' --to perfetto --wall "$waits"
refuses 2 '--idle goes with' --to pprof --idle "$waits"
refuses 2 'shows one event, not 2' --to firefox -e cpu-clock,page-faults $(at events)
refuses 3 'no samples, waits or spans' --to firefox -q --no-local --comm nobody "$waits"
refuses 2 'cpu-cock' --to pprof --event cpu-cock "$waits"
refuses 3 'no waits to export' --to pprof -q --no-local --offcpu --comm nobody "$waits"
refuses 3 'no samples to export' --to pprof -q --no-local --comm nobody "$waits"
"$PERFKIT" import -q --no-local "$waits" -o run.db || wrong import
refuses 2 '--cgroup' --to pprof --cgroup 'web*' run.db
refuses 2 '--by-cgroup is for recordings' --to pprof --by-cgroup run.db
refuses 2 'srcline' --to pprof --srcline run.db
refuses 3 'not replaced' --to pprof -q --no-local -o run.db "$waits"
gzip -c "$waits" >kept.gz
refuses 3 'not replaced' --to pprof -q --no-local -o kept.gz "$waits"
# --- what a tool has to load is at most a tenth of what was recorded -------------------------------
# (of samples alone a seventh: a trace of Perfetto has each by itself; of a program that only spins an eighth)
small()  # TENTHS FILE...
{
	parts=$1
	shift
	for f; do
		case $f in *.zst) mkdir -p un && tar --zstd -xf "$f" -C un && size=$(find un -name perf.data -exec cat {} + | wc -c); rm -rf un ;; *) size=$(wc -c <"$f") ;; esac
		for to in speedscope firefox perfetto; do
			"$PERFKIT" export -q --no-local --force --to $to "$f" -o sized 2>err || wrong "export $to $f: $(cat err)"
			[ $(($(wc -c <sized) * parts)) -le "$size" ] || wrong "$to of $f: $(wc -c <sized) bytes of $size"
		done
	done
}
small 10 "$waits" "$SRC/testdata/orders/orders.tar.zst" "$SRC/testdata/requests/serve.tar.zst" "$SRC/testdata/incidents/disk.tar.zst"
small 7 "$SRC/testdata/demo/perf.data"
small 8 "$SRC/testdata/jitter/spin.tar.zst"
# an export may be made again, and is the same
cp demo.pb.gz was.pb.gz
export_ --to pprof $(at demo) -o demo.pb.gz
cmp -s was.pb.gz demo.pb.gz || wrong "another export of the same recording"
exit $bad
