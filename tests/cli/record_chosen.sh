# live: two recordings of the same seconds, one with everybody's stacks, one with a service's only
#
# The service makes some 5 % of the switches: its recording takes a tenth of the bytes, and names
# the same waits, as long, with the same causes and roots.
perf=$(command -v perf) || { echo "perf is not installed"; exit 77; }
cc=$(command -v gcc || command -v cc) || { echo "no compiler"; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo "no python3 here"; exit 77; }
command -v perl >/dev/null 2>&1 || { echo "no perl here"; exit 77; }
HOME=$PWD # perf keeps copies of binaries in ~/.debug
export HOME
"$perf" record -q -a -e sched:sched_switch -o probe.data -- true 2>/dev/null ||
	{ echo "perf may not record tracepoints here"; exit 77; }
$cc -O1 -g -pthread "$SRC/tests/workload/few_waits.c" -o few || exit 1
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }

./few &
service=$!
trap 'kill $service 2>/dev/null' EXIT
sleep 0.3
"$PERFKIT" record offcpu --recorder perf --duration 4 -o all.data >/dev/null 2>err.all &
all=$!
"$PERFKIT" record offcpu --recorder perf -p $service --duration 4 -o some.data >/dev/null 2>err.some &
some=$!
wait $all || bad "all: $(cat err.all)"
wait $some || bad "some: $(cat err.some)"

# Every way to choose gives a line that perf takes, and stacks of nobody else.
threads() { "$perf" script -i "$1" -F comm,event,ip -e sched:sched_switch 2>/dev/null; }
try() # NAMES-ALLOWED OPTIONS...
{
	allowed=$1
	shift
	"$PERFKIT" record offcpu "$@" --stacks fp -o try.data -- sleep 0.3 >/dev/null 2>err ||
		{ bad "$*: $(cat err)"; return; }
	"$perf" script -i try.data -F comm,event,ip 2>/dev/null >script
	awk -v ok="^($allowed)\$" '
		/^[^ \t]/ || /sched:/ { name = $1; on = /sched_switch/; next }
		NF && on { n++; if (name !~ ok) others++; on = 0 }
		END { print n + 0, others + 0 }' script >counts
	read n others <counts
	[ "$n" -gt 0 ] && [ "$others" = 0 ] || bad "$*: $n stacks, $others of others: $(sort script | uniq -c | sort -rn | head -5)"
}
# copies are as large as the deepest wait needs, which a thread is seldom in
cat >seldom.c <<'END'
#include <unistd.h>
__attribute__((noinline)) void request(void)
{
	volatile char text[6000] = {1};
	usleep(6000);
	text[1] = text[0];
}
int main(void)
{
	for (;; request())
		usleep(30000);
}
END
$cc -O1 seldom.c -o seldom && {
	./seldom &
	seldom=$!
	sleep 0.1
	"$PERFKIT" record offcpu -p $seldom --dry-run --no-estimate >out 2>err
	kill $seldom
	size=$(grep -o 'stack-size=[0-9]*' out | head -1 | tr -dc 0-9)
	[ "${size:-0}" -ge 8000 ] || bad "copies of $size bytes do not hold a stack of 6 kB: $(cat out err)"
}
# frame pointers are chosen for a program that waits by system calls of its own and has them, not for the
# same program without them, nor if the C library, which has none here, is what waits
cat >own.c <<'END'
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
__attribute__((noinline)) void rest(void)
{
	struct timespec t = {0, 4000000};
#ifdef LIBC
	nanosleep(&t, 0);
#elif defined __x86_64__
	long r = SYS_nanosleep;
	__asm__ volatile("syscall" : "+a"(r) : "D"(&t), "S"(0) : "rcx", "r11", "memory");
#endif
	__asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		rest();
	__asm__ volatile("" ::: "memory");
}
int main(void)
{
	for (;;)
		deep(5);
}
END
kind() # GRAPH SAID FLAGS...
{
	graph=$1 said=$2
	shift 2
	$cc -O1 "$@" own.c -o own || { bad "own.c with $*"; return; }
	./own &
	own=$!
	sleep 0.1
	"$PERFKIT" record offcpu -p $own --dry-run --no-estimate >out 2>why || bad "$*: $(cat why)"
	[ "$graph" = dwarf,stack-size= ] || {
		"$PERFKIT" record offcpu --recorder perf -p $own -d 1 -o own.data >/dev/null 2>err &&
			"$PERFKIT" record --like own.data >like 2>err || bad "--like: $(cat err)"
		[ "$(cat like)" = "perfkit record offcpu --comm own -- sleep 1" ] || bad "--like: $(cat like)"
		"$PERFKIT" collapse -q --offcpu --comm own own.data 2>err | grep -q '^own;.*;main;deep;deep;deep;deep;deep;deep;rest;' ||
			bad "stacks by frame pointers: $(cat err)"
	}
	kill $own
	set -- "$graph" "$said" "$*"
	grep -q "sched_switch/call-graph=$1" out || bad "$3: not by $1: $(cat out err)"
	grep -Eq "^# $2: in a trial, [0-9]+ of [0-9]+ waits had" why || grep -q 'too few waits' why || bad "$3: $(cat why)"
}
case $(uname -m) in x86_64)
	kind 'fp/ .*--user-regs=di,si,dx -o' 'stacks by frame pointers' -fno-omit-frame-pointer
	kind dwarf,stack-size= 'stack copies of [0-9]+ bytes' -fomit-frame-pointer
	kind dwarf,stack-size= 'stack copies of [0-9]+ bytes' -fomit-frame-pointer -DLIBC
