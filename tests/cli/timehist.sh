# Every interval against perf sched timehist: of the stored recording, and of several kinds made now.
# A difference without a class (tests/differences.md) is a failure.
# live: records now, on this machine
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
diff=$SRC/tests/tools/timehist_diff.py
"$O/tests/prog/tldump" "$SRC/testdata/waits/perf.data" >ours.txt 2>/dev/null
gunzip -c "$SRC/testdata/waits/timehist.txt.gz" >perfs.txt
python3 "$diff" ours.txt perfs.txt

switch=sched:sched_switch wakeup=sched:sched_wakeup,sched:sched_wakeup_new exit=sched:sched_process_exit
all=$switch,sched:sched_waking,$wakeup,$exit

# compare [--per-task]: of live.data
compare()
{
	"$O/tests/prog/tldump" live.data >ours.txt 2>/dev/null
	perf sched timehist --state -i live.data >perfs.txt 2>/dev/null
	python3 "$diff" ours.txt perfs.txt "$@"
}

perf record -q -a -m 2048 -e $all -o live.data -- perf bench sched pipe -l 3001 >/dev/null 2>err || {
	echo "the stored recording agrees; none can be made here: $(tail -1 err)"
	exit 77
}
compare
# many wakeups; no wakings; nothing but switches; SWITCH records beside them; records lost; one CPU
threads="perf bench sched messaging -g 2 -l 40"
for how in "-a -m 2048 -e $all" "-a -m 1024 -e $switch,$wakeup" "-a -m 1024 -e $switch" \
	"-a -m 1024 --switch-events -e $all" "-a -m 8 -e $all" "-C 0 -m 1024 -e $all"; do
	echo "perf record $how"
	# shellcheck disable=SC2086
	perf record -q $how -o live.data -- $threads >/dev/null 2>&1
	compare
done
echo "migrations"
perf record -q -a -m 1024 -e $all -e sched:sched_migrate_task -o live.data -- \
	"$O/tests/truth/migrate" log.txt --rounds 101 >/dev/null 2>&1
compare
perf script -i live.data --ns -F time,event,trace >script.txt 2>/dev/null
"$PERFKIT" import -q -f --no-local live.data -o live.db 2>/dev/null
python3 "$SRC/tests/tools/queue_check.py" script.txt live.db
echo "perf sched record"
perf sched record -o live.data -- $threads >/dev/null 2>&1
compare

# One process only: what it measured of itself is the truth.
"$O/tests/truth/handoff" log.txt --rounds 997 &
pid=$!
perf record -q -p $pid -k CLOCK_MONOTONIC -m 1024 --switch-events -e $all -o live.data -- sleep 9 >/dev/null 2>&1 &
wait $pid
wait
compare --per-task
