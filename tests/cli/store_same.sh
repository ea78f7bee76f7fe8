#!/bin/sh
# The same question to a store gives byte for byte the answer of the recording it came from, with
# filters (tests/same.py asks without); what a store cannot know it refuses.

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
	[ $arc -eq $brc ] || { echo "$data: $*: exit $arc and $brc"; cat a.err b.err; exit 1; }
	cmp a b || { echo "$data: $*: answers differ"; exit 1; }
	[ $arc -eq 0 ] && asked=$((asked + 1))
	return 0
}

command -v sqlite3 >/dev/null 2>&1 || { echo "no sqlite3 here"; exit 77; }
for f in fp-threads no-callchain sched switch-events zstd dwarf events pid-attach group-read system-wide \
	uprobe waits exec-storm worst-names; do
	data=$SRC/testdata/$f/perf.data
	symfs=$SRC/testdata/$f/symfs
	[ -e "$data" ] || { echo "$f: no recording"; exit 1; }
	"$PERFKIT" import -q --no-local --symfs "$symfs" "$data" -o run.db || exit 1
	# stacks merged by number are those merged by text
	sqlite3 run.db "SELECT recording_id, event, stack, weight, samples FROM v_folded_oncpu" | sort >a
	sqlite3 run.db "WITH RECURSIVE walk(id, text) AS (
		SELECT 0, '' UNION ALL SELECT p.id, w.text || ';' || CASE WHEN s.name IS NOT NULL THEN s.name
			WHEN d.name IS NULL THEN '[unknown]'
			ELSE '[' || replace(d.name, rtrim(d.name, replace(d.name, '/', '')), '') || ']' END
		FROM walk w JOIN call_paths p ON coalesce(p.parent_id, 0) = w.id
		JOIN frames f ON f.id = p.frame_id LEFT JOIN symbols s ON s.id = f.symbol_id
		LEFT JOIN dsos d ON d.id = f.dso_id)
		SELECT 1, e.name, replace(c.comm, ' ', '_') || w.text, sum(s.weight), sum(s.samples)
		FROM sample_sums s JOIN sample_tasks t ON t.id = s.task_id
		JOIN selected_events e ON e.id = t.event_id JOIN comms c ON c.id = t.comm_id
		JOIN walk w ON w.id = coalesce(s.call_path_id, 0) WHERE NOT t.tracepoint
		GROUP BY 2, 3" | sort >b
	cmp a b || { echo "$f: v_folded_oncpu is not sample_sums by text"; exit 1; }
	asked=0
	for q in 'collapse' 'collapse --tid-name' 'collapse --weight samples --kernel' 'svg' \
		'collapse --offcpu --unit ns' 'collapse --offwake --idle' 'svg --offcpu' 'svg --wall' \
		'collapse --all-events --pid-name' 'collapse --pid 0' 'collapse --comm swapper --tid-name' \
		'svg --split cpu' 'svg --split tid -C 0' 'collapse -C 1' \
		'collapse --event cpu-clock' 'collapse --event cpu' 'svg --flamechart' \
		'svg --flamechart --event nosuch'; do
		same "$data" run.db "$symfs" $q
	done
	for q in 'report' 'report --top 2 --system' 'report -C 1'; do
		same "$data" run.db "$symfs" $q
	done
	# the names and numbers that "comm-pid/tid;..." begins with
	"$PERFKIT" collapse -q --no-local --tid-name "$data" | sed 's/;.*//' | sort -u | head -n 4 >whose
	while read -r whose; do
		pid=${whose%/*}
		pid=${pid##*-}
		same "$data" run.db "$symfs" collapse --comm "${whose%-*}"
		same "$data" run.db "$symfs" collapse --tid "${whose##*/}" --tid-name
		same "$data" run.db "$symfs" svg --pid "$pid"
		same "$data" run.db "$symfs" report --comm "${whose%-*}"
	done <whose
	echo "$f: $asked answers compared"
	[ $asked -gt 0 ] || exit 1
done

# a long recording's stacks are named while it is read
for f in fp-threads system-wide; do
	"$O/tests/prog/grow" "$SRC/testdata/$f/perf.data" long.data 34000000
	symfs=$SRC/testdata/$f/symfs
	"$PERFKIT" import -q --no-local --symfs "$symfs" long.data -o run.db || exit 1
	"$PERFKIT" import -q --no-local --symfs "$symfs" long.data -o again.db || exit 1
	cmp run.db again.db || exit 1
	asked=0
	for q in 'collapse' 'collapse --tid-name' 'svg --split cpu' 'collapse -C 1' 'report'; do
		same long.data run.db "$symfs" $q
	done
	[ $asked -gt 3 ] || { echo "long $f: only $asked answers"; exit 1; }
done
rm long.data again.db

# a store of an older perfkit has no wait sites
"$PERFKIT" import -q --no-local "$SRC/testdata/waits/perf.data" -o run.db
cp run.db old.db
sqlite3 old.db 'PRAGMA user_version = 2' || exit 1
for q in collapse tail report 'svg --offcpu'; do
	rc=0
	"$PERFKIT" $q -q old.db >out 2>err || rc=$?
	[ $rc = 1 ] && [ ! -s out ] && grep -q 'made by an older perfkit; import the recording again' err || {
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
