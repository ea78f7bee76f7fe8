# perfkit record calls: where probes go, and what they count, beside what the program counted itself.
# live: records now, on this machine
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
prog=$O/tests/truth/counted
src=$SRC/tests/truth/counted.c
line() { grep -n "$1" "$src" | sed -n "${2:-1}s/:.*//p"; }
first=$(line 'touch(pages);') last=$(line 'doze(sleeps);')

# addresses that begin an instruction: those that objdump lists
"$PERFKIT" record calls -x "$prog" -r work -r "counted.c:$first-$last" --list >places
grep -q " work begin$" places
grep -q " work return$" places
grep -q " counted.c:$first-$last begin (line $first)$" places
grep -q " counted.c:$first-$last end (line $last)$" places
[ "$(wc -l <places)" = 4 ]
if command -v objdump >/dev/null; then
	objdump -d "$prog" | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' | sort >instructions
	cut -d' ' -f1 places | sort -u | comm -23 - instructions >none
	[ ! -s none ] || { echo "inside of instructions: $(cat none)"; exit 1; }
fi
"$PERFKIT" record calls -x "$prog" --list | grep -q '^0x[0-9a-f]* walk$'

# no guesses
fails()
{
	want=$1
	shift
	"$PERFKIT" record calls "$@" >out 2>err && { echo "calls $*: no error"; exit 1; }
	[ ! -s out ] && grep -qF -- "$want" err || { echo "calls $*: $(cat out err)"; exit 1; }
}
fails "did you mean 'work'" -x "$prog" -r wrok -- "$prog"
fails "no code from a file counter.c" -x "$prog" -r counter.c:3-4 -- "$prog"
fails "no statement begins on line 1 of" -x "$prog" -r counted.c:1-2 -- "$prog"
fails "no statement begins on lines 9000 to 9008 of" -x "$prog" -r counted.c:9000-9009 -- "$prog"
cp "$prog" "a b"
fails "a b: the kernel takes no probe in a file whose path has blanks" -x "a b" -r work --dry-run -- "$prog"
fails "must follow the first" -x "$prog" -r counted.c:9-9 -- "$prog"
fails "or below in that function" -x "$prog" -r "counted.c:$first-9999" -- "$prog"
fails "needs a command, -p or -t" -x "$prog" -r work
fails "needs -r" -x "$prog" -- "$prog"
"$PERFKIT" record tail -r work 2>err && exit 1
grep -q 'apply only to calls' err

# the groups of each perf: since 6.12 it parts software events from probes, unless cycles are there
group() # WORDS, then arguments
{
	want=$1
	shift
	"$PERFKIT" record calls --dry-run -x "$prog" -r work "$@" -- "$prog" >line 2>err || { cat err; exit 1; }
	grep -qF -- "$want" line || { echo "$*: no $want: $(cat line)"; exit 1; }
}
faults=page-faults/period=0,name=page-faults/ ends=perfkit:work:S,perfkit:work__return:S
group "'{$faults,$ends}'" --for-perf 4.18 -e page-faults
group "'{cycles/period=0/,$faults,$ends}'" --for-perf 6.12 -e page-faults
group "'{cpu/event=0x3c,umask=0,period=0/k,$ends}'" --for-perf 6.17 -e cpu/event=0x3c,umask=0/k
group "'{instructions/period=0,name=instructions:u/u,$faults,$ends}'" --for-perf 6.17 -e instructions:u,page-faults
group "-e '{perfkit:work,sched:sched_switch}:S' -e '{perfkit:work__return,sched" --for-perf 6.17 -e sched:sched_switch
group "-e '{perfkit:work,cycles,faults,sched:sched_switch}:S'" --for-perf 6.17 -e faults,sched:sched_switch
events=$(seq -s, -f r%.0f 16)
group "{r1/period=0,name=r1/,r2/" --for-perf 6.17 -e "$events"
fails "at most 16 events" -x "$prog" -r work -e "$events,r17" --dry-run -- "$prog"
fails "there is no process 4194305" -p 4194305 -r work
fails "takes a version" -x "$prog" -r work --for-perf new --dry-run -- "$prog"
fails "--inherit needs perf 6.13" -x "$prog" -r work --for-perf 6.12 --inherit --dry-run -- "$prog"

