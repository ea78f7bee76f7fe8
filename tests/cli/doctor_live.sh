#!/bin/sh
# Faults planted with perf itself, here and now: doctor names each, and not for a recording that
# looks like it. perf takes the last remedy as it is printed, and what it records has none of the
# faults that are to be mended by recording again.
# live: records now, on this machine
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

# The ids that the line of the last remedy is to mend. A busy machine loses records whatever the
# line; that is another test's.
mended()
{
	"$PERFKIT" doctor -v --json "$1" | python3 -c '
import json, sys
busy = {"lost-records", "lost-samples", "holes", "wakeups-missing"}
for f in json.load(sys.stdin)["findings"]:
    if (f["remedy"] or "").startswith("-") and f["id"] not in busy:
        print(f["id"])'
}

# The line as a terminal shows it, pasted; what it records goes to y.data.
paste_remedy()
{
	awk '/^all together: perf record / { sub(/^all together: /, ""); on = 1; text = "" }
		on { text = text $0 "\n" }
		on && !/\\$/ { on = 0 }
		END { printf "%s", text }' out | sed '1s/^perf record/perf record -N -o y.data/' >remedy.sh
	[ -s remedy.sh ] || { echo "perf record $*: no remedy"; cat out; failed=1; return; }
	mended x.data >before
	rm -f y.data
	if ! sh remedy.sh >/dev/null 2>perf.err; then
		echo "perf record $*: perf refuses the remedy: $(cat remedy.sh perf.err)"
		failed=1
		return
	fi
	mended y.data >after
	left=$(grep -xFf before after | xargs)
	[ -z "$left" ] || { echo "perf record $*: $(cat remedy.sh): still $left"; failed=1; }
}

# has|hasnt ID, perf record arguments
planted()
{
	what=$1 id=$2
	shift 2
	perf record -N -o x.data "$@" >/dev/null 2>perf.err ||
		{ echo "perf record $*: $(tail -1 perf.err)"; failed=1; return; }
	"$PERFKIT" doctor -v x.data >out 2>err
	if grep -q "^ *\[$id\]$" out; then found=has; else found=hasnt; fi
	[ $found = "$what" ] || { echo "perf record $*: $found $id"; cat out err; failed=1; return; }
	if [ $what = has ] && command -v python3 >/dev/null; then paste_remedy "$@"; fi
}
waking="-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new"
planted has switch-sampled -a -F 99 -e sched:sched_switch -- sleep 0.2
planted hasnt switch-sampled -a -e sched:sched_switch -e cpu-clock/freq=99/ -- sleep 0.2
planted has switch-sampled -F 99 -e cpu-clock:u,sched:sched_switch -- sh -c 'sleep 0.1; ./deep'
planted has switch-sampled -a -c 10 --no-period -e sched:sched_switch -- sleep 0.2
planted hasnt switch-sampled -a -c 10 -e sched:sched_switch -- sleep 0.2
planted has tracepoint-sampled -a -c 10 -e sched:sched_switch -- sleep 0.2
planted has per-task -e sched:sched_switch -- sleep 0.1
planted hasnt per-task -a -e sched:sched_switch -- sleep 0.1
planted has no-wakeups -a -e sched:sched_switch -- sleep 0.1
planted hasnt no-wakeups -a $waking -- sleep 0.1
planted has tracepoint-sampled -c 3 -e sched:sched_wakeup -e cpu-clock -a -- sleep 0.2
planted hasnt tracepoint-sampled -c 1 -e sched:sched_wakeup -a -- sleep 0.2
planted has clock -a $waking -- sleep 0.1
planted hasnt clock -a -k CLOCK_MONOTONIC $waking -- sleep 0.1
planted has no-stacks -e cpu-clock -- ./deep
planted hasnt no-stacks -g -e cpu-clock -- ./deep
planted has no-inherit -e '{cpu-clock,page-faults}:S' -F 997 -- ./deep
planted hasnt no-inherit -e '{cpu-clock,page-faults}' -F 997 -- ./deep
planted has truncated-dumps -F 997 -e cpu-clock:u --call-graph dwarf,1024 -- ./deep
planted hasnt truncated-dumps -F 997 -e cpu-clock:u --call-graph dwarf,32768 -- ./deep
planted has one-sided-stacks -g -e cpu-clock:u --kernel-callchains -F 997 -- ./deep
planted has lost-records -a -m 1 -F 49999 -e cpu-clock --call-graph dwarf,65528 -- ./deep
planted hasnt lost-records -e cpu-clock:u -F 99 -- ./deep
exit $failed
