#!/bin/sh
# The same question to a store gives byte for byte the answer of the recording it came from.
for f in fp-threads no-callchain sched switch-events zstd dwarf events pid-attach; do
	data=$SRC/testdata/$f/perf.data
	[ -e "$data" ] || { echo "$f: no recording"; exit 1; }
	"$PERFKIT" import -q --no-local --symfs "$SRC/testdata/$f/symfs" "$data" -o run.db || exit 1
	asked=0
	for q in 'collapse' 'collapse --tid-name' 'collapse --weight samples --kernel' 'svg' \
		'collapse --offcpu --unit ns' 'collapse --offwake --idle' 'svg --offcpu' 'svg --wall'; do
		"$PERFKIT" $q -q --no-local --symfs "$SRC/testdata/$f/symfs" "$data" >a 2>a.err </dev/null
		arc=$?
		"$PERFKIT" $q -q run.db >b 2>b.err </dev/null
		brc=$?
		# a store keeps scheduler events as waits and says so
		[ $brc -eq 3 ] && grep -q 'as waits, not as samples\|only waits' b.err && continue
		[ $arc -eq $brc ] || { echo "$f: $q: exit $arc and $brc"; cat a.err b.err; exit 1; }
		cmp a b || { echo "$f: $q: answers differ"; exit 1; }
		[ $arc -eq 0 ] && asked=$((asked + 1))
	done
	echo "$f: $asked answers compared"
	[ $asked -gt 0 ] || exit 1
done
