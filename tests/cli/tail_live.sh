# perfkit tail on recordings made here: a thread called "archiver" holds a mutex for 12 ms; it must be
# the root of the worst waits every time. Recordings that cannot answer are refused, with the line
# that would have been right.
# live: records now, on this machine
set -eu
command -v cc >/dev/null || { echo "no cc here"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
perf record -q -a -e sched:sched_switch -o probe.data -- true >/dev/null 2>&1 ||
	{ echo "perf may not record the whole machine here"; exit 77; }
cat >held.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int done, x;
static void nap(long us) { struct timespec t = {0, us * 1000}; nanosleep(&t, 0); }
__attribute__((noipa)) void copy_to_tape(void) { nap(12000); x++; }
__attribute__((noipa)) void archive(void)
{
	pthread_mutex_lock(&m);
	copy_to_tape();
	pthread_mutex_unlock(&m);
	x++;
}
__attribute__((noipa)) void take_call(void)
{
	pthread_mutex_lock(&m);
	for (volatile int i = 0; i < 2000; i++) ;
	pthread_mutex_unlock(&m);
	x++;
}
static void *archiver(void *a)
{
	prctl(PR_SET_NAME, "archiver");
	while (!done) { nap(40000); archive(); }
	return a;
}
static void *operator(void *a)
{
	prctl(PR_SET_NAME, "operator");
	while (!done) { nap(300); take_call(); }
	return a;
}
/* loud and innocent: sleeps far longer than anybody waits */
static void *dreamer(void *a)
{
	prctl(PR_SET_NAME, "dreamer");
	while (!done) nap(150000);
	return a;
}
int main(void)
{
	pthread_t t[4];
	pthread_create(&t[0], 0, archiver, 0);
	pthread_create(&t[1], 0, operator, 0);
	pthread_create(&t[2], 0, operator, 0);
	pthread_create(&t[3], 0, dreamer, 0);
	nap(700000);
	done = 1;
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	return 0;
}
C
cc -O1 -g -fno-omit-frame-pointer -pthread -o held held.c
chrt -f 50 true 2>/dev/null && rt="chrt -f 50" || rt=
# On one CPU: some virtual machines lose the switches of another's idle task.
taskset -c 0 true 2>/dev/null && rt="taskset -c 0 $rt"
events=sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new
# the lock is called as its variable, wherever the program was put in memory
names_the_lock()
{
	"$PERFKIT" report -q --by lock --comm operator --json held.data >locks.json
	python3 - locks.json "$(nm held | sed -n 's/ b m$//p')" <<'PY'
import json, sys
named = [r for r in json.load(open(sys.argv[1]))["rows"] if r["lock"]]
if [r["lock"] for r in named] != ["held: m"] or (int(named[0]["address"], 16) ^ int(sys.argv[2], 16)) & 0xfff:
    sys.exit("which lock: " + str(named))
PY
}
# With frame pointers, the C library's leaf functions hide their callers; copies of the stack do not.
for how in fp dwarf,2048 fp; do
	got=3
	for try in 1 2 3 4; do
		perf record -q -a -m 2048 --call-graph $how -e $events -o held.data -- $rt ./held \
			>/dev/null 2>&1
		got=0
		"$PERFKIT" tail -q held.data --comm operator --p99 --json >held.json 2>err || got=$?
		[ $got = 3 ] && grep -q "cannot say" err || break
	done
	[ $got != 3 ] || { echo "four recordings lost scheduler records here: $(tail -1 err)"; exit 77; }
	[ $got = 0 ] || { cat err; exit 1; }
	python3 "$SRC/tests/cli/tail_schema.py" held.json
	python3 - held.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
r = d["groups"][0]["root"]
print(r, d["groups"][0]["count"], "of", len(d["episodes"]))
if r["comm"] != "archiver":
    sys.exit("rank 1 is not the archiver")
if not 3e6 < d["episodes"][0]["duration_ns"]:
    sys.exit("the worst wait is too short")
# with frame pointers the frame between nap() and archive() may be all that is left
if r["function"] not in ("copy_to_tape", "archive", "nap"):
    sys.exit("rank 1 is in " + str(r["function"]))
PY
	case $how in dwarf*) names_the_lock ;; esac
done
# The same without registers, from the probe that tells a mutex and its owner.
if [ "$(uname -m)" = x86_64 ] && libc=$(ldd held | sed -n 's/.* => \(.*libc\.so[^ ]*\).*/\1/p') &&
	perf probe -q -x "$libc" --add "pktest$$:lock_wait=__lll_lock_wait mutex=%di:x64 owner=+8(%di):s32" 2>/dev/null; then
	trap 'perf probe -q -d "pktest$$:*"' EXIT
	perf record -q -a -m 2048 -g -e "$events,pktest$$:lock_wait" -o held.data -- $rt ./held >/dev/null 2>&1
	names_the_lock
else
	echo "no probe on the C library here: locks by probes were not tried"
fi
"$PERFKIT" tail -q held.data --comm dreamer --json >dreamer.json
python3 -c 'import json
d = json.load(open("dreamer.json"))
assert d["unclear"]["count"] >= 2 and d["unclear"]["max_ns"] > 50e6, d["unclear"]
assert (d["population"]["max_ns"] or 0) < 50e6, "sleeps in a loop were ranked"'

refused()
{
	got=0
	"$PERFKIT" tail bad.data >out 2>err || got=$?
	[ $got = 3 ] || { echo "exit $got, not 3: $1"; cat err; exit 1; }
	grep -q "record with: perfkit record tail$" err || { echo "$1: no right line"; cat err; exit 1; }
}
perf record -q -a -F 99 -e sched:sched_switch -o bad.data -- sleep 0.2 >/dev/null 2>&1
refused "sched_switch was sampled"
perf record -q -e sched:sched_switch,sched:sched_waking -o bad.data -- ./held >/dev/null 2>&1
refused "one command only"
got=0
"$PERFKIT" tail --force bad.data --details 0 >out 2>err || got=$?
[ $got = 0 ] || [ $got = 3 ] || { echo "--force: exit $got"; exit 1; }
perf record -q -F 99 -e cpu-clock -a -o bad.data -- sleep 0.1 >/dev/null 2>&1
refused "no scheduler events"

# No wakeups recorded: says so, and which event would have told.
perf record -q -a -m 2048 -g -e sched:sched_switch -o nowake.data -- $rt ./held >/dev/null 2>&1
"$PERFKIT" tail -q nowake.data --comm operator --top 2 >out
grep -q "missing .* -e sched:sched_waking shows who ends a wait" out || { cat out; exit 1; }
