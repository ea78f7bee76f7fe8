# What programs measured of their own waits, against perfkit's intervals: of the recordings kept in
# testdata/truth, and of each program recorded now. perf sched timehist must agree with every
# interval too, but for the classes of tests/differences.md.
# live: records now, on this machine
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
	"$PERFKIT" import -q live.data -o live.db || return 1
	compare "$prog" "$rounds" log.txt live.db || return 1
	perf sched timehist --state -i live.data >perfs.txt 2>/dev/null || return 1
	python3 "$diff" intervals.txt perfs.txt
}

perf record -q -a -k CLOCK_MONOTONIC -e sched:sched_switch -o try.data true >/dev/null 2>err || {
	echo "the kept recordings agree; none can be made here: $(tail -1 err)"
	exit 77
}
alone="taskset -c 0 chrt -f 50"
$alone true 2>/dev/null || alone=
# A machine that loses records gets further chances.
again() { live "$@" || live "$@" || live "$@"; }
again 13 "$alone" hold --asleep
again 7 "$alone" hold --rounds 7 --lock rwlock --asleep
again 97 "$alone" sleeper
again 251 "$alone" handoff
again 1009 "$alone" pingpong

# Switches and wakings bare of all, and once more with stacks of the program's own threads: one event
# each. (timehist takes each for two.)
twice()
{
	# shellcheck disable=SC2086
	perf record -q -a -N -k CLOCK_MONOTONIC -m 2048 -e sched:sched_switch -e sched:sched_waking \
		-e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_process_exit \
		-e sched:sched_switch/call-graph=fp/ --filter 'prev_comm == "sleeper"' \
		-e sched:sched_waking/call-graph=fp/ --filter 'comm == "sleeper"' \
		-o live.data -- $alone "$O/tests/truth/sleeper" log.txt >/dev/null 2>err || return 1
	"$PERFKIT" import -q live.data -o live.db || return 1
	compare sleeper 97 log.txt live.db || return 1
	sqlite3 live.db "SELECT count(*), sum(call_path_id IS NOT NULL) FROM offcpu JOIN threads t
		ON t.id = thread_id JOIN comms c ON c.id = t.comm_id WHERE comm = 'sleeper'" >stacks.txt
	awk -F'|' '{ print $2 " of " $1 " waits of the chosen threads have a stack"
		exit !($1 >= 97 && $2 * 20 >= $1 * 19) }' stacks.txt
}
twice || twice || twice
again 0 "" spinner
again 0 "" hog
# A quota's end is seen from Linux 6.18 on (libtime/causes/causes.rules).
release=$(uname -r)
minor=${release#*.}
if [ "${release%%.*}" -gt 6 ] || { [ "${release%%.*}" = 6 ] && [ "${minor%%.*}" -ge 18 ]; }; then
	if sh "$SRC/tests/truth/quota.sh" true x >err; then
		again 0 "sh $SRC/tests/truth/quota.sh" quota
	else
		echo "quota: $(tail -1 err)"
	fi
fi
again 10000 "" storm
again 101 "" forks
again 61 "" migrate
