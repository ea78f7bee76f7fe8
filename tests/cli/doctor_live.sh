#!/bin/sh
# Faults planted with perf itself, here and now: doctor names each, and does not name it for the
# recording made as its remedy says.
command -v perf >/dev/null 2>&1 || { echo "no perf here"; exit 77; }
perf record -q -a -e sched:sched_switch -o probe.data -- true >/dev/null 2>&1 ||
	{ echo "perf cannot record sched_switch system-wide here"; exit 77; }
failed=0
cat >deep.c <<'EOF'
#include <string.h>
volatile int sink;
__attribute__((noinline)) static int down(int n)
{
	volatile char room[200];
	memset((void *)room, n, sizeof(room));
	if (!n)
		for (int i = 0; i < 100000; i++)
			sink += i;
	else
		return down(n - 1) + room[3];
	return room[5];
}
int main(void)
{
	for (int i = 0; i < 300; i++)
		sink += down(40);
	return 0;
}
EOF
cc -O1 -g -o deep deep.c || { echo "no compiler"; exit 77; }

# has|hasnt ID, perf record arguments
planted()
{
	what=$1 id=$2
	shift 2
	perf record -N -o x.data "$@" >/dev/null 2>perf.err ||
		{ echo "perf record $*: $(tail -1 perf.err)"; failed=1; return; }
	"$PERFKIT" doctor x.data >out 2>err
	if grep -q "^ *\[$id\]$" out; then found=has; else found=hasnt; fi
	[ $found = "$what" ] || { echo "perf record $*: $found $id"; cat out err; failed=1; }
}
waking="-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new"
planted has switch-sampled -a -F 99 -e sched:sched_switch -- sleep 0.2
planted hasnt switch-sampled -a -e sched:sched_switch -e cpu-clock/freq=99/ -- sleep 0.2
planted has per-task -e sched:sched_switch -- sleep 0.1
planted hasnt per-task -a -e sched:sched_switch -- sleep 0.1
planted has no-wakeups -a -e sched:sched_switch -- sleep 0.1
planted hasnt no-wakeups -a $waking -- sleep 0.1
planted has clock -a $waking -- sleep 0.1
planted hasnt clock -a -k CLOCK_MONOTONIC $waking -- sleep 0.1
planted has no-stacks -e cpu-clock -- ./deep
planted hasnt no-stacks -g -e cpu-clock -- ./deep
planted has truncated-dumps -F 997 -e cpu-clock:u --call-graph dwarf,1024 -- ./deep
planted hasnt truncated-dumps -F 997 -e cpu-clock:u --call-graph dwarf,32768 -- ./deep
planted has one-sided-stacks -g -e cpu-clock:u --kernel-callchains -F 997 -- ./deep
planted has lost-records -a -m 1 -F 49999 -e cpu-clock --call-graph dwarf,65528 -- ./deep
planted hasnt lost-records -e cpu-clock:u -F 99 -- ./deep
exit $failed