command -v perf >/dev/null || { echo "perf is not installed"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "probes need root"; exit 77; }
perf probe -l >/dev/null 2>&1 # mounts the kernel's tracing files where nobody has
[ -w /sys/kernel/tracing/uprobe_events ] || { echo "no uprobes here"; exit 77; }
try=0
until "$PERFKIT" record calls -x "$prog" -r work -r walk -r "counted.c:$first-$last" -o live.data -- \
	taskset -c 0 chrt -f 50 "$prog" log.txt --rounds 31 >out 2>&1 ||
	! grep -q 'already exist' out || [ $try -gt 20 ]; do
	try=$((try + 1))
	sleep 1
done
[ -s live.data ] || { echo "cannot record here: $(tail -1 out)"; exit 77; }
# perfkit mounts them, too: tried where nothing else sees it
export PERFKIT prog
unshare -m sh -c 'umount /sys/kernel/tracing && exec "$PERFKIT" record calls -x "$prog" -r walk -o unmounted.data -- "$prog" log.unmounted --rounds 3' \
	>out 2>&1 || grep -Eq 'already exist|unshare|umount' out || { echo "without tracefs: $(cat out)"; exit 1; }
if grep -qs 'perfkit/work\|perfkit/counted_c' /sys/kernel/tracing/uprobe_events; then
	echo "probes are left"
	exit 1
fi
"${PERF:-perf}" evlist -g -i live.data 2>/dev/null | grep -q '^{.*perfkit:work,perfkit:work__return' ||
	{ echo "$("${PERF:-perf}" --version) parted the group: $("${PERF:-perf}" evlist -g -i live.data)"; exit 1; }
for name in work walk; do
	"$PERFKIT" tail -q --by span:$name --csv --top 0 live.data >$name.csv
	python3 "$SRC/tests/truth/check_calls.py" log.txt $name.csv $name
done
# work() touches its pages in those lines, and nothing else there faults
"$PERFKIT" report -q --by span --csv live.data >all.csv
python3 - log.txt "counted_c_${first}_$last" <<'END'
import csv, sys
rows = {r["name"]: r for r in csv.DictReader(open("all.csv"))}
truth = sum(int(l.split()[2]) for l in open(sys.argv[1]) if l.startswith("work-counts"))
lines, work = rows[sys.argv[2]], rows["work"]
assert lines["calls"] == work["calls"], lines
assert int(lines["context-switches"]) == 0, lines
# the first call is not in the log: it touches one page, and meets what is new
first = int(work["page-faults"]) - truth
assert truth <= int(lines["page-faults"]) <= truth + first, (lines, truth, first)
END

# Attached to a thread that runs already, all counters start together: still exact. perf starts its
# command, a sleep, once they count: only then the program goes on, and when it ends, so does perf.
mkdir attached
mkfifo go
cat >attached/sleep <<'END'
#!/bin/sh
echo >go
while [ -e "/proc/$(cat pid)/exe" ]; do /bin/sleep 0.1; done
END
chmod +x attached/sleep
attach() # OPTIONS...
{
	echo $! >pid
	PATH=$PWD/attached:$PATH "$PERFKIT" record calls -p $! -d 1 "$@" >out 2>&1 || { cat out; exit 1; }
	wait $!
}
# Tracepoints are counted by a group for each probe.
taskset -c 0 chrt -f 50 "$prog" later.txt --rounds 31 --go go &
attach -r work -o later.data
"$PERFKIT" tail -q --by span:work --csv --top 0 later.data >later.csv
"$PERFKIT" record calls -x "$prog" -r work -e page-faults,sched:sched_switch -o mixed.data -- \
	taskset -c 0 chrt -f 50 "$prog" mixed.txt --rounds 11 >out 2>&1
"$PERFKIT" tail -q --by span:work --csv --top 0 mixed.data >mixed.csv
python3 - <<'END'
import csv
def truth(path):
    return [tuple(map(int, l.split()[2:])) for l in open(path) if l.startswith("work-counts")]
