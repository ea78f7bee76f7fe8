#!/bin/sh
# One recording exported five ways holds the same samples and CPU time in each, as readers that are not
# perfkit's count them: the table at the head of docs/exports.md is this test's.
. "$SRC/tests/lib/readers.sh"
bad=0
wrong() { echo "$*"; bad=1; }
event="-e cpu-clock/freq=997/"
run=$SRC/testdata/orders/orders.tar.zst
for f in pprof speedscope firefox perfetto parquet; do
	set -- --to $f -q --all --no-local -o run.$f
	[ $f != firefox ] || set -- "$@" --idle --system
	"$PERFKIT" export "$@" "$run" 2>err || wrong "$f: $(cat err)"
done
"$PERFKIT" collapse -q --no-local $event --weight period "$run" >folded 2>err || wrong "collapse: $(cat err)"
"$PERFKIT" collapse -q --no-local $event --weight samples "$run" >counted 2>err || wrong "collapse: $(cat err)"
sum() { awk '{ s += $NF } END { printf "%.0f", s }' "$1"; }
want="$(sum counted) $(sum folded)"
"$reader" - "$SRC/tests" >totals <<'E2' || wrong "not all can be read"
import gzip, json, os, sys
from decimal import Decimal
sys.path.insert(0, sys.argv[1])
from exportcheck import Perfetto, Pprof
p = Pprof("run.pprof")
column = lambda name: [t[0] for t in p.types].index(name)
print("pprof", sum(v[column("cpu-clock/freq=997/:samples")] for _, v, _ in p.samples), sum(v[column("cpu")] for _, v, _ in p.samples))
d = json.load(open("run.speedscope"))
print("speedscope", "-", sum(int(w) for x in d["profiles"] if x["unit"] == "nanoseconds" for w in x["weights"]))
d = json.load(gzip.open("run.firefox"), parse_float=Decimal)
weights = [w for t in d["threads"] for w in t["samples"]["weight"]]
print("firefox", sum(w != 0 for w in weights), int(sum(weights) * 1000000))
p = Perfetto("run.perfetto")
clock = "cpu-clock/freq=997/"
print("perfetto", sum(n for k, n in p.samples.items() if k[0] == clock), p.total(clock))
try:
    import duckdb
    print("parquet", *duckdb.connect().execute("SELECT count(*), sum(period) FROM 'run.parquet/samples/*/*/*.parquet'").fetchone())
except ImportError:
    print("parquet", "-", "-")
E2
go=$(command -v go || ls /usr/local/go/bin/go 2>/dev/null)
GOFLAGS=-mod=mod HOME=$PWD PPROF_TMPDIR=$PWD && export GOFLAGS HOME PPROF_TMPDIR
if [ -n "$go" ] && "$go" tool pprof -help >/dev/null 2>&1; then
	"$go" tool pprof -top -nodefraction=0 -sample_index=cpu -unit=ns run.pprof 2>err |
		sed -n 's/.*accounting for .* of \([0-9]*\)[a-z]* total$/pprof - \1/p' >>totals
else
	echo "left out: no go tool pprof here"
fi
if command -v protoc >/dev/null; then
	# the sequence of the event, its samples, and the last count of each CPU
	python3 "$SRC/tests/exportcheck.py" perfetto-plain run.perfetto plain
	protoc -I "$SRC/tests" --decode=perfetto.protos.Trace perfetto.proto <plain | awk '
		$1 == "trusted_packet_sequence_id:" { seq = $2 }
		$1 == "name:" && $2 == "\"cpu-clock/freq=997/\"" { clock = seq }
		$1 == "perf_sample" { n += clock && seq == clock; cpu = -1 }
		$1 == "cpu:" { cpu = $2 }
		$1 == "timebase_count:" && clock && seq == clock { count[cpu] = $2 }
		END { for (c in count) ns += count[c]; printf "perfetto %d %.0f\n", n, ns }' >>totals
else
	echo "left out: no protoc here"
fi
for f in pprof speedscope; do
	if command -v node >/dev/null && [ -d "$O/readers/node_modules" ]; then
		node "$SRC/tests/npm_readers.cjs" "$O/readers" $f run.$f >read 2>err && sed "s/^/$f /" read >>totals ||
			wrong "$f as npm's reader has it: $(cat err)"
	else
		echo "left out: no node or npm packages here (make readers)"
	fi
done
! grep -q '^parquet - -' totals || echo "left out: no duckdb here (make readers)"
while read -r f samples ns; do
	[ "$samples" = - ] || [ "$samples" = "${want% *}" ] || wrong "$f: $samples samples, collapse has ${want% *}"
	[ "$ns" = - ] || [ "$ns" = "${want#* }" ] || wrong "$f: $ns ns, collapse has ${want#* }"
done <totals
# what the page says
while read -r f samples ns; do
	[ "$f $samples $ns" = "parquet - -" ] || { [ "$f" = pprof ] && [ "$samples" = - ]; } ||
		grep -qF "| $f | $samples | $ns |" "$SRC/docs/exports.md" || wrong "docs/exports.md should say: | $f | $samples | $ns |"
done <totals
[ "$(wc -l <totals)" -ge 5 ] || wrong "a format is missing: $(cat totals)"
exit $bad
