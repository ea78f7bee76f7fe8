#!/bin/sh
# record --recorder kernel: what the BPF program records is what perf records in the same seconds, and
# what long waits' stacks say. Needs root, perf, and a kernel that takes the program.
# live: records now, on this machine
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }

"$PERFKIT" record cpu --recorder kernel -d 1 -o x.data 2>err
[ $? = 2 ] && grep -q "recorder kernel is for offcpu, tail and requests" err || bad "cpu: $(cat err)"
"$PERFKIT" record tail --recorder bcc -d 1 2>err
[ $? = 2 ] && grep -q "takes auto, kernel or perf, not 'bcc'" err || bad "bcc: $(cat err)"
[ ! -e x.data ] || bad "recorded"

"$PERFKIT" record offcpu --recorder kernel --stacks none -o try.data -- true 2>err
if [ $? = 3 ] || grep -q "waits are missing" err; then
	echo "left out: the kernel's recorder ($(head -1 err))"
	[ "$fails" = 0 ]
	exit
fi

# Both at once.
perf record -q -k CLOCK_MONOTONIC -m 8M -a -c 1 -e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new \
	-e sched:sched_migrate_task -e irq:irq_handler_entry -e irq:irq_handler_exit -e irq:softirq_entry -e irq:softirq_exit \
	-o perf.data -- sleep 4 2>perf.err &
sleep 1
"$PERFKIT" record tail --recorder kernel --stacks none --no-lock-owner -d 1 -o own.data 2>err || bad "own: $(cat err)"
grep -q "none lost" err || bad "lost: $(cat err)"
wait
python3 "$SRC/tests/tools/same_hits.py" perf.data own.data >out || bad "not the same: $(cat out)"

# Who held the lock, asleep in which function, from stack copies that the program kept.
"$PERFKIT" record tail --recorder kernel --no-lock-owner -o hold.data -- "$O/tests/truth/hold" hold.log --asleep 2>err ||
	bad "hold: $(cat err)"
grep -q "waits have stacks" err || bad "hold: $(cat err)"
"$PERFKIT" tail hold.data >out 2>err
grep -q "snapshot: .*asleep in write_snapshot()" out || bad "tail: $(head -30 out)"
perf report --header-only -i hold.data 2>/dev/null | grep -q "cmdline.*sched:sched_switch" || bad "no command line"
perf script -i hold.data >out 2>err && grep -q "sched:sched_switch:" out || bad "perf script: $(head -3 err)"

# While nobody reads the rings, hits are lost: the recording says so, where and how many.
taskset -c 0 "$O/tests/truth/pingpong" /dev/null --rounds 10000019 >/dev/null 2>&1 &
load=$!
"$PERFKIT" record offcpu --recorder kernel --stacks none -d 5 -o lost.data 2>err &
record=$!
sleep 1
kill -STOP $record
sleep 3
kill -CONT $record
wait $record || bad "lost: $(cat err)"
kill $load 2>/dev/null
if grep -q "none lost" err; then
	echo "left out: what is lost (the load was too small)"
else
	n=$(sed -n 's/^kernel: .*, \([0-9]*\) LOST.*/\1/p' err)
	"$PERFKIT" doctor lost.data >out 2>&1
	grep -q "perf lost .* records while recording" out || bad "lost $n, doctor: $(head -20 out)"
fi
[ "$fails" = 0 ]
