# Label histories (--with labels.txt): samples and waits below a trampoline bear what it stood for, as
# the program's own log has it; file, pipe and store agree; trampolines are shown as one.
set -eu
for tool in python3 readelf; do
	command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
kept=$SRC/testdata/labels
file=$kept/labelled.tar.zst
with="--no-local --with $kept/labels.txt"
bad() { echo "$*"; exit 1; }
total() { awk '{ n += $NF } END { print n + 0 }'; }

"$PERFKIT" collapse --no-local --with "$kept/labels.txt" --label table=events "$file" >events.folded 2>err
grep -q 'labels.txt: 202 bindings of 256 trampolines on CLOCK_MONOTONIC, exact$' err

# against the log: begin and end of each query on its thread
for label in table=users table=orders table=events query=0 query=1 query=50 query=100; do
	# shellcheck disable=SC2086
	"$PERFKIT" collapse -q $with --weight samples --label $label "$file" | total >got
	"$PERFKIT" collapse -q --no-local --with "$kept/truth.csv" --weight samples --label $label "$file" | total >want
	[ "$(cat want)" -gt 0 ] || bad "$label: no samples in its queries"
	# shellcheck disable=SC2086
	cmp got want || bad "$label: $(cat got) samples, $(cat want) by the log"
done
# shellcheck disable=SC2086
"$PERFKIT" collapse -q $with --offcpu --unit ns --label table=events "$file" | total >got
"$PERFKIT" collapse -q --no-local --with "$kept/truth.csv" --offcpu --unit ns --label table=events "$file" | total >want
[ "$(cat want)" -gt 20000000 ] && cmp got want || bad "events wait $(cat got) ns, $(cat want) by the log"

# every sample of a trampoline has a label, split into those of the log
# shellcheck disable=SC2086
"$PERFKIT" svg -q $with --split label:table "$file" -o split.svg
for t in users orders events 'no label'; do
	grep -q "$t" split.svg || bad "split.svg lacks $t"
done

# rebound at another time: from there on, and not 1 ns before
python3 - "$kept/labels.txt" >moved.txt <<'END'
import sys
for line in open(sys.argv[1]):
    w = line.split()
    if w[0] == "bind" and w[3] == "table":
        last = w
    print(line, end="")
print(f"bind {last[1]} {int(last[2]) + 1} table moved")
print("bind 200 5 table nowhere")
print("bind x 5 table nowhere")
print("hello")
END
"$PERFKIT" collapse --no-local --with moved.txt --weight samples --label table=moved "$file" >moved.folded 2>err
[ "$(total <moved.folded)" -gt 0 ] || bad "a later binding does not hold"
grep -q 'moved.txt: 2 of .* rows are left out: line [0-9]*: a trampoline.s index is not a number; line [0-9]*: it does not begin with a known word' err

# by address: where the program's file, which is not relocated, has its functions
mkdir program
zstd -dcq "$file" | tar -xf - -C program
elf=$(find program -name elf)
readelf -sW "$elf" >symbols
python3 - "$kept/labels.txt" symbols >addresses.txt <<'END'
import re, sys
at = {}
for line in open(sys.argv[2]):
    w = line.split()
    name = re.fullmatch(r"_ZN13dynamic_label10trampolineILi(\d+)EEE.*", w[-1]) if len(w) == 8 else None
    if name:
        at[name[1]] = int(w[1], 16), int(w[2])
for line in open(sys.argv[1]):
    w = line.split()
    if w[0] == "tramp":
        low, n = at[w[1]]
        line = f"tramp {w[1]} {low:#x} {low + n:#x}\n"
    print(line, end="")
END
[ "$(grep -c '^tramp .* 0x4[0-9a-f]* 0x4[0-9a-f]*$' addresses.txt)" = 256 ] || bad 'addresses.txt'
"$PERFKIT" collapse --no-local --with addresses.txt --label table=events "$file" 2>err | cmp - events.folded
grep -q 'addresses.txt: 202 bindings of 256 trampolines' err && ! grep -q share err || bad "$(cat err)"
"$PERFKIT" import -q --no-local --with addresses.txt "$file" -o addresses.db
"$PERFKIT" collapse -q --label table=events addresses.db | cmp - events.folded
# two in one function are not told apart; an address needs its process and its recording
sed -E 's/^tramp 1 .*/tramp 1 0x4027e6 0x4027e8/' addresses.txt >shared.txt
"$PERFKIT" collapse --no-local --with shared.txt --label table=events "$file" 2>err >out
grep -q 'shared.txt: 2 of 256 trampolines share a function with others' err || bad "$(cat err)"
{ sed '/^pid/d' addresses.txt; echo 'tramp 5 0x10 0x10'; echo 'tramp 5 0x10'; } >nopid.txt
rc=0
"$PERFKIT" collapse --no-local --with nopid.txt --label table=events "$file" 2>err >out || rc=$?
grep -q 'nopid.txt: 258 of .* rows are left out: line 3: an address is of a process: a line pid N is missing before it' err || bad "$(cat err)"
rc=0
"$PERFKIT" import -q --no-local "$file" -o bare.db
"$PERFKIT" collapse -q --label table=events --with addresses.txt bare.db 2>err >out || rc=$?
[ $rc = 3 ] && grep -q 'addresses.txt: its trampolines are addresses, and a store does not say what code was there' err || bad "exit $rc: $(cat err)"

