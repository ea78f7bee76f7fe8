#!/bin/sh
# export --no-names with perfkit symbols, at every address of programs that are linked, stripped and split in
# every way, in stacks of frame pointers and of branch records: names by the join are those of an export with names.
. "$SRC/tests/lib/readers.sh"
has duckdb || { echo "no duckdb here (make readers)"; exit 77; }
cc=${CC:-gcc}
command -v "${cc%% *}" >/dev/null || cc=cc
command -v "${cc%% *}" >/dev/null || { echo "no C compiler here"; exit 77; }
bad=0
wrong() { echo "$*"; bad=1; }
has_tool() { command -v "$1" >/dev/null || { echo "left out: no $1 here"; return 1; }; }
mkdir fs cache

cat >p.c <<'C'
#include <stdio.h>
#include <stdlib.h>
volatile unsigned sink;
const char *kind = KIND; /* each variant has a build-id of its own */
static inline __attribute__((always_inline)) unsigned mix(unsigned x) { return x * 2654435761u ^ x >> 13; }
static inline __attribute__((always_inline)) unsigned twice(unsigned x) { return mix(x + 1) + mix(mix(x)); }
static __attribute__((noinline)) unsigned hidden(unsigned x) { for (int i = 0; i < 9; i++) sink += twice(x + i); return sink; }
static int order(const void *a, const void *b) { return mix(*(const unsigned *)a) < mix(*(const unsigned *)b) ? -1 : 1; }
#ifdef APART
__attribute__((section("apart")))
#endif
__attribute__((noinline)) unsigned work(unsigned x)
{
	unsigned v[20];
	for (int i = 0; i < 20; i++)
		v[i] = hidden(x + i);
	qsort(v, 20, sizeof(*v), order);
	return v[3];
}
#ifndef LIBRARY
int main(int c, char **v) { printf("%s %u %p\n", v[0], work(c), malloc(c)); return 0; }
#endif
C
made=
build()  # NAME FLAGS...: fs/NAME
{
	name=$1
	shift
	$cc -g -O2 -w "-DKIND=\"$name\"" "$@" -o "fs/$name" p.c 2>/dev/null && "$PERFKIT" symbols -q --no-local --to parquet -o try "fs/$name" 2>/dev/null &&
		made="$made $name" || { rm -f "fs/$name"; echo "left out: $name cannot be built here"; return 1; }
}
build pie -fPIE -pie
build fixed -no-pie
build static -static-pie -nostdlib -DLIBRARY -Wl,-e,work -Wl,--unresolved-symbols=ignore-all
build together -Wl,-z,noseparate-code
build high -no-pie -Wl,-Ttext-segment=0x40000000
build two-segments -no-pie -DAPART -Wl,--section-start=apart=0x10000000
build library.so -shared -fPIC -DLIBRARY
build prelinked.so -shared -fPIC -DLIBRARY -Wl,-Ttext-segment=0x3000000
build gold -fuse-ld=gold
build lld -fuse-ld=lld
build cet -fcf-protection -Wl,-z,ibtplt
build dwarf4 -gdwarf-4
build compressed -gz=zlib
build optimized -flto
build dwo -gsplit-dwarf
# as lld does it: the next segment begins, in the file, where the last call of the code ends
if has_tool nm && build packed -no-pie; then
	"$reader" - fs/packed $(nm -S fs/packed | awk '$4 == "work" { print $1, $2 }') <<'END' || wrong "no segments to move"
import struct, sys
d, end = bytearray(open(sys.argv[1], "rb").read()), int(sys.argv[2], 16) + int(sys.argv[3], 16)
heads = [struct.unpack_from("<Q", d, 32)[0] + 56 * i for i in range(struct.unpack_from("<H", d, 56)[0])]
code = next(h for h in heads if struct.unpack_from("<II", d, h) == (1, 5))
stack = next(h for h in heads if struct.unpack_from("<I", d, h)[0] == 0x6474E551)
offset, vaddr = struct.unpack_from("<QQ", d, code + 8)
struct.pack_into("<QQ", d, code + 32, end - vaddr, end - vaddr)
struct.pack_into("<IIQQQQQQ", d, stack, 1, 4, offset + end - vaddr, 0x70000000, 0x70000000, 64, 64, 1)
open(sys.argv[1], "wb").write(d)
END
fi
if has_tool objcopy && has_tool strip; then
	build symbols-only && strip -g fs/symbols-only
	build bare && strip fs/bare
	build cached && id=$(readelf -n fs/cached | sed -n 's/.*Build ID: //p') && d=cache/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-) &&
		mkdir -p "$d" && cp fs/cached "$d/elf" && strip fs/cached
	build poorer && id=$(readelf -n fs/poorer | sed -n 's/.*Build ID: //p') && d=cache/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-) &&
		mkdir -p "$d" && cp fs/poorer "$d/elf" && strip "$d/elf"
	build linked && objcopy --only-keep-debug fs/linked fs/linked.debug && strip fs/linked && objcopy --add-gnu-debuglink=fs/linked.debug fs/linked
	build by-id && id=$(readelf -n fs/by-id | sed -n 's/.*Build ID: //p') && d=fs/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2) &&
		mkdir -p "$d" && objcopy --only-keep-debug fs/by-id "$d/$(echo "$id" | cut -c3-).debug" && strip fs/by-id
	if has_tool dwz; then
		build dwz && dwz fs/dwz
		build shared-a && build shared-b -O1 && for f in shared-a shared-b; do objcopy --only-keep-debug fs/$f fs/$f.debug; done &&
			(cd fs && dwz -m common.debug -r shared-a.debug shared-b.debug 2>/dev/null)
		for f in shared-a shared-b; do strip fs/$f && objcopy --add-gnu-debuglink=fs/$f.debug fs/$f; done
	fi
	if has_tool xz && grep -q 'HAVE_LZMA=1' "$SRC/config.mk"; then
		build mini && objcopy --only-keep-debug fs/mini mini.debug && echo hidden >keep &&
			objcopy -S --keep-symbols=keep mini.debug mini && xz mini && strip fs/mini && objcopy --add-section .gnu_debugdata=mini.xz fs/mini
	fi
