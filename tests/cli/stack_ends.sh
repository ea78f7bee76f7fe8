#!/bin/sh
# Where a stack ends other than at its root, it says so: a page of the stack that nothing touched,
# more frames than are kept, code without unwind information, split DWARF that is not at hand.
# The programs are made for it, so how each stack goes is known.
# beside: records now, on this machine
command -v perf >/dev/null 2>&1 || { echo "no perf here"; exit 77; }
perf record -q -e cpu-clock:u -o probe.data -- true >/dev/null 2>&1 ||
	{ echo "perf cannot record here"; exit 77; }
cat >ends.c <<'EOF'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#define OUT __attribute__((noinline, noclone))
volatile unsigned long sink;
static inline void turn(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink = sink * 31 + i;
}
OUT void spin(unsigned long n)
{
	turn(n);
	sink++;
}
OUT void roomy(void)
{
	volatile char room[40000]; /* its pages are never touched but for the first */
	room[0] = 1;
	spin(50000000);
	sink += (unsigned long)room[0];
}
OUT void down(int n)
{
	if (n)
		down(n - 1);
	else
		spin(50000000);
	sink++;
}
static void handler(int sig)
{
	spin(50000000);
	_exit(sig != SIGSEGV);
}
OUT void interrupted(int flags)
{
	static char memory[1 << 20];
	int *volatile nowhere = (int *)8;
	stack_t own = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
	sigaltstack(&own, NULL);
	sigaction(SIGSEGV, &a, NULL);
	*nowhere = 1;
	sink++;
}
int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 0;
	if (depth < 0)
		interrupted(depth == -1 ? SA_ONSTACK : 0);
	else if (depth)
		down(depth);
	else
		roomy();
	sink++;
	return 0;
}
EOF
cc -O2 -o ends ends.c || { echo "no compiler"; exit 77; }
cc -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -o bare ends.c
cc -O2 -fno-omit-frame-pointer -o fp ends.c
failed=0

# name, perf's arguments: NAME.folded, NAME.ids
record()
{
	name=$1
	shift
	perf record -q -N -F 499 -e cpu-clock:u -o $name.data "$@" >/dev/null 2>perf.err ||
		{ echo "$name: $(tail -1 perf.err)"; failed=1; }
	"$PERFKIT" collapse $name.data >$name.folded 2>$name.err
	"$PERFKIT" doctor -v $name.data >$name.doctor
	sed -n 's/^ *\[\([a-z-]*\)\]$/\1/p' $name.doctor >$name.ids
}
# most of the weight is of stacks that match
expect()
{
	awk -v re="$2" '{ all += $NF } $0 ~ re { n += $NF } END { exit !(n > 0.8 * all) }' $1.folded ||
		{ echo "$1: few stacks are $2:"; sort -t' ' -k2n $1.folded | tail -3; failed=1; }
}
id()
{
	grep -qx $2 $1.ids || { echo "$1: doctor does not say $2"; cat $1.doctor; failed=1; }
}
no_id()
{
	! grep -qx $2 $1.ids || { echo "$1: doctor says $2"; cat $1.doctor; failed=1; }
}

record hole --call-graph dwarf,65528 ./ends
expect hole '^ends;[[]truncated];roomy;spin '
id hole unrooted-stacks
no_id hole truncated-dumps
grep -q 'could not be followed to the outermost caller' hole.err || { echo "collapse says nothing"; failed=1; }

record deep --call-graph dwarf,65528 ./ends 1500
expect deep '^ends;[[]truncated];down;down;.*;down;spin '
[ "$(tr ' ' ';' <deep.folded | awk -F';' 'NF > max { max = NF } END { print max }')" = 1027 ] ||
	{ echo "deep: not 1024 frames between comm, mark and weight"; failed=1; }
id deep deep-stacks
"$PERFKIT" collapse --max-stack 2000 deep.data >deep.folded
expect deep ';main;down;down;.*;down;spin '
record shallow --call-graph dwarf,65528 ./ends 50
expect shallow ';main;down;down;.*;down;spin '
no_id shallow deep-stacks
no_id shallow unrooted-stacks

# the handler's stack is copied, the other one is not; frame pointers lead to it
record own --call-graph dwarf ./ends -1
expect own '^ends;[[]truncated];interrupted;__restore_rt;(handler;)?spin '
id own unrooted-stacks
no_id own truncated-dumps
grep -q 'at a signal handler with a stack of its own' own.doctor || { echo "own: doctor does not say where"; cat own.doctor; failed=1; }
record same --call-graph dwarf ./ends -2
expect same ';main;interrupted;__restore_rt;(handler;)?spin '
no_id same unrooted-stacks
record own-chain -g ./fp -1
expect own-chain ';main;(interrupted;)?__restore_rt;(handler;)?spin '

record chain -g ./fp 1500
id chain deep-stacks
record short-chain -g ./fp 50
no_id short-chain deep-stacks

# What the frame pointer register holds where a process begins is no frame: here, a pointer to a function.
if [ "$(uname -m)" = x86_64 ]; then
	cat >planted.c <<'EOP'
__asm__(".globl _start\n_start: lea planted(%rip), %rbp\n call work\n mov $60, %eax\n xor %edi, %edi\n syscall\n"
	".data\nplanted: .quad 0\n .quad never_called\n.text\n");
volatile unsigned long sink;
__attribute__((used)) static void before(void) { sink++; }
__attribute__((used)) void never_called(void) { sink += 2; }
__attribute__((noinline)) static void spin(void)
{
	for (unsigned long i = 0; i < 100000000; i++)
		sink = sink * 31 + i;
}
__attribute__((used)) void work(void)
{
	spin();
	sink++;
}
EOP
	cc -O1 -fno-omit-frame-pointer -fcf-protection=none -nostdlib -static -o planted planted.c
	record planted -g ./planted
	expect planted '^planted;_start;(work;)?spin '
	! grep -Eq 'never_called|before' planted.folded || { echo "planted: a frame above _start"; failed=1; }
fi

record bare --call-graph dwarf ./bare 3
id bare unrooted-stacks

if cc -O2 -g -gsplit-dwarf -o split ends.c 2>/dev/null && ls ./*.dwo >/dev/null 2>&1; then
	record split --call-graph dwarf ./split 3
	expect split ';down;spin;turn '
	no_id split debug-parts-missing
	rm -f ./*.dwo
	"$PERFKIT" collapse split.data >split.folded 2>split.err
	expect split ';down;spin '
	"$PERFKIT" doctor -v split.data | grep -q '\[debug-parts-missing\]' ||
		{ echo "split: a missing .dwo is not told"; failed=1; }
	grep -q 'debug information could not be used' split.err ||
		{ echo "split: collapse does not tell"; failed=1; }
fi
exit $failed
