#!/bin/sh
# Each verb runs out of memory at the 1st, 8th, 15th, … allocation, later at every 30th part more
# ($NOMEM_STEP=1, `make check-nomem`: at every one): it ends with status 1 and says so, and leaves no output file; where
# it ends with 0, its answer is the whole one. Never a crash.
set -u
step=${NOMEM_STEP:-7}
nm -D "$PERFKIT" | grep -q '__[a-z]*san_init' && { echo "a sanitizer has its own allocator"; exit 77; }
${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o nomem.so "$SRC/tests/tools/nomem.c" 2>cc.err ||
	{ echo "no preloaded allocator: $(head -1 cc.err)"; exit 77; }
bad=0 runs=0
waits=$SRC/testdata/waits/perf.data switches=$SRC/testdata/switch-events/perf.data
demo="$SRC/testdata/demo/perf.data --symfs $SRC/testdata/demo/symfs"
"$PERFKIT" import -q --no-local "$waits" -o run.db || exit 1
"$PERFKIT" collapse -q --no-local $demo -o folded.txt || exit 1
"$PERFKIT" pack -q --no-local $demo -o demo.tar.zst || exit 1
mkdir -p o bin tables/recordings
${CC:-cc} -x c -o bin/duckdb - <<'E2' || exit 1
#include <unistd.h>
int main(void)
{
	static const char answer[] = "folded,weight\na;b,1\nc;d,2\n";
	return write(1, answer, sizeof(answer) - 1) < 0;
}
E2
PATH=$PWD/bin:$PATH
cat >some.csv <<'E2'
start_ns,end_ns,tid,key,route
5108600000000,5108620000000,1306,a-1,/pay
5108640000000,5108680000000,1306,a-2,/list
5108610000000,5108630000000,1307,b-1,/pay
5108700000000,5108690000000,1307,b-2,/pay
5108710000000,5108790000000,1305,c-1,"/a,b"
E2
cat >some.jsonl <<'E2'
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"GET","startTimeUnixNano":"5108600000000","endTimeUnixNano":"5108690000000","attributes":[{"key":"thread.id","value":{"intValue":"1306"}}]}]}]}]}
E2
cat >some.json <<'E2'
{"traceEvents":[{"ph":"X","ts":5108600000,"dur":20000,"pid":1293,"tid":1306,"name":"f","args":{"route":"/pay"}},{"ph":"B","ts":5108640000,"pid":1293,"tid":1306,"name":"g","args":{"a":"b"}},{"ph":"E","ts":5108660000,"pid":1293,"tid":1306}]}
E2
# record TYPE SEC NSEC TID ARG ARG: of LDB
record()
{
	for v in "$1" "$2" "$3" "$4" "$5" 0 "$6" 0 0 0; do
		printf "\\$(printf %03o $((v % 256)))\\$(printf %03o $((v / 256 % 256)))"
		printf "\\$(printf %03o $((v / 65536 % 256)))\\$(printf %03o $((v / 16777216)))"
	done
}
{
	record 2 5108 600000000 1306 7 0
	record 6 5108 610000000 1306 4096000 0
	record 7 5108 620000000 1306 4096000 0
	record 8 5108 630000000 1306 4096000 0
	record 1 5108 640000000 1306 5000000 4198400
	record 3 5108 645000000 1306 7 0
	record 2 5108 650000000 1307 7 0
	record 4 5108 660000000 1307 7 0
} >some.ldb
printf 'time,delay\n5108600000000,20000000\n5108700000000,30000000\n' >gaps.csv
"$PERFKIT" import -q --no-local "$SRC/testdata/labels/labelled.tar.zst" -o labelled.db || exit 1
grep -v '^tramp [1-9]' "$SRC/testdata/labels/labels.txt" | grep -v '^bind [1-9]' >some.txt

fault()  # text
{
	echo "$words, allocation $n: $1"
	bad=1
}

# Status 0 is the end of the walk: from here on there is enough.
judge()
{
	case $rc in
	0)
		cmp -s want out || fault "another answer"
		ls o >left
		cmp -s wrote left || fault "wrote $(cat left), not $(cat wrote)"
		;;
	1)
		grep -q 'out of memory' err || fault "says $(head -c 300 err)"
		for f in o/* o/.[!.]*; do
			[ -e "$f" ] && fault "leaves $f"
		done
		;;
	*) fault "exit $rc, $(head -c 300 err)" ;;
	esac
}

while read -r words; do
	"$PERFKIT" $words >want 2>/dev/null </dev/null
	[ $? = 0 ] || { echo "$words: status not 0 with all memory"; bad=1; continue; }
	ls o >wrote
	rm -rf o/*
	n=0
	while [ $n -lt 300000 ]; do
		LD_PRELOAD=$PWD/nomem.so NOMEM_AFTER=$n timeout 60 "$PERFKIT" $words >out 2>err </dev/null
		rc=$?
		runs=$((runs + 1))
		judge
		[ -s wrote ] && rm -rf o/*
		[ $rc = 0 ] && break
		n=$((n + step + (step > 1 ? n / 30 : 0)))
	done
	[ $rc = 0 ] || { echo "$words never had enough memory"; bad=1; }
done <<E2
collapse -q --no-local $demo
collapse -q --no-local demo.tar.zst
collapse -q --no-local --offcpu $switches
svg -q --no-local --no-script $demo -o o/x.svg
svg -q folded.txt -o o/x.svg
svg -q --no-local --wall $switches -o o/x.svg
tail -q --no-local --p90 --json $switches
tail -q --no-local --p90 $waits
timeline -q --no-local $switches -o o/x.svg
html -q --no-local $switches -o o/x.html
export -q --no-local --to pprof $demo -o o/x.pb.gz
export -q --no-local --to pprof --wall $switches -o o/x.pb.gz
export -q --no-local --to speedscope $demo -o o/x.json
export -q --no-local --to speedscope --by-time $switches -o o/x.json
export -q --no-local --to perfetto $switches -o o/x.pftrace
report -q --no-local $waits
report -q --no-local $demo
report -q run.db
report -q --by label:route --with some.csv run.db
report -q --by span --with some.jsonl,offset=0 run.db
report -q --by span --with some.json run.db
report -q --by lock --json run.db
report -q --by waker --every 100ms --csv run.db
report -q --by span --with some.ldb run.db
report -q --by gap --with gaps.csv,clock=mono,cpu=0 run.db
report -q --by label:query --with some.txt labelled.db
collapse -q --offcpu --label route=/pay --with some.csv run.db
tail -q --by wait --p50 --label route=/pay --with some.csv run.db
svg -q --no-script --wall --label route=/pay --with some.csv run.db -o o/x.svg
report -q --by thread --label route=/pay --with some.csv run.db
timeline -q --no-script --label route=/pay --with some.csv run.db -o o/x.svg
export -q --to firefox --label route=/pay --with some.csv run.db -o o/x.json.gz
import -q --no-local --with some.csv $waits -o o/run.db
tail -q --by span --p50 --with some.csv run.db
doctor --no-local $switches
import -q --no-local $switches -o o/run.db
tail -q --p90 run.db
doctor run.db
pack -q --no-local $demo -o o/x.tar.zst
unpack -q -f demo.tar.zst -C unpacked
symbols -q --no-local --to parquet -o named $SRC/testdata/lbr/symfs/srv/perfkit/calls
export -q --to parquet --no-names --no-local -o offsets $SRC/testdata/cxx-names/perf.data
record --dry-run cpu true
fleet cpu --sql duckdb
fleet cpu --csv tables
fleet cpu tables
E2
echo "$runs runs"
exit $bad
