#!/bin/sh
# export --no-names and perfkit symbols: names by a join are, stack by stack, those of an export with
# names, inlined ones included; what cannot be had so is refused or named on the spot.
. "$SRC/tests/lib/readers.sh"
bad=0
wrong() { echo "$*"; bad=1; }
data=$SRC/testdata
refuses()  # STATUS WORDS COMMAND...
{
	status=$1 words=$2
	shift 2
	"$PERFKIT" "$@" >out 2>err </dev/null
	rc=$?
	[ $rc = "$status" ] && grep -qF -- "$words" err || wrong "$*: status $rc, $(cat err)"
}

# --- what needs no reader ------------------------------------------------------------------------------
calls=$data/lbr/symfs/srv/perfkit/calls
"$PERFKIT" symbols --no-local --to parquet -o one "$calls" 2>err || wrong "symbols: $(cat err)"
grep -q "calls: 20 ranges, build-id 050331d5a8304a1ef081ce5fe64a75acc2315976" err || wrong "symbols says $(cat err)"
[ -s one/symbols/050331d5a8304a1ef081ce5fe64a75acc2315976.parquet ] || wrong "no table: $(find one)"
refuses 2 'name the format' symbols -o x "$calls"
refuses 2 'with -o DIR' symbols --to parquet "$calls"
refuses 2 'name programs' symbols --to parquet -o x
refuses 1 'not an ELF' symbols --to parquet -o x "$SRC/README.md"
refuses 1 'x/none' symbols --to parquet -o x x/none
refuses 2 '--no-names goes with --to parquet' export --to pprof --no-names -o x "$data/waits/perf.data"
"$PERFKIT" import -q --no-local -o run.db "$data/waits/perf.data" || wrong import
refuses 2 'its names are fixed' export --to parquet --no-names -o x run.db
for f in dwarf inlined; do
	refuses 3 'stack dumps cannot be unwound without the binaries' export --to parquet --no-local --no-names -o x "$data/$f/perf.data"
done
[ ! -e x ] || wrong "something is left: $(find x)"
# segments of code that overlap have no ranges but those of the first
if command -v python3 >/dev/null; then
	python3 - "$calls" overlaps <<'END'
import struct, sys
d = bytearray(open(sys.argv[1], "rb").read())
at, size, n = struct.unpack_from("<Q", d, 32)[0], *struct.unpack_from("<HH", d, 54)
heads = [bytes(d[at + i * size:at + (i + 1) * size]) for i in range(n)]
code = next(h for h in heads if struct.unpack_from("<II", h) == (1, 5))
again = [code[:8] + struct.pack("<Q", (k + 1) << 24) + code[16:] for k in range(1000)]
struct.pack_into("<Q", d, 32, len(d))
struct.pack_into("<H", d, 56, n + len(again))
open(sys.argv[2], "wb").write(bytes(d) + b"".join(heads + again))
END
	"$PERFKIT" symbols -q --no-local --to parquet -o over overlaps 2>err || wrong "overlapping segments: $(cat err)"
	cmp one/symbols/*.parquet over/symbols/*.parquet || wrong "overlapping segments have ranges of their own"
fi
# a debug file of binutils does not say where its program's code lies; beside the program it is used
if command -v objcopy >/dev/null; then
	objcopy --only-keep-debug "$calls" calls.debug
	objcopy --strip-all "$calls" calls
	refuses 1 'name the program, too' symbols --no-local --to parquet -o x calls.debug
	"$PERFKIT" symbols -q --no-local --to parquet -o two calls.debug calls 2>err || wrong "symbols of two: $(cat err)"
	cmp one/symbols/*.parquet two/symbols/*.parquet || wrong "a program and its debug file have other names than both in one"
	objcopy --remove-section .note.gnu.build-id "$calls" without
	refuses 1 'has no build-id' symbols --no-local --to parquet -o x without
else
	echo "left out: no objcopy here"
fi

# --- names by the join -----------------------------------------------------------------------------------
has duckdb || { [ $bad = 0 ] || exit 1; echo "left out: no duckdb here (make readers)"; exit 0; }
binaries() { find -L "$1" -type f | while read -r f; do "$PERFKIT" symbols -q --no-local --to parquet -o try "$f" 2>/dev/null && echo "$f"; done; }
joins()  # RECORDING FOLDER LEAST OPTIONS...: its binaries are in FOLDER, at least LEAST frames get a name by the join
{
	recording=$1 folder=$2 least=$3
	shift 3
	rm -rf named offsets
	"$PERFKIT" export -q --to parquet --no-local --symfs "$folder" --buildid-dir "$folder/debug" -o named "$recording" 2>err ||
		wrong "export $recording: $(cat err)"
	"$PERFKIT" export -q --to parquet --no-local --no-names "$@" -o offsets "$recording" 2>err ||
		wrong "export --no-names $recording: $(cat err)"
	"$PERFKIT" symbols -q --no-local --symfs "$folder" --buildid-dir "$folder/debug" --to parquet -o offsets \
		$(binaries "$folder") 2>err || wrong "symbols of $recording: $(cat err)"
	"$reader" "$SRC/tests/namescheck.py" named offsets >check 2>err || wrong "$recording: $(cat check; tail -1 err)"
	n=$(sed -n 's/.* stacks, \([0-9]*\) frames.*/\1/p' check)
	[ "${n:-0}" -ge "$least" ] || wrong "$recording: $(cat check)"
	grep -q ' [1-9][0-9]* with inlined' check && inlined=1
}
inlined=0
# without any binary
joins "$data/cxx-names/perf.data" "$data/cxx-names/symfs" 15
joins "$data/fp-threads/perf.data" "$data/demo/symfs" 100
# with those of which no build-id was recorded, and where stacks are unwound
for f in demo:100 dwarf-static:10 inlined:10; do
	joins "$data/${f%:*}/perf.data" "$data/${f%:*}/symfs" ${f#*:} --symfs "$data/${f%:*}/symfs" --force
done
for f in orders/orders labels/labelled; do
	rm -rf bundle
	"$PERFKIT" unpack -q -C bundle "$data/$f.tar.zst" || wrong unpack
	joins bundle/perf.data bundle 5 --buildid-dir bundle/debug
done
[ $inlined = 1 ] || wrong "none of them has inlined frames"
exit $bad
