# beside: gcc, clang, rustc and go build programs whose hot lines are known, on this machine
# perfkit source: weights by line are what addr2line says of each sampled address; the hot line is the
# division, or in it what was inlined; MD5s of line tables tell the text that was compiled.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
command -v addr2line >/dev/null || { echo "addr2line is not installed"; exit 77; }
perf record -q -e cpu-clock:u -o try.data true 2>err || { echo "perf may not record here"; exit 77; }

cat >hot.c <<'END_C'
#include <stdio.h>
volatile unsigned long divisor = 7, sink;
__attribute__((noinline)) unsigned long divide(unsigned long n)
{
	unsigned long sum = 0;
	for (unsigned long i = 1; i < n; i++) {
		sum += ((i << 40) ^ sum) / divisor; /* the hot line */
		sum ^= i;
	}
	return sum;
}
static inline __attribute__((always_inline)) unsigned long quotient(unsigned long a)
{
	return (a << 40) / divisor;
}
__attribute__((noinline)) unsigned long called(unsigned long n)
{
	unsigned long sum = 0;
	while (n--)
		sum ^= quotient(n ^ sum);
	return sum;
}
int main(void)
{
	for (int k = 0; k < 40; k++)
		sink += divide(300000) + called(300000);
	return 0;
}
END_C
cat >hot.rs <<'END_RS'
use std::hint::black_box;
#[inline(never)]
fn divide(n: u64) -> u64 {
    let mut sum = 0u64;
    for i in 1..n {
        sum ^= ((i << 40) ^ sum) / black_box(7); // the hot line
    }
    sum
}
fn main() {
    for _ in 0..40 {
        black_box(divide(black_box(500000)));
    }
}
END_RS
cat >hot.go <<'END_GO'
package main

var divisor, sink uint64 = 7, 0

//go:noinline
func divide(n uint64) uint64 {
	sum := uint64(0)
	for i := uint64(1); i < n; i++ {
		sum ^= ((i << 40) ^ sum) / divisor // the hot line
	}
	return sum
}
func main() {
	for k := 0; k < 40; k++ {
		sink += divide(500000)
	}
}
END_GO

cat >check.py <<'PY'
import collections, json, re, subprocess, sys
perfkit, program, source, level = sys.argv[1:]
subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-c", "1000000", "-o", "hot.data", "./" + program],
               stderr=subprocess.DEVNULL, check=True)
ips = [int(w, 16) for w in subprocess.run(["perf", "script", "-i", "hot.data", "-F", "ip"], check=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.split()]
# binutils' addr2line does not read the DWARF 5 of Go; Go's own prints a function and a line
tool = ["go", "tool", "addr2line", program] if source.endswith(".go") else ["addr2line", "-f", "-e", program]
at = sorted(set(ips))
out = subprocess.run(tool, input="\n".join(map(hex, at)) + "\n", stdout=subprocess.PIPE, text=True, check=True).stdout
place = {}
for i, line in zip(at, out.splitlines()[1::2]):
    file, n = re.match(r"(.*):(\d+|\?)", line).groups()
    place[i] = (file.rsplit("/", 1)[-1], int(n) if n != "?" else 0)

def ask(*args):
    return json.loads(subprocess.run([perfkit, "source", "-q", "--all", "--json", *args, "hot.data"], check=True,
                                     stdout=subprocess.PIPE).stdout)

# self of each line of the source file: samples whose innermost line it is
want = collections.Counter(place[i][1] for i in ips if place[i][0] == source)
whole = ask(source)
assert whole["of"]["weight"] == 1000000 * len(ips), (whole["of"], len(ips))
got = {l["line"]: l["self"] // 1000000 for f in whole["shown"]["files"] for l in f["lines"] if l["self"]}
assert sum(want.values()) > 20 and got == dict(want), (program, got, want)
# the hottest line of divide is the division, or the one behind it
text = open(source).read().splitlines()
shown = ask("--asm", "divide")["shown"]
lines = [l for f in shown["files"] for l in f["lines"] if f["file"] and f["file"].endswith(source)]
hot = text.index(next(t for t in text if "the hot line" in t)) + 1
top = max(lines, key=lambda l: l["self"] + l["inlined"])
assert abs(top["line"] - hot) <= 1, (program, top, hot)
if "instructions" in shown:
    code = shown["instructions"]
    assert sum(i["self"] for i in code) == shown["self"] + shown["inlined"]
    best = max(range(len(code)), key=lambda k: code[k]["self"])
    assert level == "-O0" or any("div" in code[k]["text"] for k in range(max(best - 2, 0), best + 1)), code[best]
PY

tried=
for level in -O0 -O1 -O2 -O3; do
	for cc in gcc clang; do
		command -v $cc >/dev/null || continue
		$cc -g -gdwarf-5 $level -no-pie -fno-pie -o hot-$cc$level hot.c
		python3 check.py "$PERFKIT" hot-$cc$level hot.c $level
		tried="$tried $cc$level"
	done
done
if command -v rustc >/dev/null && rustc -g -O -C relocation-model=static -o hot-rust hot.rs 2>err; then
	python3 check.py "$PERFKIT" hot-rust hot.rs -O2
	tried="$tried rustc"
fi
if command -v go >/dev/null && HOME=$PWD GOFLAGS=-mod=mod go build -o hot-go hot.go 2>err; then
	python3 check.py "$PERFKIT" hot-go hot.go -O2
	tried="$tried go"
fi
echo "$tried"

# clang's MD5: the text is the one compiled, or it is not
if command -v clang >/dev/null; then
	mkdir build
	clang -g -gdwarf-5 -O1 -o build/md5 hot.c
	perf record -q -e cpu-clock:u -o md5.data build/md5 2>err
	"$PERFKIT" source --source-dir . divide md5.data >out 2>err
	grep -q 'sum += ((i << 40) ^ sum) / divisor' out
	! grep -q 'not checked\|not the text' out || exit 1
	sed -i '1i /* moved */' hot.c
	"$PERFKIT" source --source-dir . divide md5.data >out 2>err
	grep -q 'hot.c is not the text that was compiled' out
	# lines of two builds are matched by their text
	clang -g -gdwarf-5 -O1 -o build/after hot.c
	mkdir old
	sed 1d hot.c >old/hot.c
	perf record -q -e cpu-clock:u -o after.data build/after 2>err
	"$PERFKIT" source --json --source-dir . --before-dir old --against md5.data divide after.data >both 2>err
	python3 - <<'PY'
import json
lines = {l["line"]: l for f in json.load(open("both"))["shown"]["files"] for l in f["lines"]}
hot = max(lines.values(), key=lambda l: l["total"])
assert hot["before"]["total"] > 0 and not any(l.get("gone") for l in lines.values()), lines
PY
	# a name outside of the roots is not read
	printf '#line 1 "/etc/passwd"\n' | cat - hot.c >evil.c
	clang -g -gdwarf-5 -O1 -o build/evil evil.c
	perf record -q -e cpu-clock:u -o evil.data build/evil 2>err
	"$PERFKIT" source divide evil.data >out 2>err
	grep -q '/etc/passwd: its text is not below' out
	! grep -q 'root:' out || exit 1
fi
