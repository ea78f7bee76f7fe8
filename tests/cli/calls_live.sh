# perfkit record calls: where probes go, and what they count, beside what the program counted itself.
# live: records now, on this machine
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
prog=$O/tests/truth/counted
src=$SRC/tests/truth/counted.c
line() { grep -n "$1" "$src" | sed -n "${2:-1}s/:.*//p"; }
first=$(line 'touch(pages);') last=$(line 'doze(sleeps);')

# addresses that begin an instruction: those that objdump lists
"$PERFKIT" record calls -x "$prog" -r work -r "counted.c:$first-$last" --list >places
grep -q " work begin$" places
grep -q " work return$" places
grep -q " counted.c:$first-$last begin (line $first)$" places
grep -q " counted.c:$first-$last end (line $last)$" places
[ "$(wc -l <places)" = 4 ]
if command -v objdump >/dev/null; then
	objdump -d "$prog" | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' | sort >instructions
	cut -d' ' -f1 places | sort -u | comm -23 - instructions >none
	[ ! -s none ] || { echo "inside of instructions: $(cat none)"; exit 1; }
fi
"$PERFKIT" record calls -x "$prog" --list | grep -q '^0x[0-9a-f]* walk$'

# no guesses
fails()
{
	want=$1
	shift
	"$PERFKIT" record calls "$@" >out 2>err && { echo "calls $*: no error"; exit 1; }
	[ ! -s out ] && grep -qF -- "$want" err || { echo "calls $*: $(cat out err)"; exit 1; }
}
fails "did you mean 'work'" -x "$prog" -r wrok -- "$prog"
fails "no code from a file counter.c" -x "$prog" -r counter.c:3-4 -- "$prog"
fails "no statement begins on line 1 of" -x "$prog" -r counted.c:1-2 -- "$prog"
fails "no statement begins on lines 9000 to 9008 of" -x "$prog" -r counted.c:9000-9009 -- "$prog"
cp "$prog" "a b"
fails "a b: the kernel takes no probe in a file whose path has blanks" -x "a b" -r work --dry-run -- "$prog"
fails "must follow the first" -x "$prog" -r counted.c:9-9 -- "$prog"
fails "or below in that function" -x "$prog" -r "counted.c:$first-9999" -- "$prog"
fails "needs a command, -p or -t" -x "$prog" -r work
fails "needs -r" -x "$prog" -- "$prog"
"$PERFKIT" record tail -r work 2>err && exit 1
grep -q 'apply only to calls' err

command -v perf >/dev/null || { echo "perf is not installed"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "probes need root"; exit 77; }
[ -w /sys/kernel/tracing/uprobe_events ] || { echo "no uprobes here"; exit 77; }
try=0
until "$PERFKIT" record calls -x "$prog" -r work -r walk -r "counted.c:$first-$last" -o live.data -- \
	taskset -c 0 chrt -f 50 "$prog" log.txt --rounds 31 >out 2>&1 ||
	! grep -q 'already exist' out || [ $try -gt 20 ]; do
	try=$((try + 1))
	sleep 1
done
[ -s live.data ] || { echo "cannot record here: $(tail -1 out)"; exit 77; }
if grep -qs 'perfkit/work\|perfkit/counted_c' /sys/kernel/tracing/uprobe_events; then
	echo "probes are left"
	exit 1
fi
perf evlist -g -i live.data 2>/dev/null | grep -q '^{perfkit:work,' ||
	{ echo "$(perf --version) takes probes out of their groups: calls have no counters"; exit 77; }
for name in work walk; do
	"$PERFKIT" tail -q --by span:$name --csv --top 0 live.data >$name.csv
	python3 "$SRC/tests/truth/check_calls.py" log.txt $name.csv $name
done
# work() touches its pages in those lines, and nothing else there faults
"$PERFKIT" report -q --by span --csv live.data >all.csv
python3 - log.txt "counted_c_${first}_$last" <<'END'
import csv, sys
rows = {r["name"]: r for r in csv.DictReader(open("all.csv"))}
truth = sum(int(l.split()[2]) for l in open(sys.argv[1]) if l.startswith("work-counts"))
lines, work = rows[sys.argv[2]], rows["work"]
assert lines["calls"] == work["calls"], lines
assert int(lines["context-switches"]) == 0, lines
# the first call is not in the log: it touches one page, and meets what is new
first = int(work["page-faults"]) - truth
assert truth <= int(lines["page-faults"]) <= truth + first, (lines, truth, first)
END
