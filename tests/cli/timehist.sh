# Every interval against perf sched timehist: of the stored recording, and of one made now.
# A difference without a class (docs/differences.md) is a failure.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
diff=$SRC/tests/tools/timehist_diff.py
"$O/tests/prog/tldump" "$SRC/testdata/waits/perf.data" >ours.txt 2>/dev/null
gunzip -c "$SRC/testdata/waits/timehist.txt.gz" >perfs.txt
python3 "$diff" ours.txt perfs.txt

perf record -q -a -m 2048 -e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup \
	-e sched:sched_wakeup_new -e sched:sched_process_exit -o live.data \
	-- perf bench sched pipe -l 3001 >/dev/null 2>err || {
	echo "the stored recording agrees; none can be made here: $(tail -1 err)"
	exit 77
}
"$O/tests/prog/tldump" live.data >ours.txt 2>/dev/null
perf sched timehist --state -i live.data >perfs.txt 2>/dev/null
python3 "$diff" ours.txt perfs.txt
