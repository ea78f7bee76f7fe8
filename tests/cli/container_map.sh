#!/bin/sh
# Generated code in a container: its perf map is read at /proc/PID/root/tmp. The sandbox keeps perfkit
# out of there; the answer then says so, and how to get in.
# live: a process in a namespace of its own has to run
set -u
unset DEBUGINFOD_URLS
cat >jit.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline, aligned(64))) int spin(int n)
{
	volatile int s = 0;
	for (int i = 0; i < n; i++)
		s += i;
	return s;
}
int main(void)
{
	char path[64];
	char *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, (void *)spin, 256);
	__builtin___clear_cache(code, code + 256);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "w");
	fprintf(f, "%lx 1000 in_the_container\n", (long)code);
	fclose(f);
	for (time_t end = time(0) + 60; time(0) < end;)
		((int (*)(int))code)(100000000);
	return 0;
}
C
${CC:-cc} -O1 -fno-stack-protector -o jit-inside jit.c 2>cc.err || { echo "no compiler: $(head -1 cc.err)"; exit 77; }
cat >inside.sh <<'S'
mount -t tmpfs none /tmp && exec "$0"
S
unshare -m -p -f --mount-proc true 2>/dev/null || { echo "no namespaces here"; exit 77; }
cp jit-inside /var/tmp/jit-inside.$$ || exit 77
trap 'kill -9 $inside 2>/dev/null; kill $runner 2>/dev/null; rm -f /var/tmp/jit-inside.$$' EXIT
inside='' runner=''
unshare -m -p -f --mount-proc --kill-child sh -c "$(cat inside.sh)" /var/tmp/jit-inside.$$ &
runner=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.3
	inside=$(pgrep -f "^/var/tmp/jit-inside.$$" | tail -1)
	[ -n "$inside" ] && [ -e "/proc/$inside/root/tmp/perf-1.map" ] && break
done
[ -e "/proc/$inside/root/tmp/perf-1.map" ] || { echo "nothing runs in a namespace here"; exit 77; }
perf record -q -e cpu-clock:u -F 499 -p "$inside" -o run.data -- sleep 1.5 2>perf.err ||
	{ echo "no recording: $(head -1 perf.err)"; exit 77; }
"$PERFKIT" collapse -q --no-sandbox run.data >open 2>err
grep -q 'in_the_container' open || { echo "not sandboxed: $(cat open err)"; exit 1; }
"$PERFKIT" collapse -q run.data >closed
cmp -s open closed && exit 0 # the kernel has no Landlock
"$PERFKIT" report -v run.data >told 2>err
tr -s '\n ' ' ' <told | grep -q "perf-1.map: Permission denied) add --no-sandbox" ||
	{ echo "in the sandbox: $(cat told err)"; exit 1; }
# A process that sees this root folder has no map elsewhere to be kept from.
kill -9 "$inside"
for i in 1 2 3 4 5 6 7 8 9; do [ -e "/proc/$inside" ] && sleep 0.3; done
"$PERFKIT" report -v run.data >told 2>err
grep -q 'Permission denied' told && { echo "ended: $(cat told)"; exit 1; }
exit 0
