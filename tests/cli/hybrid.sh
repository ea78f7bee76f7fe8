#!/bin/sh
# The halves of one event on two kinds of cores are one event for every command, and every command
# shows the same one where none is asked for. Halves are testdata/events with other names: cpu-clock
# and context-switches are two halves of cycles, page-faults stays.
set -u
failed=0
wrong() { echo "$*"; failed=1; }
cp "$SRC/testdata/events/perf.data" perf.data
cat >rename.py <<'EOP'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
for change in sys.argv[2:]:  # EVENT_DESC: texts padded to 64 bytes, their length in front
    old, new = change.encode().split(b"=")
    at = data.find((64).to_bytes(4, "little") + old + b"\0")
    assert at > 0, old
    data[at + 4:at + 68] = new.ljust(64, b"\0")
open(sys.argv[1], "wb").write(data)
EOP
python3 rename.py perf.data cpu-clock=cpu_core/cycles/P context-switches=cpu_atom/cycles/P || exit 1
total() { awk '{ n += $NF } END { printf "%.0f\n", n }'; }
names="--no-local --kallsyms $SRC/testdata/events/kallsyms"
[ -e "$SRC/testdata/events/kallsyms" ] || names=--no-local
both=$("$PERFKIT" collapse -q $names perf.data 2>err | total)
core=$("$PERFKIT" collapse -q $names -e cpu_core/cycles/P perf.data | total)
atom=$("$PERFKIT" collapse -q $names -e cpu_atom/cycles/P perf.data | total)
[ "$core" -gt 0 ] && [ "$atom" -gt 0 ] && [ "$both" = $((core + atom)) ] || wrong "halves $core and $atom, together $both"
[ "$("$PERFKIT" collapse -q $names -e cycles perf.data | total)" = "$both" ] || wrong "--event cycles is not both halves"
[ "$("$PERFKIT" collapse -q $names -e cycles -e page-faults perf.data | total)" -gt "$both" ] || wrong "no page faults"

# A name of one half would say that the other is left out.
for f in report "report --by function" "svg -o -" "svg --flamechart -o -"; do
	"$PERFKIT" $f $names perf.data 2>/dev/null | grep -q 'cycles:P (cpu_core, cpu_atom)' || wrong "$f: another name"
	"$PERFKIT" $f $names -e cpu_atom/cycles/P perf.data 2>/dev/null | grep -q 'cpu_atom/cycles/P' || wrong "$f: another name for one half"
done

# svg, pprof, report, html and stores have the same default
"$PERFKIT" svg -q $names -o a.svg perf.data 2>/dev/null && "$PERFKIT" collapse -q $names perf.data 2>/dev/null |
	"$PERFKIT" svg -q -o b.svg - || wrong "svg fails"
for f in a.svg b.svg; do
	grep -o 'Total [0-9][0-9,]\{5,\}' $f | head -1
done | uniq >totals
[ "$(tr -dc 0-9 <totals)" = "$both" ] || wrong "svg: $(cat totals), collapse $both"
"$PERFKIT" report -q $names --by function --top 0 perf.data >functions 2>/dev/null
grep -q "$(echo "$both" | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta') in 708 samples" functions ||
	wrong "report: $(head -1 functions), collapse $both"
"$PERFKIT" import -q $names -o run.db perf.data 2>/dev/null
[ "$("$PERFKIT" collapse -q run.db 2>/dev/null | total)" = "$both" ] &&
	[ "$("$PERFKIT" collapse -q -e cycles run.db 2>/dev/null | total)" = "$both" ] &&
	[ "$("$PERFKIT" collapse -q -e cpu_atom/cycles/P run.db 2>/dev/null | total)" = "$atom" ] || wrong "the store has another default"
"$PERFKIT" doctor $names perf.data >doctor
grep -q 'cpu_core/cycles/P and cpu_atom/cycles/P are added up' doctor || wrong "doctor: $(cat doctor)"

# What is left out is said, even with -q, where it is more than what is shown.
"$PERFKIT" collapse -q $names "$SRC/testdata/events/perf.data" >/dev/null 2>err
[ ! -s err ] || wrong "said with -q: $(cat err)"
cp "$SRC/testdata/events/perf.data" few.data && python3 rename.py few.data page-faults=cycles cpu-clock=instructions || exit 1
for verb in collapse "svg -o few.svg"; do
	"$PERFKIT" $verb -q $names few.data >/dev/null 2>err
	grep -q '^perfkit: .*cycles; left out 708 samples of other events' err || wrong "$verb: $(cat err)"
done
[ $failed = 0 ] && echo "default event: $both = $core + $atom"
exit $failed
