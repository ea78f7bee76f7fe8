#!/bin/sh
# holders.sh [SECONDS] - records programs that log who held a lock when, with stack copies, and asks
# `tail` who held it: one line for each, as in docs/truth.md. What is not installed is left out.
# PYTHONS lists the interpreters, PG is the folder with PostgreSQL's programs.
set -u
here=$PWD/tests/truth
bin=$(cd "${O:-build}" && pwd)
seconds=${1:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# measure NAME FUNCTION COMMAND...: FUNCTION "" for waits with the cause lock or rwlock
measure()
{
	name=$1 function=$2
	shift 2
	"$bin/perfkit" record tail --stacks dwarf -o data -- "$@" >record 2>&1 || return
	"$bin/perfkit" tail -q --by wait --over 2ms --json --force data >json 2>err
	python3 "$here/holders_check.py" "$name" log json $function
}

echo "| lock | waits | right | wrong | unknown |"
for kind in mutex barge rwlock; do
	measure "$kind" "" "$bin/tests/truth/holders" log $kind "$seconds"
done
measure nested use_both "$bin/tests/truth/holders" log nested "$seconds"
measure futex use_futex "$bin/tests/truth/holders" log futex "$seconds"
for python in ${PYTHONS:-python3}; do
	measure "GIL, $($python --version)" "" $python "$here/holders.py" log "$seconds" \
		"$bin/tests/truth/gil_hold.so"
done
if command -v ruby >/dev/null; then
	measure GVL "" ruby "$here/holders.rb" log "$seconds" "$bin/tests/truth/gil_hold.so"
fi
if command -v javac >/dev/null && javac -d . "$here/Holders.java"; then
	measure "Java monitor" ObjectMonitor::EnterI java -XX:+PreserveFramePointer Holders log \
		"$seconds" monitor
fi
pg=${PG:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)}
if [ -n "$pg" ]; then
	measure "PostgreSQL row lock" ProcSleep python3 "$here/holders_pg.py" log "$seconds" "$pg"
fi
