#!/bin/sh
# svg --diff of two builds, by each compiler that is here: the same program built at two paths is all
# grey; one changed function stands out; stripped, without debug information, and under a new name too.
# beside: builds programs and records them now
for tool in perf python3; do
	command -v $tool >/dev/null 2>&1 || { echo "no $tool here"; exit 77; }
done
user=$(getent passwd "$(id -u)" | cut -d: -f6)
RUSTUP_HOME=${RUSTUP_HOME:-$user/.rustup} CARGO_HOME=${CARGO_HOME:-$user/.cargo}
export RUSTUP_HOME CARGO_HOME
PATH=$PATH:$user/.cargo/bin:/usr/local/go/bin
HOME=$PWD/home # no build-id cache
export HOME GOCACHE=$PWD/gocache GO111MODULE=off
mkdir home
perf record -N -q -e cpu-clock:u -g -o probe.data true >/dev/null 2>err ||
	{ echo "perf cannot record here: $(head -1 err)"; exit 77; }
bad=0 tried=

cat >work.c <<'C'
static volatile unsigned sink;
static inline unsigned mix(unsigned x) { for (int i = 0; i < 40; i++) { x = x * 1664525u + 1; __asm__ volatile("" : "+r"(x)); } return x; }
static __attribute__((noinline)) unsigned parse(unsigned n) { unsigned x = n; for (unsigned i = 0; i < n; i++) x += mix(i); return x + 1; }
static __attribute__((noinline)) unsigned checksum(unsigned n) { unsigned x = n; for (unsigned i = 0; i < n * WORK; i++) x ^= mix(i); return x + 1; }
int main(void) { for (int i = 0; i < 1000; i++) { sink += parse(10000); sink += checksum(10000); } return 0; }
C
cat >work.rs <<'R'
#[inline(always)]
fn mix(mut x: u32) -> u32 { for _ in 0..40 { x = std::hint::black_box(x); } x }
#[inline(never)]
fn parse(n: u32) -> u32 { let mut x = n; for i in 0..n { x = x.wrapping_add(mix(i)); } x }
#[inline(never)]
fn checksum<T: Into<u64> + Copy>(n: T) -> u64 { let mut x = 0u64; for i in 0..n.into() * WORK { x ^= mix(i as u32) as u64; } x }
fn main() { let mut s = 0u64; for _ in 0..1200 { s = s.wrapping_add(parse(10000) as u64); s = s.wrapping_add(checksum(TEN)); } println!("{}", s); }
R
cat >work.go <<'G'
package main
func mix(x uint32) uint32 { for i := 0; i < 40; i++ { x ^= x<<1 }; return x }
//go:noinline
func parse(n uint32) uint32 { x := n; for i := uint32(0); i < n; i++ { x += mix(i) }; return x }
//go:noinline
func checksum(n uint32) uint32 { x := n; for i := uint32(0); i < n*WORK; i++ { x ^= mix(i) }; return x }
func main() { s := uint32(0); for i := 0; i < 1200; i++ { s += parse(10000); s += checksum(10000) }; println(s) }
G

