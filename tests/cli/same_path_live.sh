#!/bin/sh
# Which file was which, of several at one path: an upgrade while recording, a mount namespace, a
# chroot. perfkit record lists what settles it; without that, only what the host still shows.
# beside: records now, on this machine
command -v perf >/dev/null || { echo "perf is not installed"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
cat >app.c <<'C'
#include <time.h>
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
#ifdef NEW
__attribute__((noinline, used)) static void unrelated(void) { __asm__ volatile(".skip 128, 0x90"); }
#endif
__attribute__((noinline)) void LEAF(double s)
{
	for (double e = now() + s; now() < e;)
		for (int i = 0; i < 20000; i++)
			sink = sink * 1103515245 + 12345;
}
int main(int c, char **v)
{
	LEAF(atof(v[1]));
	return sink == 7;
}
C
cc="${CC:-cc} -O1 -fno-omit-frame-pointer"
$cc -DLEAF=old_build app.c -o old && $cc -DNEW -DLEAF=new_build app.c -o new &&
	$cc -static -DNEW -DLEAF=inside app.c -o inside || { echo "no compiler here"; exit 77; }
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
leaves() { "$PERFKIT" collapse -q "$@" | sed "s/ [0-9]*$//; s/.*;//" | grep -e _build -e inside -e unrelated -e "\[app\]" | sort -u | tr "\n" " "; }
is() { [ "$2" = "$3" ] || bad "$1: $2, not $3"; }
d=$PWD
upgrade='cp old app.new; mv app.new app; ./app 0.3; cp new app.new; mv app.new app; ./app 0.3'
"$PERFKIT" record cpu --stacks fp -o up.data -- sh -c "$upgrade" >/dev/null 2>&1 || { echo "perf cannot record here"; exit 77; }
is "upgrade, listed" "$(leaves up.data)" "[app] new_build "
perf record -q --buildid-all -e cpu-clock -g -o plain.data -- sh -c "$upgrade" >/dev/null 2>&1
is "upgrade, on its host" "$(leaves plain.data)" "[app] new_build "
is "upgrade, elsewhere" "$(leaves --no-local --symfs / plain.data)" "[app] "
# cp writes into the file that is there: one inode, two programs
rm -f app
over='cp old app; ./app 0.3; sleep 0.02; cp new app; ./app 0.3'
perf record -q -k mono --buildid-all -e cpu-clock -g -o over.data -- sh -c "$over" >/dev/null 2>&1
is "written over, on its host" "$(leaves over.data)" "[app] "
"$PERFKIT" pack -q over.data -o over.tar.zst
is "written over, its bundle" "$(leaves --no-local --symfs / over.tar.zst)" "[app] "
rm -f app
"$PERFKIT" record cpu --stacks fp -o overl.data -- sh -c "$over" >/dev/null 2>&1
is "written over, listed" "$(leaves --no-local --symfs / overl.data)" "[app] "
is "written before it ran" "$("$PERFKIT" record cpu --stacks fp -o made.data -- sh -c 'rm -f app; cp new app; sleep 0.02; ./app 0.3' >/dev/null 2>&1
	leaves made.data)" "new_build "
# both still run when perf ends; then the path is another file's
cp -f old app
./app 4 & a=$!
if unshare -m true 2>/dev/null; then
	unshare -m sh -c 'mount --bind new app && exec ./app 4' & b=$!
	sleep 0.5
	"$PERFKIT" record cpu --stacks fp -p $a,$b -d 1 -o ns.data >/dev/null 2>&1
	for f in old new; do
		id=$(readelf -n $f | sed -n 's/.*Build ID: //p')
		mkdir -p "cache/.build-id/${id%"${id#??}"}/${id#??}"
		cp $f "cache/.build-id/${id%"${id#??}"}/${id#??}/elf"
	done
	is "two roots, listed" "$(leaves --buildid-dir cache --no-local ns.data)" "new_build old_build "
	kill $b
fi
kill $a
# the same path outside is another program's
mkdir -p root$d
cp inside root$d/app
cp -f new app
perf record -q --buildid-all -e cpu-clock -g -o ch.data -- chroot root "$d/app" 0.3 >/dev/null 2>&1
is "chroot, on its host" "$(leaves ch.data)" "[app] "
"$PERFKIT" pack -q ch.data -o ch.tar.zst
is "chroot, its bundle" "$(leaves --no-local --symfs / ch.tar.zst)" "[app] "
"$PERFKIT" record cpu --stacks fp -o chl.data -- chroot root "$d/app" 0.3 >/dev/null 2>&1
is "chroot, listed" "$(leaves --no-local --symfs / chl.data)" "[app] "
exit $((fails > 0))
