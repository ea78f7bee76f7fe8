#!/bin/sh
# perfkit report counts the samples of every event as perf report --stats does, also of events that
# are no part of the scheduler's tables: irq, block, system calls, probes.
set -eu
command -v perf >/dev/null || { echo "perf is not installed"; exit 77; }
gunzip -c "$SRC/testdata/kinds/perf.data.gz" >kinds.data
gunzip -c "$SRC/testdata/syscalls/perf.data.gz" >syscalls.data
for f in kinds.data syscalls.data "$SRC"/testdata/waits/perf.data "$SRC"/testdata/events/perf.data; do
	# "NAME stats:", then "SAMPLE events: N" unless there are none
	perf report --stats -i "$f" 2>/dev/null |
		awk '/^[^ ].* stats:$/ { name = $1 } /SAMPLE events:/ && name != "" { print name, $3 }' |
		grep -v '^Aggregated' | sort >perf.txt
	"$PERFKIT" report -q -v "$f" | awk '/^events/ { on = 1; sub(/^events/, "") } /^records/ { on = 0 }
		on { sub(/:$/, "", $1); gsub(",", "", $2); if ($2 + 0) print $1, $2 }' | sort >own.txt
	[ -s perf.txt ] || { echo "perf counts nothing in $f"; exit 1; }
	diff perf.txt own.txt || { echo "$f: perf's counts (<) and report's (>)"; exit 1; }
	wc -l <perf.txt | sed "s|^|$(basename "$f"): events counted: |"
done
