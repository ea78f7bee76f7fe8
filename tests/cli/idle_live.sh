# What is work, idle and unclear, of real programs recorded now with their whole stacks: a Java
# program's monitors and parks, PostgreSQL under row locks, redis, condition variables as queue and
# as answer, threads that join, timers, a shell.
# live: records now, on this machine
set -eu
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
for tool in javac redis-server; do command -v $tool >/dev/null || echo "left out: $tool"; done
ls /usr/lib/postgresql/*/bin/pgbench >/dev/null 2>&1 || echo "left out: postgresql"
# Build-ids of single mappings: in a container, other processes have other files at the same paths.
buildids=
perf record -q --buildid-mmap -e cpu-clock:u -o probe.data true >/dev/null 2>&1 && buildids=--buildid-mmap
# All on one CPU: some virtual machines lose the switches of the idle task of another one, and
# with it the waits beside them.
record()
{
	perf record -q -a -N $buildids --call-graph dwarf,4096 -m 2048 -k CLOCK_MONOTONIC -c 1 -e sched:sched_switch \
		-e sched:sched_waking/call-graph=fp/ -e sched:sched_wakeup/call-graph=no/ \
		-e sched:sched_wakeup_new/call-graph=no/ -e sched:sched_process_exit/call-graph=no/ \
		-e cpu-clock/freq=499/ -o live.data -- taskset -c 0 "$@" >out 2>err
}
record true || { echo "nothing can be recorded here: $(tail -1 err)"; exit 77; }
# some machines lose records; such waits do not count
import() { "$PERFKIT" import -q live.data -o live.db 2>/dev/null; }
missing=
# idle|unclear|shown NAME LEAST SQL: of the waits that the condition tells, LEAST or more, 19 of 20
# have that verdict; shown: none is idle.
judge()
{
	case $1 in shown) is="verdict <> 'idle'" of=20 ;; *) is="verdict = '$1'" of=19 ;; esac
	set -- "$1" "$2" "$3" "$of" "$(sqlite3 live.db "SELECT count(*) || ' ' || coalesce(sum($is), 0)
		FROM v_offcpu o LEFT JOIN v_stacks USING (call_path_id)
		WHERE NOT open AND NOT suspect AND unknown_reason IS NULL AND prev_state NOT LIKE 'R%' AND ($4)")"
	n=${5% *} right=${5#* }
	if [ "$n" -lt "$3" ] || [ $((right * 20)) -lt $((n * $4)) ]; then
		echo "$2: $right of $n waits are $1, $3 expected"
		return 1
	fi
	echo "$2: $right of $n $1"
}
# A machine that is short of time gets further chances.
again() { "$@" || "$@" || "$@"; }

queues()
{
	record chrt -r 20 "$O/tests/truth/pool" log.txt --jobs 101 && import &&
		judge unclear "workers of a pool at rest" 60 "comm = 'worker' AND cause = 'cond'" || return 1
	judge shown "their jobs' sleeps" 2 "comm = 'worker' AND cause = 'sleep'" || return 1
	record chrt -r 20 "$O/tests/truth/queue" log.txt --requests 61 && import &&
		judge shown "a request waiting for its answer" 40 "comm = 'front' AND cause = 'cond'" || return 1
	judge unclear "the worker that answers, at rest" 40 "comm = 'worker' AND cause = 'cond'"
}
again queues

timers()
{
	record chrt -r 20 "$O/tests/truth/forkjoin" log.txt --rounds 7 && import &&
		judge shown "a parent joining its threads" 6 "comm = 'front' AND cause = 'join'" || return 1
	record chrt -r 20 "$O/tests/truth/periodic" log.txt --rounds 61 && import &&
		judge unclear "a heartbeat" 40 "comm = 'ticker' AND cause = 'sleep'" || return 1
	# late wakeups are kept: what counts as work of an unclear sleep is its runnable part
	[ "$(sqlite3 live.db "SELECT sum(work_ns) = sum(runnable_ns) AND sum(runnable_ns) > 4000000
		FROM v_offcpu WHERE comm = 'ticker' AND verdict = 'unclear' AND NOT open")" = 1 ] || return 1
	[ "$(sqlite3 live.db "SELECT count(*) FROM v_offcpu WHERE comm LIKE 'kworker/%' AND NOT system
		OR comm = 'perf' AND NOT system AND pid IN (SELECT pid FROM threads WHERE recorder)")" = 0 ]
}
again timers

if command -v javac >/dev/null && command -v java >/dev/null; then
	javac -d . "$SRC/tests/workload/Contend.java"
	java_waits()
	{
		record java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit \
			-XX:TieredStopAtLevel=1 -cp . Contend 1500 && import || return 1
		rm -f "/tmp/perf-$(sqlite3 live.db "SELECT pid FROM threads JOIN comms ON comms.id = comm_id
			WHERE comm = 'monitor' LIMIT 1").map"
		judge shown "a Java monitor" 5 "comm = 'monitor' AND cause = 'lock'" || return 1
		judge shown "LockSupport.park for a lock" 5 "comm = 'parklock' AND stack LIKE '%Parker::park%'" || return 1
		judge shown "Future.get" 5 "comm = 'client' AND stack LIKE '%Parker::park%'" || return 1
		judge shown "Thread.sleep in a job" 5 "comm = 'pool' AND cause = 'sleep'"
	}
	again java_waits
else
	missing="$missing java"
fi

if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	taskset -c 0 redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' --appendonly no >/dev/null 2>&1 &
	redis=$!
	# Some builds keep no names of static functions: between the loop and epoll_wait is then a frame
	# without a name, and aeMain is a loop that polls (poll-loop in frames.rules). With another name
	# between them, nothing is proved.
	redis_waits()
	{
		record redis-benchmark -s "$PWD/redis.sock" -n 1000 -c 4 -t set,get -q && import || return 1
		case $(sqlite3 live.db "SELECT DISTINCT stack FROM v_offcpu
			LEFT JOIN v_stacks USING (call_path_id) WHERE comm = 'redis-server' AND cause = 'poll'") in
		*aeApiPoll* | *"aeMain;epoll_wait"* | *"aeProcessEvents;epoll_wait"* | \
			*aeMain\;0x[0-9a-f]*\;epoll_wait*) rest=idle ;;
		*) rest=unclear ;;
		esac
		judge $rest "redis at rest" 100 "comm = 'redis-server' AND cause = 'poll'"
	}
	rc=0
	sleep 1
	again redis_waits || rc=1
	kill $redis && wait $redis || true
	[ $rc = 0 ]
else
	missing="$missing redis"
fi

pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
if [ -n "$pg" ] && [ -x "$pg/pgbench" ] && [ -x "$pg/initdb" ] && [ "$(id -u)" = 0 ] && id postgres >/dev/null 2>&1; then
	db=$(mktemp -d /tmp/perfkit-pg-XXXXXX)
	chown postgres "$db"
	as() { (cd "$db" && su postgres -s /bin/sh -c "$*"); }
	trap 'as "$pg/pg_ctl -D data -m immediate stop" >/dev/null 2>&1; rm -rf "$db"' EXIT
	as "$pg/initdb -D data -A trust --no-sync" >/dev/null
	as "taskset -c 0 $pg/pg_ctl -D data -w -l log -o '-k $db -c listen_addresses= -c shared_buffers=1MB -c fsync=off' start" >/dev/null
	as "$pg/pgbench -h $db -i -q" >/dev/null 2>&1
	postgres_waits()
	{
		record su postgres -s /bin/sh -c "$pg/pgbench -h $db -c 8 -j 2 -T 1" && import &&
			judge shown "PostgreSQL waiting for a row lock" 30 "comm = 'postgres' AND stack LIKE '%;ProcSleep;%'" || return 1
		judge shown "PostgreSQL waiting for an LWLock" 0 "comm = 'postgres' AND stack LIKE '%;LWLockAcquire;%'" || return 1
		judge idle "PostgreSQL waiting for its client" 100 "comm = 'postgres' AND stack LIKE '%;PostgresMain;%pq_getbyte;%'" || return 1
		judge idle "PostgreSQL's writers at rest" 3 "comm = 'postgres' AND stack LIKE '%;WaitLatch;%' AND stack NOT LIKE '%ProcSleep%'"
	}
	again postgres_waits

	# A server under load, without stacks: perf's figures, the queries, the books
	perf record -q -a -m 2048 -c 1 -e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup \
		-e sched:sched_wakeup_new -e sched:sched_process_exit -o live.data -- \
		su postgres -s /bin/sh -c "$pg/pgbench -h $db -c 8 -j 2 -T 1" >/dev/null 2>&1
	"$O/tests/prog/tldump" live.data >ours.txt 2>/dev/null # fails where time is not conserved
	perf sched timehist --state -i live.data >perfs.txt 2>/dev/null
	python3 "$SRC/tests/tools/timehist_diff.py" ours.txt perfs.txt
	import
	awk '/^-- [0-9]/ { n++; f = "q" n ".sql"; next } f { print > f }' "$SRC/docs/store-questions.sql"
	for q in q*.sql; do
		sqlite3 live.db <"$q" >answer || { echo "$q fails"; exit 1; }
		[ -s answer ] || [ "$q" = q8.sql ] || [ "$q" = q9.sql ] || { echo "$q: no row"; exit 1; }
	done
else
	missing="$missing PostgreSQL"
fi
[ -z "$missing" ] || echo "not installed:$missing"
