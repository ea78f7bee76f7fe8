#!/bin/sh
# --event takes the names that perf gives, also those with commas between slashes
# (cpu/mem-loads,ldlat=30/P); other commas separate, whatever the order.
set -eu
data=$SRC/testdata/events/perf.data name=cpu/a=1,b=0x2/pp # as long as context-switches
sed "s|context-switches|$name|g" "$data" >renamed.data
fold()
{
	"$PERFKIT" collapse -q --no-local "$@"
}
same()  # what, want, got
{
	[ -s "$2" ] && cmp "$2" "$3" || { echo "$1"; exit 1; }
}
fold -e context-switches "$data" >want
fold -e "$name" renamed.data >got
same "an event with a comma in its name" want got
fold -e context-switches -e cpu-clock "$data" >want
for list in "$name,cpu-clock" "cpu-clock,$name"; do
	fold -e "$list" renamed.data >got
	same "two events: $list" want got
done
