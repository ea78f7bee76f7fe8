#!/bin/sh
# tsan.sh - every verb that has threads, under ThreadSanitizer: what reads ahead, counts stacks,
# prepares files, writes and reads a store. For `make tsan`; a report of a race is a failure.
set -eu
SRC=$(cd "$(dirname "$0")/.." && pwd)
O=${O:-build-tsan}
case $O in /*) ;; *) O=$SRC/$O ;; esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
data=$SRC/testdata
export TSAN_OPTIONS='exitcode=66 history_size=4'
# its shadow memory has no place beside addresses that are too random
plain=
setarch -R true 2>/dev/null && plain='setarch -R'
n=0 bad=0

run()
{
	n=$((n + 1)) rc=0
	# shellcheck disable=SC2086
	$plain "$@" >"$dir/out" 2>"$dir/err" || rc=$?
	# 3: the recording cannot answer
	if { [ $rc != 0 ] && [ $rc != 3 ]; } || grep -q ThreadSanitizer "$dir/err"; then
		bad=$((bad + 1))
		echo "FAILED ($rc): $*"
		head -60 "$dir/err"
	fi
}

perfkit=$O/perfkit
for name in waits sched dwarf fp-threads system-wide threads-dir zstd; do
	file=$data/$name/perf.data
	run "$perfkit" report -q -i "$file"
	run "$perfkit" collapse -q -i "$file"
	run "$perfkit" collapse -q --comm "[a-z]*" -i "$file"
	run "$perfkit" collapse -q --offcpu -i "$file"
	run "$perfkit" svg -q -i "$file" -o "$dir/x.svg"
done
for name in waits sched; do
	run "$perfkit" tail -q --top 5 "$data/$name/perf.data"
	run "$perfkit" import -q "$data/$name/perf.data" -o "$dir/$name.db"
	run "$perfkit" tail -q --top 5 "$dir/$name.db"
done
run "$perfkit" import -q --force "$data/waits/perf.data" "$dir/sched.db" -o "$dir/both.db"
run "$perfkit" report -q "$dir/both.db"
# samples of the same time, which SQLite inserts, and of events
run "$perfkit" import -q "$data/demo/perf.data" "$data/demo/perf.data" -o "$dir/twice.db"
run "$perfkit" import -q "$data/events/perf.data" -o "$dir/events.db"
run sh -c "'$perfkit' collapse -q - <'$data/pipe/perf.data'"

# as many intervals as it takes for several threads to read a store
cp "$data/switch-events/perf.data" "$dir/long.data"
for i in 1 2 3 4 5; do
	"$O/tests/prog/twice" "$dir/long.data" "$dir/longer.data"
	mv "$dir/longer.data" "$dir/long.data"
done
run "$perfkit" import -q "$dir/long.data" -o "$dir/long.db"
run "$perfkit" report -q "$dir/long.db"
run "$perfkit" collapse -q --offcpu -i "$dir/long.data"
run "$perfkit" collapse -q --offcpu "$dir/long.db"

# and samples as it takes to name stacks while they are read
"$O/tests/prog/grow" "$data/system-wide/perf.data" "$dir/long.data" 34000000
run "$perfkit" import -q "$dir/long.data" -o "$dir/long.db"
run "$perfkit" collapse -q --comm "[a-z]*" -i "$dir/long.data"

echo "tsan: $n commands, $bad with races or failures"
[ $bad = 0 ]
