#!/bin/sh
# The same question to a store gives byte for byte the answer of the recording it came from, also
# with filters; what the store cannot know it refuses.

# same FILE DB SYMFS QUESTION...: 0 when both answer alike; asked and refused are counted
same()
{
	data=$1
	db=$2
	symfs=$3
	shift 3
	"$PERFKIT" "$@" -q --no-local --symfs "$symfs" "$data" >a 2>a.err </dev/null
	arc=$?
	"$PERFKIT" "$@" -q "$db" >b 2>b.err </dev/null
	brc=$?
	# a store keeps scheduler events as waits and says so
	if [ $brc -eq 3 ] && grep -q ' as waits\|only waits' b.err; then
		return 0
	fi
	[ $arc -eq $brc ] || { echo "$data: $*: exit $arc and $brc"; cat a.err b.err; exit 1; }
	cmp a b || { echo "$data: $*: answers differ"; exit 1; }
	[ $arc -eq 0 ] && asked=$((asked + 1))
	return 0
}

for f in fp-threads no-callchain sched switch-events zstd dwarf events pid-attach group-read system-wide \
	uprobe waits exec-storm worst-names; do
	data=$SRC/testdata/$f/perf.data
	symfs=$SRC/testdata/$f/symfs
	[ -e "$data" ] || { echo "$f: no recording"; exit 1; }
	"$PERFKIT" import -q --no-local --symfs "$symfs" "$data" -o run.db || exit 1
	asked=0
	for q in 'collapse' 'collapse --tid-name' 'collapse --weight samples --kernel' 'svg' \
		'collapse --offcpu --unit ns' 'collapse --offwake --idle' 'svg --offcpu' 'svg --wall' \
		'collapse --all-events --pid-name' 'collapse --pid 0' 'collapse --comm swapper --tid-name' \
		'svg --split cpu' 'svg --split tid -C 0' 'collapse -C 1' \
		'collapse --event cpu-clock' 'collapse --event cpu' 'svg --flamechart' \
		'svg --flamechart --event nosuch'; do
		same "$data" run.db "$symfs" $q
	done
	case $f in
	events | uprobe) ;; # report counts samples of tracepoints by thread, and the store has none
	*)
		for q in 'report' 'report --top 2 --system' 'report -C 1'; do
			same "$data" run.db "$symfs" $q
		done
		;;
	esac
	# the names and numbers that "comm-pid/tid;..." begins with
	"$PERFKIT" collapse -q --no-local --tid-name "$data" | sed 's/;.*//' | sort -u | head -n 4 >whose
	while read -r whose; do
		pid=${whose%/*}
		pid=${pid##*-}
		same "$data" run.db "$symfs" collapse --comm "${whose%-*}"
		same "$data" run.db "$symfs" collapse --tid "${whose##*/}" --tid-name
		same "$data" run.db "$symfs" svg --pid "$pid"
		case $f in events | uprobe) continue ;; esac
		same "$data" run.db "$symfs" report --comm "${whose%-*}"
	done <whose
	echo "$f: $asked answers compared"
	[ $asked -gt 0 ] || exit 1
done

# the samples of tracepoints are waits and marks there: refused, not left out
"$PERFKIT" import -q --no-local "$SRC/testdata/waits/perf.data" -o run.db
for q in 'collapse' 'collapse --all-events' 'collapse -e sched:sched_switch' 'svg -e sched:sched_switch'; do
	rc=0
	"$PERFKIT" $q -q run.db >out 2>err || rc=$?
	[ $rc = 3 ] && [ ! -s out ] && grep -q 'as waits or marks, not as samples' err || {
		echo "$q: exit $rc"
		cat err
		exit 1
	}
done

# names are fixed: what is about finding them is asked too late
for o in '--symfs .' '--kallsyms k' '--vmlinux v' '--buildid-dir .' --no-inline --no-demangle '--max-stack 3' \
	--constructors --trust-paths; do
	rc=0
	"$PERFKIT" collapse -q --offcpu $o run.db >out 2>err || rc=$?
	[ $rc = 2 ] && [ ! -s out ] && grep -q 'its names are fixed' err || { echo "$o: exit $rc"; exit 1; }
done

# SQLite reads files: a store on a stream is refused by what it is
for verb in report collapse tail; do
	rc=0
	"$PERFKIT" $verb - <run.db >out 2>err || rc=$?
	[ $rc = 1 ] && [ ! -s out ] && grep -q 'a store is read in place' err || { echo "$verb -: exit $rc"; cat err; exit 1; }
done