esac
# a process that gets another name while it is recorded
sh -c 'sleep 1; exec perl -e "for (1 .. 400) { select undef, undef, undef, 0.01 }"' &
later=$!
"$PERFKIT" record offcpu -p $later --stacks fp --duration 3 -o exec.data >/dev/null 2>err || bad "exec: $(cat err)"
kill $later
"$PERFKIT" collapse -q --offcpu --comm perl exec.data 2>err | grep -q '^perl;.*schedule' || bad "perl has no stacks: $(cat err)"
tid=$(grep -l svc-front /proc/$service/task/*/comm | cut -d/ -f5)
try 'few|svc-front|svc-snap' -p $service
try svc-front -t "$tid"
try 'svc-.*' --comm 'svc-*'
"$PERFKIT" record offcpu -C 0 --stacks fp -o try.data -- sleep 0.3 >/dev/null 2>err || bad "-C: $(cat err)"
group=$(sed -n 's/^0:://p; s/^[1-9][0-9]*:memory://p' /proc/$service/cgroup | grep -v '^/$' | head -1)
[ -z "$group" ] || "$PERFKIT" record offcpu -G "$group" --stacks fp -o try.data -- sleep 0.3 >/dev/null 2>err ||
	grep -q 'more names than' err || bad "-G $group: $(cat err)"
kill $service

a=$(wc -c <all.data) s=$(wc -c <some.data)
echo "everybody's stacks: $a bytes; the service's: $s bytes"
[ $((s * 10)) -le "$a" ] || bad "not a tenth"
"$PERFKIT" record --like some.data >like 2>err || bad "--like: $(cat err)"
grep -Eq "^perfkit record offcpu --comm '?(few|svc-(front|snap)|,)*'? --call-graph dwarf,[0-9]+ .*-- sleep 4" like || bad "--like: $(cat like)"
"$PERFKIT" report -v some.data 2>/dev/null | tr -s ' \n' ' ' | grep -q 'of them with a stack' || bad "report does not say how many waits have a stack"
# An answer about everybody says whose stacks there are; one about them does not.
want="only chosen threads were recorded with stacks, those of process $service (few); add --pid $service to ask about it"
for ask in "tail --all --details 0" "report --all" "collapse --offcpu" "svg --all --offcpu -o x.svg" "timeline --all -o x.svg" "html --all -o x.html"; do
	"$PERFKIT" $ask some.data 2>err >/dev/null
	[ "$(grep -c "$want" err)" = 1 ] || bad "$ask does not say once whose stacks there are: $(cat err)"
done
"$PERFKIT" tail -q --details 0 some.data | tr -s ' \n' ' ' | grep -q '(few, which was recorded; --all for the whole machine)' ||
	bad "tail is not about the chosen process"
for o in "--pid $service some.data" some.data "-q --all some.data" all.data; do
	"$PERFKIT" tail --details 0 $o 2>err >/dev/null
	! grep 'only chosen threads' err || bad "tail $o says whose stacks there are"
done
# A busy machine starts one of them seconds later, and loses records: the same seconds are compared.
nothing() # WHOSE
{
	echo "records of $1 were lost: nothing to compare"
	[ $fails = 0 ] && exit 77
	exit 1
}
ask() # OPTIONS...
{
	for f in all some; do
		"$PERFKIT" tail --comm svc-front --top 40 --json "$@" $f.data >$f.json 2>err || {
			grep -q 'refused' err && nothing all
			bad "tail $f: $(cat err)"
		}
		"$PERFKIT" doctor --json $f.data 2>/dev/null | grep -q '"id":"lost-' &&
			nothing $f
	done
}
ask
both=$(python3 -c '
import json
r = [json.load(open(f + ".json"))["recording"] for f in ("all", "some")]
ns = [int(x["origin_ns"]) for x in r], [int(x["origin_ns"]) + x["duration_ns"] for x in r]
print("%d.%09d,%d.%09d" % (*divmod(max(ns[0]), 10**9), *divmod(min(ns[1]), 10**9)))')
ask --time "$both"
python3 - <<'E2' || bad "the answers differ"
import json, sys
a, s = (json.load(open(f + ".json")) for f in ("all", "some"))
def episodes(x):
    origin = int(x["recording"]["origin_ns"])
    return {origin + e["start_ns"]: e for e in x["episodes"]}, origin, origin + x["recording"]["duration_ns"]
(ea, a0, a1), (es, s0, s1) = episodes(a), episodes(s)
lo, hi = max(a0, s0) + 300_000_000, min(a1, s1) - 300_000_000
shortest = max(min(e["duration_ns"] for e in x.values()) for x in (ea, es)) * 1.1 + 50_000
seen = wrong = 0
for t, e in es.items():
    if not lo < t < hi or e["duration_ns"] < shortest or e["suspect"] or e["open"]:
        continue
    near = min(ea, key=lambda u: abs(u - t))
    o = ea[near]
    seen += 1
    def root(e):
        r = e["root"] or {}
        own = str(r.get("comm")) in ("svc-front", "svc-snap", "few")  # others have no stacks
        return r.get("comm"), r.get("cause"), own and r.get("function")
    def facts(e):
        return e["cause"], e["stack"], root(e)
    same = abs(near - t) < 200_000 and abs(o["duration_ns"] - e["duration_ns"]) < 200_000 and \
        facts(o) == facts(e)
    if not same and not o["suspect"]:
        wrong += 1
        print("differs:", near - t, o["duration_ns"] - e["duration_ns"],
              *[x for x in zip(facts(o), facts(e)) if x[0] != x[1]])
pa, ps = a["population"], s["population"]
for k in ("p50_ns", "p90_ns"):
    if None in (pa[k], ps[k]):
        print("left out:", k, "which too many waits next to missing records leave open")
    elif abs(pa[k] - ps[k]) > 0.3 * pa[k] + 20_000:
        print(k, pa[k], ps[k]); wrong += 1
print(seen, "episodes compared")
sys.exit(not seen or wrong > 0)
E2
[ $fails = 0 ]
