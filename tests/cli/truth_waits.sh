# What programs measured of their own waits, against perfkit's intervals: of the recordings kept in
# testdata/truth, and of each program recorded now. perf sched timehist must agree with every
# interval too, but for the classes of docs/differences.md.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
check=$SRC/tests/truth/check.py
diff=$SRC/tests/tools/timehist_diff.py

# compare PROGRAM ROUNDS LOG STORE
compare()
{
	"$O/tests/prog/tldump" "$4" >intervals.txt
	sqlite3 "$4" 'SELECT tid, comm, first_ns, last_ns
		FROM threads LEFT JOIN comms ON comms.id = comm_id' >threads.txt
	python3 "$check" "$1" "$3" intervals.txt threads.txt --rounds "$2"
}

for d in "$SRC"/testdata/truth/*/; do
	[ -f "$d/rounds" ] || continue
	gunzip -c "$d/perf.data.gz" >kept.data
	"$PERFKIT" import -q --no-local --symfs "$d/symfs" --kallsyms "$d/kallsyms" kept.data -o kept.db
	compare "$(basename "$d")" "$(cat "$d/rounds")" "$d/log.txt" kept.db
	gunzip -c "$d/timehist.txt.gz" >perfs.txt
	python3 "$diff" intervals.txt perfs.txt
done

# live ROUNDS PREFIX PROGRAM [OPTIONS]: recorded now
live()
{
	rounds=$1 prefix=$2 prog=$3
	shift 3
	# shellcheck disable=SC2086
	perf record -q -a -N -k CLOCK_MONOTONIC -m 2048 -g -e sched:sched_switch \
		-e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new \
		-e sched:sched_process_exit -o live.data -- \
		$prefix "$O/tests/truth/$prog" log.txt "$@" >/dev/null 2>err || {
		echo "$(cat err)" | grep -q . || echo "perf failed" >err
		return 1
	}
	"$PERFKIT" import -q live.data -o live.db
	compare "$prog" "$rounds" log.txt live.db
	perf sched timehist --state -i live.data >perfs.txt 2>/dev/null
	python3 "$diff" intervals.txt perfs.txt
}

perf record -q -a -k CLOCK_MONOTONIC -e sched:sched_switch -o try.data true >/dev/null 2>err || {
	echo "the kept recordings agree; none can be made here: $(tail -1 err)"
	exit 77
}
alone="taskset -c 0 chrt -f 50"
$alone true 2>/dev/null || alone=
live 13 "$alone" hold --asleep
live 7 "$alone" hold --rounds 7 --lock rwlock --asleep
live 97 "$alone" sleeper
live 251 "$alone" handoff
live 1009 "$alone" pingpong
live 0 "" spinner
live 0 "" hog
live 10000 "" storm
live 101 "" forks
live 61 "" migrate
