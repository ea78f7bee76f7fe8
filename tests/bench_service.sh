#!/bin/sh
# bench_service.sh - does `record tail -p` of a service give the answers of a recording of the
# whole machine, and how much does it write? Both record the same seconds. Then two recordings of
# the whole machine do, which shows how far two recordings differ anyway.
# docs/recording-cost.md has the sum.
#
#	BENCH_DIR      where recordings are made (default $O/bench)
#	BENCH_SECONDS  how long (default 4)
#	BENCH_TRIPS    how busy the neighbours are: round trips of a byte each 2 ms (default 5)
#
# Needs root, perf, python3 and a C compiler.
set -eu
. "$(dirname "$0")/benchlib.sh"
need_perf 'no recordings'
command -v python3 >/dev/null 2>&1 || { echo "bench: no python3 here: no comparison"; exit 0; }
seconds=${BENCH_SECONDS:-4}
pk=$O/perfkit
${CC:-cc} -O1 -g -pthread -o "$dir/service" "$SRC/tests/workload/service.c"

record() # NAME SECONDS OPTIONS...
{
	name=$1 long=$2
	shift 2
	"$pk" record tail "$@" --no-lock-owner -d "$long" -o "$dir/$name.data" >"$dir/$name.err" 2>&1 ||
		{ cat "$dir/$name.err" >&2; return 1; }
	"$pk" import -q --force "$dir/$name.data" -o "$dir/$name.db"
}

both() # WHAT OPTIONS...: of the whole machine, and with OPTIONS
{
	what=$1
	shift
	record all $((seconds + 2)) --stacks dwarf:4096 &
	record some "$seconds" "$@"
	wait $!
	python3 "$SRC/tests/bench_service.py" "$pk" "$dir" $service "$what"
	rm -f "$dir"/all.d* "$dir"/some.d*
}

"$dir/service" "$dir/journal" 500 2 "${BENCH_TRIPS:-5}" &
service=$!
trap 'kill $service' EXIT
sleep 0.5
cat <<'END'
| recorded, too | switches with stacks | copies | bytes per switch, of all | waits | p50 | p90 | p99 | records missing | waits that differ | worst waits with the same cause, stack and root |
|---|---|---|---|---|---|---|---|---|---|---|
END
both '`tail -p PID`' -p $service
both '`tail`' --stacks dwarf:4096