# build LANGUAGE WORK DIR NAME: in DIR, from a copy of the source there
build()
{
	mkdir -p "$3"
	case $1 in
	gcc) cp work.c "$3" && (cd "$3" && gcc -O2 -g -DWORK=$2 work.c -o "$4") ;;
	clang) cp work.c "$3" && (cd "$3" && clang -O2 -g -DWORK=$2 work.c -o "$4") ;;
	rust) # a generic function is another instance in the other build
		{ cat work.rs; echo "const WORK: u64 = $2;"
			[ $2 = 1 ] && echo 'const TEN: u32 = 10000;' || echo 'const TEN: u64 = 10000;'; } >"$3/work.rs"
		(cd "$3" && rustc -O -g -C force-frame-pointers=yes work.rs -o "$4") ;;
	go) { cat work.go; echo "const WORK = $2"; } >"$3/work.go" && (cd "$3" && go build -o "$4" work.go) ;;
	esac >build.err 2>&1
}
# run NAME PROGRAM
record()
{
	perf record -N -q -F 997 -e cpu-clock:u --call-graph dwarf,1024 -o "$1.data" "$PWD/$2" >/dev/null 2>record.err
}
# check NAME BEFORE AFTER WHAT: the frames of the picture
check()
{
	"$PERFKIT" svg --no-script --diff "$2.data" "$3.data" -o d.svg 2>said || { cat said; bad=1; return; }
	tried="$tried $1"
	python3 - "$4" d.svg <<'P' || { echo "$1: $2 -> $3"; bad=1; }
import html, re, sys
what, text = sys.argv[1], open(sys.argv[2]).read()
own = {}
gone = bad = 0
for t in re.findall("<title>([^<]*)", text)[1:]:
    m = re.match(r"(.*) \(.*, ([\d.]+)%; ([+-][\d.]+) points; before", html.unescape(t).split("\n")[0])
    if not m:
        continue
    name, points = m.group(1), float(m.group(3))
    if name == "[only before]":
        gone = -points
    elif "checksum" in name:
        own["checksum"] = max(own.get("checksum", 0), points)
    elif "parse" in name:
        own["parse"] = min(own.get("parse", 0), points)
    if what == "same" and abs(points) > 20:
        print("%s: %+.1f points" % (name, points)); bad = 1
if gone > 5:
    print("only before: %.1f points" % gone); bad = 1
if what == "changed" and not (own.get("checksum", 0) > 15 and own.get("parse", 0) < -15):
    print(own); bad = 1
sys.exit(bad)
P
	"$PERFKIT" report -q --json --against "$2.data" "$3.data" >against.json 2>/dev/null || { bad=1; return; }
	python3 - "$4" <<'P' || { echo "$1: report --against $2 $3"; bad=1; }
import json, sys
rows = {r["name"].split(",")[0].split("<")[0].split(".constprop")[0]: r["time"]["change"]
        for r in json.load(open("against.json"))["function"]}
up = [n for n, c in rows.items() if c > 0]
if sys.argv[1] == "changed" and (not [n for n in up if "checksum" in n or "mix" in n] or
        [n for n in up if "parse" in n]):
    print(rows); sys.exit(1)
if sys.argv[1] == "same" and [n for n in up if "checksum" in n or "parse" in n]:
    print(rows); sys.exit(1)
P
}
for lang in gcc clang rust go; do
	tool=$lang
	[ $lang = rust ] && tool=rustc
	command -v $tool >/dev/null 2>&1 || { echo "no $tool here: skipped"; continue; }
	build $lang 1 $lang/old/a app && build $lang 1 $lang/two/deep/b app && build $lang 4 $lang/new app-1.3 &&
		cp $lang/old/a/app $lang/app-1.2 || { echo "$lang: does not build: $(head -3 build.err)"; bad=1; continue; }
	record $lang-1 $lang/old/a/app && record $lang-2 $lang/two/deep/b/app &&
		record $lang-12 $lang/app-1.2 && record $lang-13 $lang/new/app-1.3 || { cat record.err; bad=1; continue; }
	check $lang $lang-1 $lang-2 same
	check "$lang changed" $lang-12 $lang-13 changed
	grep -q '^perfkit: app-1.2 is compared with app-1.3$' said || { echo "$lang: not said: $(cat said)"; bad=1; }
	for strip in --strip-debug --strip-all; do
				strip $strip $lang/app-1.2 && record $lang-s $lang/app-1.2 || continue
		check "$lang $strip" $lang-1 $lang-s same
		[ $strip = --strip-all ] || check "$lang $strip changed" $lang-s $lang-13 changed
	done
done
[ "$tried" ] || { echo "no compiler here"; exit 77; }
exit $bad
