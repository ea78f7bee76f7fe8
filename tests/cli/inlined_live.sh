#!/bin/sh
# Programs in C++, Rust and Go with inlined functions, recorded now: what `perfkit collapse` prints
# by default differs from perf script's default by classes of tests/differences.md only.
# beside: records now, on this machine
for tool in perf python3 nm addr2line; do
	command -v $tool >/dev/null 2>&1 || { echo "no $tool here"; exit 77; }
done
bad=0 tried=
user=$HOME HOME=$PWD/home # no build-id cache: what perf finds is what perfkit finds
export HOME
mkdir home
# check NAME OPTIONS-OF-FOLDCHECK...: perf's default output against perfkit's
check()
{
	name=$1
	shift
	perf script --no-inline -i $name.data 2>/dev/null | gzip >script.gz
	perf script -i $name.data 2>/dev/null | python3 "$SRC/tests/foldscript.py" >want
	[ -s want ] || return
	timeout 60 "$PERFKIT" collapse -q --inline -i $name.data >got || bad=1
	timeout 60 "$PERFKIT" collapse -q -i $name.data >plain || bad=1
	sed 's/_\[i\]//g' got | LC_ALL=C sort >got.plain
	LC_ALL=C sort plain | cmp -s - got.plain || { echo "$name: --inline changes more than marks"; bad=1; }
	tried="$tried $name"
	echo "$name: $(grep -c . want) stacks, $(grep -c '_\[i\]' got) with inlined functions"
	python3 "$SRC/tests/foldcheck.py" --inline --allow 0.5 --script script.gz --elf-of-script "$@" \
		want got >why || bad=1
	cut -c1-400 why
}
# try NAME COMMAND...: with copies of the stack
try()
{
	name=$1
	shift
	perf record -N -q -F 299 -e cpu-clock:u --call-graph dwarf,8192 -o $name.data "$@" \
		>/dev/null 2>$name.err && check $name
}
perf record -N -q -e cpu-clock:u --call-graph dwarf,1024 -o probe.data true >/dev/null 2>err ||
	{ echo "perf cannot record here: $(head -1 err)"; exit 77; }

if command -v g++ >/dev/null 2>&1 && g++ -O2 -g -o words "$SRC/testdata/inlined/inlined.cc"; then
	try words ./words
	perf record -N -q -F 299 -e cpu-clock:u -g -o chain.data ./words >/dev/null 2>&1 &&
		check chain --callchains
fi
PATH=$PATH:$user/.cargo/bin:/usr/local/go/bin
cat >sorts.rs <<'R'
use std::collections::HashMap;
use std::fmt::Write;
fn main() {
    let mut total = 0u64;
    for k in 0..40u64 {
        let mut m: HashMap<String, usize> = HashMap::new();
        for i in 0..8000u64 {
            let mut s = String::new();
            write!(s, "key{}", (i * 7919 + k) % 5000).unwrap();
            *m.entry(s).or_insert(0) += i as usize;
        }
        let mut v: Vec<(String, usize)> = m.into_iter().collect();
        v.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        total = total.wrapping_add(v[k as usize].1 as u64);
    }
    println!("{}", total);
}
R
HOME=$user rustc -O -g -o sorts sorts.rs >/dev/null 2>&1 && try sorts ./sorts
cat >sums.go <<'G'
package main

import (
	"fmt"
	"sort"
)

type sum struct{ n, s int }

func (t *sum) add(x int) { t.n++; t.s += x % 7 }
func square(x int) int   { return x * x % 1001 }
func deep(d int, t *sum) int {
	if d == 0 {
		for i := 0; i < 200000; i++ {
			t.add(square(i))
		}
		return t.s
	}
	return deep(d-1, t) + 1
}

func main() {
	x := 0
	for k := 0; k < 60; k++ {
		x += deep(8, &sum{})
		m := map[string]int{}
		for i := 0; i < 6000; i++ {
			m[fmt.Sprint(i*7919%5000)] += i
		}
		keys := []string{}
		for s := range m {
			keys = append(keys, s)
		}
		sort.Slice(keys, func(a, b int) bool { return m[keys[a]] < m[keys[b]] })
	}
	fmt.Println(x)
}
G
if GOCACHE=$HOME/go go build -o sums sums.go >/dev/null 2>&1; then
	try sums ./sums
	perf record -N -q -F 299 -e cpu-clock:u -g -o sums-chain.data ./sums >/dev/null 2>&1 &&
		check sums-chain --callchains
fi
[ -n "$tried" ] || { echo "nothing could be recorded"; exit 77; }

# Without times in the samples, the script weighs each of them 1.
if [ -x words ] && perf record -N -q --per-thread -F 299 -e cpu-clock:u -g -o no-time.data ./words \
	>/dev/null 2>&1; then
	perf script --no-inline -i no-time.data 2>/dev/null >script
	gzip -c script >script.gz
	python3 "$SRC/tests/foldscript.py" <script >want
	for weight in samples period; do
		"$PERFKIT" collapse -q --no-inline --weight $weight -i no-time.data >got.$weight || bad=1
	done
	python3 "$SRC/tests/foldcheck.py" --script script.gz --count got.samples want got.period >why ||
		bad=1
	sed 's/^/no-time: /' why
	python3 "$SRC/tests/foldcheck.py" --script script.gz want got.period >why &&
		{ echo "no-time: weights of 1 are taken for periods"; bad=1; }
fi
exit $bad
