#!/bin/sh
# Whole commands run out of memory at the 1st, 2nd, 3rd, … allocation, with growing steps: each
# ends with status 1 and says so, or does without; never a crash, never half an output file.
set -u
nm -D "$PERFKIT" | grep -q __asan_init && { echo "a sanitizer has its own allocator"; exit 77; }
${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o nomem.so "$SRC/tests/tools/nomem.c" 2>cc.err ||
	{ echo "no preloaded allocator: $(head -1 cc.err)"; exit 77; }
bad=0 runs=0
waits=$SRC/testdata/waits/perf.data
"$PERFKIT" import -q "$waits" -o run.db || exit 1
"$PERFKIT" pack -q --no-local "$SRC/testdata/demo/perf.data" --symfs "$SRC/testdata/demo/symfs" -o demo.tar.zst
mkdir o
while read -r words; do
	n=0 last=
	"$PERFKIT" $words >want 2>/dev/null </dev/null
	rm -rf o/*
	while [ $n -lt ${NOMEM_MOST:-300000} ]; do
		LD_PRELOAD=$PWD/nomem.so NOMEM_AFTER=$n timeout 60 "$PERFKIT" $words >out 2>err </dev/null
		rc=$?
		runs=$((runs + 1))
		case $rc in
		0) last=$n
			cmp -s want out || { echo "$words, allocation $n: another answer"; bad=1; } ;;
		1) grep -q 'out of memory\|[Mm]emory' err || { echo "$words, allocation $n: $(head -c 300 err)"; bad=1; }
			[ -z "$(ls -A o)" ] || { echo "$words, allocation $n leaves $(ls -A o)"; bad=1; } ;;
		*) echo "$words, allocation $n: exit $rc, $(head -c 300 err)"; bad=1 ;;
		esac
		rm -rf o/*
		[ -n "$last" ] && break
		n=$((n + 1 + n / 3))
	done
	[ -n "$last" ] || { echo "$words never had enough memory"; bad=1; }
done <<E2
collapse -q $waits
collapse -q --offcpu $waits
collapse -q demo.tar.zst
svg -q --wall -o o/x.svg $waits
tail -q --p90 --json $waits
timeline -q -o o/x.svg $waits
report -q $waits
doctor $waits
import -q $waits -o o/run.db
tail -q --p90 run.db
doctor run.db
E2
echo "$runs runs"
exit $bad
