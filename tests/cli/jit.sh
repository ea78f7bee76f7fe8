#!/bin/sh
# Generated code is named wherever its maps lie: /tmp, beside the recording, below --symfs, in a
# container's root where the process has another number; and by real run times.
# live: records now, on this machine
[ "$(uname -m)" = x86_64 ] || { echo "the generated code is x86-64"; exit 77; }
perf=$(command -v perf) || { echo "perf is not installed"; exit 77; }
for tool in node javac go; do command -v $tool >/dev/null || echo "left out: $tool"; done
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
HOME=$PWD/home
export HOME
mkdir home app
${CC:-gcc} -O1 -g "$SRC/tests/workload/jit.c" -o app/jit || { echo "no compiler here"; exit 77; }
record() { "$perf" record -q -N -k CLOCK_MONOTONIC -e cpu-clock:u -F 999 "$@" 2>err; }
record -g -o map.data app/jit map >/dev/null || { cat err; echo "perf cannot record here"; exit 77; }
pid=$("$perf" script -i map.data -F pid 2>/dev/null | sed -n '1s/ //gp;q')
named() { "$PERFKIT" collapse -q "$@" map.data >out; grep -q 'jitted_loop' out; }
named || bad "not named from /tmp"
mv "/tmp/perf-$pid.map" .
named || bad "not named from beside the recording"
mkdir other && mv "perf-$pid.map" other
named && bad "named from nowhere"
mkdir -p fs1/tmp "fs2/proc/$pid/root/tmp" "fs3/proc/$pid/root/tmp" "fs4/proc/$pid/root/tmp"
cp "other/perf-$pid.map" fs1/tmp
named --symfs fs1 || bad "not named from symfs/tmp"
cp "other/perf-$pid.map" "fs2/proc/$pid/root/tmp/perf-7.map"
named --symfs fs2 || bad "not named by a container's only map"
echo "10 10 wrong" >"fs2/proc/$pid/root/tmp/perf-8.map"
named --symfs fs2 && bad "one of two maps was guessed"
printf 'Name:\tjit\nNSpid:\t%d\t1\t7\n' "$pid" >"fs2/proc/$pid/status"
named --symfs fs2 || bad "not named by the number in NSpid"

# Names as CPython 3.12 (-X perf) and .NET (DOTNET_PerfMapEnabled=1) write them.
as()  # name-in-the-map pattern
{
	sed "s|jitted_loop|$1|" "other/perf-$pid.map" >"perf-$pid.map"
	"$PERFKIT" collapse -q map.data >out
	grep -q -- ";$2 [0-9]" out || bad "'$1' became $(cut -c1-200 out)"
	rm "perf-$pid.map"
}
as 'py::Loop.run:/srv/my app/loop.py' 'py::Loop.run:/srv/my app/loop.py'
as 'int32 [web] Shop.Cart::Total(class Item[])[OptimizedTier1]' 'int32 \[web\] Shop.Cart::Total'

# A jitdump whose name has the container's number: the process mapped it.
record -g -o map.data app/jit dump "$PWD/app" >/dev/null || bad "jit dump: exit $?"
pid=$("$perf" script -i map.data -F pid 2>/dev/null | sed -n '1s/ //gp;q')
named || bad "not named by its jitdump"
"$PERFKIT" source -q --asm jitted_loop map.data >out
grep -q 'dec.*ecx' out || grep -q 'built without Capstone' out || bad "no instructions of generated code: $(tail -3 out)"
mv "app/jit-$pid.dump" .
named || bad "not named by the jitdump beside the recording"
mv "jit-$pid.dump" other/dump
python3 - "$pid" <<'PY' 2>/dev/null || : >skip
import sys
old = b"jit-%s.dump\0" % sys.argv[1].encode()
new = b"jit-1.dump".ljust(len(old), b"\0")
data = open("map.data", "rb").read()
assert old in data
open("inner.data", "wb").write(data.replace(old, new))
PY
if [ ! -f skip ]; then
	cp other/dump app/jit-1.dump
	mv inner.data map.data
	named || bad "not named by a jitdump with another number"
fi

