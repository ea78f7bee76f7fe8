#!/bin/sh
# Programs of this machine recorded now with copies of their stacks: what perfkit says of them
# differs from perf script by classes of tests/differences.md only, and no less of its weight
# reaches the root of its stack.
# beside: records now, on this machine
command -v perf >/dev/null 2>&1 || { echo "no perf here"; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo "no python3 here"; exit 77; }
bad=0 tried=
HOME=$PWD/home # no build-id cache: what perf finds is what perfkit finds
export HOME
mkdir home
roots()  # file: weight of stacks that begin at a root, as a share in thousandths
{
	awk '{ n = $NF; all += n
		if ($0 ~ /^[^;]*;(_start|(__)?clone3?|start_thread|runtime\.goexit)/ ||
		    $0 ~ /^[^;]*;(\[[^];]*\];)?__libc_start_main/) root += n }
	     END { printf "%d", all ? 1000 * root / all : 0 }' "$1"
}
try()  # name bytes-of-stack command...
{
	name=$1 bytes=$2
	shift 2
	perf record -N -q -F 299 -e cpu-clock:u --call-graph dwarf,$bytes -o $name.data "$@" \
		>/dev/null 2>$name.err || return
	perf script --no-inline -i $name.data 2>/dev/null >script
	python3 "$SRC/tests/foldscript.py" <script >want
	[ -s want ] || return
	gzip -c script >script.gz
	timeout 60 "$PERFKIT" collapse -q --no-inline -i $name.data >got || bad=1
	tried="$tried $name"
	cmp -s want got || python3 "$SRC/tests/foldcheck.py" --script script.gz want got |
		cut -c1-400 >why
	grep -q '^unclassified' why 2>/dev/null && { echo "$name:"; cat why; bad=1; }
	rm -f why
	w=$(roots want) g=$(roots got)
	echo "$name: $(wc -l <got) stacks, to the root: perf $w, perfkit $g of 1000"
	[ "$g" -ge "$w" ] || { echo "$name: fewer stacks reach the root"; bad=1; }
}
have() { command -v "$1" >/dev/null 2>&1; }

perf record -N -q -e cpu-clock:u --call-graph dwarf,1024 -o probe.data true >/dev/null 2>err ||
	{ echo "perf cannot record here: $(head -1 err)"; exit 77; }
cat >t.c <<'C'
#include <stdlib.h>
static int cmp(const void *a, const void *b) { return *(int *)a - *(int *)b; }
int main(void)
{
	static int v[50000];
	for (int k = 0; k < 12; k++) {
		for (int i = 0; i < 50000; i++)
			v[i] = i * 7919 % 50000;
		qsort(v, 50000, sizeof(*v), cmp);
	}
}
C
for how in static static-pie; do
	${CC:-cc} -O2 -$how -o t-$how t.c 2>/dev/null && try $how 4096 ./t-$how
done
have musl-gcc && musl-gcc -O2 -static -o t-musl t.c 2>/dev/null && try musl 4096 ./t-musl
[ -x /usr/bin/python3 ] && try python 8192 /usr/bin/python3 -c \
	'import json; [json.loads(json.dumps([{"a": i} for i in range(200)])) for _ in range(200)]'
have perl && try perl 8192 perl -e 'for (1 .. 40) { my %h; $h{$_} = "$_" for 1 .. 3000; sort keys %h }'
have sqlite3 && try sqlite 8192 sqlite3 :memory: 'with recursive c(x) as
	(select 1 union all select x + 1 from c where x < 200000) select sum(x * 7 % 11) from c'
have git && try git 8192 git -C "$SRC" log --stat -20
have gcc && try gcc 16384 gcc -O2 -c -x c "$SRC/base/hash.c" -I"$SRC" -o o
have node && try node 16384 node -e 'let o={};for(let i=0;i<1e5;i++)o["k"+i%977]=JSON.stringify([i])'
have java && try java 16384 java -version
if have go; then
	printf '%s\n' 'package main' 'func f(d, n int) int { if d == 0 { s := 0; for i := 0; i < n; i++ { s += i * i % 7 }; return s }; return f(d-1, n) + 1 }' \
		'func main() { for i := 0; i < 200; i++ { f(20, 200000) } }' >t.go
	GOCACHE=$HOME/go go build -o t-go t.go 2>/dev/null && try go 4096 ./t-go
fi
have busybox && try busybox 4096 busybox sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'
[ -n "$tried" ] || { echo "nothing could be recorded"; exit 77; }
exit $bad