fi
if has_tool g++; then
	cat >p.cc <<'C'
#include <algorithm>
#include <string>
#include <vector>
namespace sorts { template <class T> struct Box { T v; virtual ~Box() {} virtual T hidden(int n) const; Box(const Box &) = default; Box(T x) : v(x + x) {} };
template <class T> __attribute__((noinline)) T Box<T>::hidden(int n) const { T s = v; for (int i = 0; i < n; i++) s = s + v; return s; } }
int main(int c, char **v)
{
	std::vector<std::string> words(v, v + c);
	std::sort(words.begin(), words.end(), [](const std::string &a, const std::string &b) { return a.size() * 7 % 5 < b.size(); });
	return sorts::Box<std::string>(words[0]).hidden(c).size() + (int)sorts::Box<double>(c).hidden(3);
}
C
	g++ -g -O2 -w -o fs/cxx p.cc && made="$made cxx" || wrong "g++ fails"
fi
user=$(getent passwd "$(id -u)" | cut -d: -f6) # where rustup keeps its compilers
if has_tool rustc; then
	cat >p.rs <<'C'
use std::collections::BTreeMap;
trait Work { fn work(&self, n: u64) -> u64; }
struct Words(Vec<String>);
#[inline(always)] fn mix(x: u64) -> u64 { x.rotate_left(7).wrapping_mul(0x9E3779B97F4A7C15) }
#[inline(never)] fn hidden<I: Iterator<Item = u64>>(i: I) -> u64 { i.map(mix).filter(|x| x % 3 != 0).fold(0, |a, b| a ^ b) }
impl Work for Words { fn work(&self, n: u64) -> u64 { let mut m = BTreeMap::new(); for w in &self.0 { *m.entry(w.clone()).or_insert(n) += hidden(0..n); } m.values().sum() } }
fn main() { let w: Box<dyn Work> = Box::new(Words(std::env::args().collect())); println!("{}", w.work(9)); }
C
	for mangled in "" " -C symbol-mangling-version=v0"; do
		name=rust${mangled:+-v0}
		# shellcheck disable=SC2086
		HOME=$user rustc -g -O -C prefer-dynamic $mangled -o fs/$name p.rs 2>err && made="$made $name" || echo "left out: rustc: $(tail -1 err)"
	done
fi

everywhere=
for f in $made; do everywhere="$everywhere fs/$f"; done
# shellcheck disable=SC2086
"$O/tests/prog/everywhere" $everywhere >perf.data || wrong "no recording"
from="--no-local --symfs fs --buildid-dir cache"
# shellcheck disable=SC2086
"$PERFKIT" export -q --to parquet $from -o named perf.data 2>err || wrong "export: $(cat err)"
"$PERFKIT" export -q --to parquet --no-local --buildid-dir none --no-names -o offsets perf.data 2>err || wrong "export --no-names: $(cat err)"
# shellcheck disable=SC2086
"$PERFKIT" symbols -q $from --to parquet -o offsets $everywhere 2>err || wrong "symbols: $(cat err)"
"$reader" "$SRC/tests/namescheck.py" named offsets >check 2>err || wrong "$(cat check; tail -1 err)"
# the comparison is of names: each has that of a function that is not exported
"$reader" - $made >lacking <<'E2'
import duckdb, sys
for name in sys.argv[1:]:
    n = duckdb.execute("SELECT count(*) FROM 'named/frames/*/*/*.parquet' WHERE dso LIKE '%/' || ? AND symbol LIKE '%hidden%'", [name]).fetchone()[0]
    if (n == 0) != (name == "bare"):
        print(name)
E2
[ ! -s lacking ] || wrong "names on the spot: $(cat lacking)"
[ "$(echo $made | wc -w)" -ge 5 ] || wrong "too few could be built: $made"
echo "$made: $(cat check)"
exit $bad
