# --user-callchains and --kernel-callchains leave out the frames of the other side, and nothing else:
# what remains is what --kernel marks, or not; samples, waits and wakers; the same from a store.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cat >keep.py <<'END'
import collections, sys
marks = {"[open]", "[runnable]", "[state unknown]", "[suspect]", "[unclear]", "--"}
kernel, sums = sys.argv[1] == "kernel", collections.Counter()
for line in sys.stdin:
    stack, n = line.rstrip("\n").rsplit(" ", 1)
    first, *rest = stack.split(";")
    sums[";".join([first] + [e for e in rest if e in marks or e.endswith("_[k]") == kernel])] += int(n)
for stack in sorted(sums, key=lambda s: s.encode()):
    print(stack, sums[stack])
END
same()  # recording options...
{
	file=$1
	shift
	"$PERFKIT" collapse -q --no-local --kernel "$@" "$file" >both
	for side in user kernel; do
		python3 keep.py $side <both | LC_ALL=C sort >want
		"$PERFKIT" collapse -q --no-local --kernel --$side-callchains "$@" "$file" | LC_ALL=C sort >got
		cmp want got || { echo "$file $*: $side"; diff want got | head -5; exit 1; }
		[ "$(awk '{ n += $NF } END { print n }' got)" = "$(awk '{ n += $NF } END { print n }' both)" ]
	done
	grep -q '_\[k\]' both || { echo "$file: no kernel frames"; exit 1; }
}
same "$SRC/testdata/fp-threads/perf.data"
same "$SRC/testdata/waits/perf.data" --offcpu --unit ns --idle
"$PERFKIT" import -q --no-local "$SRC/testdata/waits/perf.data" -o run.db
"$PERFKIT" collapse -q --no-local --offcpu --user-callchains "$SRC/testdata/waits/perf.data" >file.folded
"$PERFKIT" collapse -q --offcpu --user-callchains run.db | cmp - file.folded
"$PERFKIT" svg -q --no-script --offcpu --user-callchains run.db -o user.svg
"$PERFKIT" svg -q --no-script --offcpu run.db -o both.svg
grep -q '<title>\[\[kernel.kallsyms\]\]' both.svg
! grep -q '<title>\[\[kernel.kallsyms\]\]' user.svg || exit 1
rc=0
"$PERFKIT" collapse --user-callchains --kernel-callchains run.db 2>err || rc=$?
[ $rc = 2 ]
grep -q 'excludes' err