# shown as one, or by number
grep -q 'dynamic_label::trampoline<0>;' events.folded || bad 'no trampoline<0>'
grep -q 'trampoline<[1-9]' events.folded && bad 'trampolines by number'
# shellcheck disable=SC2086
"$PERFKIT" collapse -q $with --keep-trampolines --label table=events "$file" | grep -q 'trampoline<[1-9]' ||
	bad '--keep-trampolines'
"$PERFKIT" collapse -q --no-local "$file" >all.folded
grep -q 'trampoline<0>' all.folded || bad 'no trampoline<0> without labels'
grep -q 'trampoline<[1-9]' all.folded && bad 'trampolines by number without labels'

# the store keeps them
# shellcheck disable=SC2086
"$PERFKIT" import -q $with "$file" -o labels.db
"$PERFKIT" import -q --no-local "$file" -o plain.db
"$PERFKIT" collapse -q --label table=events labels.db | cmp - events.folded
"$PERFKIT" collapse -q --label table=events --with "$kept/labels.txt" plain.db | cmp - events.folded
# shellcheck disable=SC2086
"$PERFKIT" collapse -q $with --keep-trampolines --offcpu --label table=events "$file" >off.folded
"$PERFKIT" collapse -q --keep-trampolines --offcpu --label table=events labels.db | cmp - off.folded

# the table by label is the sum of the samples and waits
"$PERFKIT" report -q --no-local --by label:table --csv --with "$kept/labels.txt" "$file" >table.csv
for t in users orders events; do
	# shellcheck disable=SC2086
	"$PERFKIT" collapse -q $with --weight samples --label table=$t "$file" | total >want
	awk -F, -v t=$t '$1 == t { print $2 }' table.csv | cmp - want || bad "report --by label:table: $t"
done
# shellcheck disable=SC2086
"$PERFKIT" collapse -q $with --offcpu --idle --unit ns --label table=events "$file" | total >want
"$PERFKIT" report -q --no-local --idle --by label:table --csv --with "$kept/labels.txt" "$file" |
	awk -F, '$1 == "events" { print $5 + $6 }' | cmp - want || bad 'waits by label'
"$PERFKIT" report -q --by label:table --csv labels.db | cmp - table.csv

# the number of a store's history is no count: answers take no more memory for a large one
if command -v sqlite3 >/dev/null; then
	for n in 2000000000 4294967295; do
		cp labels.db large.db
		sqlite3 large.db "UPDATE label_bindings SET history = $n WHERE id = (SELECT max(id) FROM label_bindings)"
		rc=0
		"$PERFKIT" report -q --max-memory 256M --by label:table --csv large.db >large.csv 2>err || rc=$?
		[ $n != 2000000000 ] || { [ $rc = 0 ] && [ -s large.csv ]; } || bad "history $n: $(cat err)"
		[ $n != 4294967295 ] || grep -q 'label_bindings' err || bad "history $n: exit $rc: $(cat err)"
	done
fi

# another process's, another version, nothing
sed 's/^pid .*/pid 4194303/' "$kept/labels.txt" >stranger.txt
"$PERFKIT" collapse --no-local --with stranger.txt --label table=events "$file" 2>err >out
[ ! -s out ]
grep -q 'stranger.txt: 256 of 256 trampolines are of a process that was not recorded' err
refused()
{
	want=$1 words=$2
	shift 2
	rc=0
	"$PERFKIT" collapse -q --no-local --label table=events "$@" "$file" 2>err >out || rc=$?
	[ $rc = "$want" ] && grep -q "$words" err || { echo "$*: exit $rc"; cat err; exit 1; }
}
echo 'perfkit-labels v2' >v2.txt
refused 1 'v2.txt: line 1: label histories of another version' --with v2.txt
echo 'perfkit-labels v1' >none.txt
refused 1 'none.txt: no spans, labels or gaps in it' --with none.txt
refused 3 'perf record -k CLOCK_MONOTONIC_RAW' --with "$kept/labels.txt,clock=raw"
exit 0