rows = sorted(csv.DictReader(open("later.csv")), key=lambda r: int(r["end_ns"]))
assert all(r["page-faults_error"] == "0" for r in rows), rows[:3]
counted, logged = [(int(r["page-faults"]), int(r["context-switches"])) for r in rows], truth("later.txt")
assert counted[1:] == logged[1:] and len(counted) == 31, counted # the first call meets what the probe is new to
rows = sorted(csv.DictReader(open("mixed.csv")), key=lambda r: int(r["end_ns"]))
logged = truth("mixed.txt")
for r, (faults, switches) in zip(rows[-len(logged):], logged):
    assert (int(r["page-faults"]), int(r["sched:sched_switch"])) == (faults, switches), (r, faults, switches)
END

# What the probes take is measured and left out, and said for each call.
cc=$(command -v gcc || command -v cc) || { echo "no compiler: the cost of probes is not tried"; exit 0; }
cat >nothing.c <<'END'
#ifdef __x86_64__
__asm__(".type nothing,@function\nnothing: push %rbp\n\tpop %rbp\n\tret\n.size nothing,.-nothing\n");
#else
__attribute__((noinline)) void nothing(void) { __asm__ volatile(""); }
#endif
void nothing(void);
__attribute__((noinline)) void lines(void)
{
	__asm__ volatile("nop"); /* begin */
	__asm__ volatile("nop"); /* end */
}
int main(void)
{
	for (int i = 0; i < 300; i++) {
		nothing();
		lines();
	}
}
END
$cc -O1 -g nothing.c -o nothing
first=$(grep -n 'begin' nothing.c | cut -d: -f1)
"$PERFKIT" record calls -r nothing -r "nothing.c:$first-$((first + 1))" -o nothing.data -- ./nothing >out 2>&1 ||
	{ cat out; exit 1; }
for name in nothing "nothing_c_${first}_$((first + 1))"; do
	"$PERFKIT" tail -q --by span:$name --csv --top 0 nothing.data >nothing.csv
	"${PERF:-perf}" script --ns -F time,event -i nothing.data 2>/dev/null | grep -E "perfkit:$name(__return|_begin|_end)?:" >nothing.times
	"$PERFKIT" tail -q --by span:$name --top 1 nothing.data >nothing.text
	tr -s ' \n' ' ' <nothing.text | grep -q 'probe-cost [0-9.]* [un]s (measured' || { cat nothing.text; exit 1; }
	python3 - "$(uname -m)" <<'END'
import csv, sys
rows = sorted(csv.DictReader(open("nothing.csv")), key=lambda r: int(r["end_ns"]))
times = [int(l.split(":")[0].replace(".", "")) for l in open("nothing.times")]
raw = [b - a for a, b in zip(times[::2], times[1::2])]
assert len(rows) == 300, len(rows)
assert sorted(int(r["duration_ns"]) + int(r["probe-cost"]) for r in rows) == sorted(raw), raw[:5]
lengths = sorted(int(r["duration_ns"]) for r in rows)
clocks = sorted(int(r["task-clock"]) for r in rows)
cost = max(int(r["probe-cost"]) for r in rows)
assert cost > 100, cost
if sys.argv[1] == "x86_64": # it begins as one of those that were measured
    assert lengths[150] < cost / 2, (lengths[150], cost)
    assert clocks[150] < cost / 2, (clocks[150], cost)
END
done

# A burst of calls fits into the rings of threads that run already.
cat >burst.c <<'END'
#include <fcntl.h>
__attribute__((noinline)) void called(void) { __asm__ volatile(""); }
int main(void)
{
	if (open("go", O_RDONLY) < 0)
		return 1;
	for (int i = 0; i < 20000; i++)
		called();
}
END
$cc -O1 burst.c -o burst
./burst &
attach -r called -o burst.data
"$PERFKIT" report -q --by span --csv burst.data | cut -d, -f1,2 | grep -qx 'called,20000' ||
	{ "$PERFKIT" report --by span burst.data; exit 1; }