# Run times that are here, with the flags of docs/languages.md.
cat >w.js <<'JS'
function inner(n) { let s = 0; for (let i = 0; i < n; i++) s += i * i % 7; return s }
function outer(n) { let t = 0; for (let i = 0; i < 50; i++) t += inner(n); return t }
for (let k = 0; k < 150; k++) outer(5000)
JS
cat >W.java <<'JAVA'
public class W {
	static long inner(int n) { long s = 0; for (int i = 0; i < n; i++) s += (long) i * i % 7; return s; }
	static long outer(int n) { long t = 0; for (int i = 0; i < 50; i++) t += inner(n); return t; }
	public static void main(String[] a) { long x = 0; for (int k = 0; k < 300; k++) x += outer(20000 + k % 3); System.out.println(x); }
}
JAVA
tried=
expect()  # what pattern
{
	tried="$tried $1"
	"$PERFKIT" collapse -q run.data >out || bad "$1: exit $?"
	grep -q "$2" out || bad "$1: no '$2' in $(sort -k2 -t' ' out | head -3 | cut -c1-300)"
}
if command -v node >/dev/null; then
	record -g -o run.data node --perf-basic-prof --interpreted-frames-native-stack w.js >/dev/null &&
		expect node-map 'JS:[~^*]*outer .*w\.js'
	record -g -o run.data node --perf-prof w.js >/dev/null && expect node-jitdump 'JS:[~^*]*outer .*w\.js'
fi
if command -v java >/dev/null && command -v javac >/dev/null && javac W.java 2>/dev/null; then
	record -g -o run.data java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit \
		-XX:+PreserveFramePointer -XX:-Inline W >/dev/null && expect java ';long W\.inner'
	# A jitdump by an agent of our own: Debian does not ship perf's.
	jdk=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
	if ${CC:-gcc} -O1 -shared -fPIC -I"$jdk/include" -I"$jdk/include/linux" -o jvmti.so \
		"$SRC/tests/tools/jvmti.c" 2>cc.err; then
		record -g -o run.data java "-agentpath:$PWD/jvmti.so=$PWD" -XX:+PreserveFramePointer \
			-XX:-Inline W >/dev/null && expect java-jitdump ';W\.outer;W\.inner '
		"$PERFKIT" collapse -q --srcline run.data >out
		grep -q ';W\.outer:W\.java:3;W\.inner:W\.java:2 ' out ||
			bad "java-jitdump: no lines in $(grep W.inner out | head -3 | cut -c1-300)"
	else
		tried="$tried (no jvmti.h: no jitdump of Java)"
	fi
fi
if command -v go >/dev/null; then
	cat >w.go <<'GO'
package main

func inner(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i * i % 7
	}
	return s
}

//go:noinline
func outer(d, n int) int {
	if d == 0 {
		return inner(n)
	}
	return outer(d-1, n) + 1
}

func main() {
	done := make(chan int)
	go func() {
		for i := 0; i < 300; i++ {
			outer(20, 200000)
		}
		done <- 1
	}()
	<-done
}
GO
	whole='runtime\.goexit[^;]*;main\.main\.func1;main\.outer;main\.outer;'
	GOCACHE=$HOME/go go build -o w-go w.go 2>/dev/null && record -g -o run.data ./w-go &&
		expect go-fp "$whole"
	[ -x w-go ] && record --call-graph dwarf,4096 -o run.data ./w-go && expect go-dwarf "$whole"
	GOCACHE=$HOME/go go build -ldflags='-s -w' -o w-gos w.go 2>/dev/null &&
		record --call-graph dwarf,4096 -o run.data ./w-gos && expect go-stripped "$whole"
fi
for py in python3.13 python3.14; do
	$py -X perf_jit -c 1 2>/dev/null || continue
	cat >w.py <<'PY'
def inner(n):
    s = 0
    for i in range(n):
        s = (s * 1103515245 + 12345) & 0xffffffff
    return s
def outer(n):
    return inner(n) + inner(n)
for k in range(60):
    outer(50000)
PY
	record --call-graph dwarf,32768 -o run.data $py -X perf_jit w.py &&
		expect $py-jit '_start;.*;py::<module>:.*;py::outer:.*;py::inner:.*;_PyEval_EvalFrameDefault'
	"$perf" inject --jit -i run.data -o injected.data 2>err &&
		"$PERFKIT" collapse -q injected.data >injected && { cmp -s out injected ||
		bad "$py-jit: another answer after perf inject"; }
	break
done
echo "run times tried:$tried"
[ $fails = 0 ]
