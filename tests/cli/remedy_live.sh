#!/bin/sh
# Recordings whose probes are gone, and whose events take their stacks each in its own way:
# perf takes the line that doctor prints for them, and what it records keeps what was asked for.
# live: records now, on this machine
command -v perf >/dev/null 2>&1 || { echo "no perf here"; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo "no python3 here"; exit 77; }
HOME=$PWD # perf keeps copies of binaries in ~/.debug
export HOME
perf record -q -a -e sched:sched_switch -o probe.data -- true >/dev/null 2>&1 ||
	{ echo "perf cannot record sched_switch system-wide here"; exit 77; }
failed=0
bad()
{
	echo "$*"
	failed=1
}

# The command that doctor prints for x.data, below `perf` and `perfkit` of this test; what it
# records goes to y.data. Its words are in `line`.
paste()
{
	"$PERFKIT" doctor -v --json x.data | python3 -c '
import json, sys
print(json.load(sys.stdin)["line"] or "")' >remedy
	[ "$(wc -c <remedy)" -gt 1 ] || { bad "$1: no line"; return 1; }
	run_line "$1"
}

run_line()
{
	line=$(cat remedy)
	sed 's/^perf record/perf record -N -o y.data/
		s|^perfkit record \([a-z]*\)|"$PERFKIT" record \1 -o y.data|' remedy >remedy.sh
	rm -f y.data
	sh remedy.sh >/dev/null 2>err && [ -s y.data ] ||
		{ bad "$1: refused: $line: $(cat err)"; return 1; }
}

# What a probe sets is removed before anybody reads the recording.
name=rem$$
cat >$name.c <<'E2'
__attribute__((noinline)) int work(int n)
{
	__asm__ volatile("");
	return n + 1;
}
int main(void)
{
	volatile int sum = 0;
	for (int i = 0; i < 20000; i++)
		sum += work(i);
	return 0;
}
E2
cc -O1 -o $name $name.c || { echo "no compiler"; exit 77; }
trap 'perf probe -q -d "probe_$name:*" >/dev/null 2>&1' EXIT
if perf probe -q -x ./$name --add work >/dev/null 2>&1; then
	perf record -q -N -o x.data -F 999 -e cpu-clock -e probe_$name:work ./$name >/dev/null 2>err ||
		bad "the probe cannot be recorded: $(cat err)"
	perf record -q -N -o alone.data -m 1 -c 100 -e probe_$name:work ./$name >/dev/null 2>&1
	perf probe -q -d "probe_$name:*"
	paste "a probe and a clock" && case $line in
	*probe_*) bad "the probe is gone, the line has it: $line" ;;
	*cpu-clock*) ;;
	*) bad "the clock is gone: $line" ;;
	esac
	"$PERFKIT" doctor -v alone.data >out
	grep -q '^all together: perf probe -x FILE --add ' out || bad "probes alone: $(cat out)"
else
	echo "no uprobes here: lines with probes were not tried"
fi

# Counters of calls are counted again, in the group that their probes read.
calls()
{
	for try in 1 2 3 4 5; do
		"$PERFKIT" record calls -r work -e page-faults -m 256K -o x.data -- ./$name >/dev/null 2>err
		rc=$?
		[ $rc = 3 ] || break
		sleep 1
	done
	[ $rc = 0 ] || { echo "no calls here: $(cat err)"; return 0; }
	"$PERFKIT" record --like x.data >remedy
	[ "$(cat remedy)" = "perfkit record calls -r work -e page-faults -m 256K -- ./$name" ] ||
		bad "calls: $(cat remedy)"
	"$PERFKIT" doctor -v x.data >out
	if grep -q 'no option would change it\|remedy: -a' out; then
		bad "calls: $(cat out)"
	fi
	for try in 1 2 3 4 5; do
		run_line "calls" >why && break
		grep -q 'already exist' why || { cat why; return 0; }
		failed=0
		sleep 1
	done
	for data in x y; do
		# a busy machine loses some calls, and says so
		"$PERFKIT" report -q --by span --csv $data.data | sed '2,$s/,.*//' >$data.csv
	done
	cmp x.csv y.csv && grep -q page-faults y.csv || bad "calls differ: $(cat x.csv y.csv)"
}
calls

# A line of each event's own.
perf record -q -N -o x.data -a -k CLOCK_MONOTONIC --buildid-all -m 1024 \
	-e sched:sched_switch/call-graph=dwarf,stack-size=512/ -e sched:sched_waking/call-graph=fp/ \
	-e sched:sched_migrate_task -e sched:sched_process_fork -e sched:sched_process_exec \
	-e cpu-clock/freq=199,name=cpu-clock,call-graph=fp/ -- sh -c 'sleep 0.2; true' >/dev/null 2>err ||
	{ bad "perf: $(cat err)"; exit 1; }
if paste "terms"; then
	case $line in *--call-graph*) bad "a --call-graph for all: $line" ;; esac
	for ev in migrate_task process_fork process_exec; do
		case $line in *sched:sched_$ev*) ;; *) bad "$ev is left out: $line" ;; esac
	done
	perf evlist -v -i y.data 2>/dev/null | grep '^cpu-clock' | grep -q 'exclude_callchain_user: 1' &&
		bad "cpu-clock lost its user callchains: $line"
fi

# One --call-graph for all beside an event's own takes its user side; the remedy gives it back.
perf record -q -N -o x.data -a --call-graph dwarf,1024 -e sched:sched_switch -e sched:sched_waking \
	-e cpu-clock/freq=499,name=cpu-clock,call-graph=fp/ -- ./$name >/dev/null 2>err ||
	bad "perf: $(cat err)"
if perf evlist -v -i x.data 2>/dev/null | grep '^cpu-clock' | grep -q 'exclude_callchain_user: 1'; then
	paste "mixed" && perf evlist -v -i y.data 2>/dev/null | grep '^cpu-clock' |
		grep -q 'exclude_callchain_user: 1' && bad "still without: $line"
fi

# What perfkit record recorded, it records again, with its probes; another one may be using them.
for try in 1 2 3 4 5; do
	"$PERFKIT" record tail -m 256 -o x.data -- sleep 0.2 >/dev/null 2>err
	rc=$?
	[ $rc = 3 ] || break
	sleep 1
done
if [ $rc = 3 ]; then
	echo "probes of another recording are in use: perfkit record was not tried"
elif [ $rc != 0 ]; then
	bad "perfkit record: $(cat err)"
else
	"$PERFKIT" doctor -v x.data >out
	grep -q '^all together: perf ' out && bad "perf's own line cannot set the probe: $(cat out)"
	if grep -q '^all together: perfkit record tail ' out; then
		for try in 1 2 3 4 5; do
			paste "perfkit record" >why && break
			grep -q 'already exist' why || { cat why; break; }
			failed=0
			sleep 1
		done
	fi
fi
exit $failed
