# Requests that a program logs while perf records it: every one to the nanosecond, and the slow ones
# explained by the thread that slept with the lock.
# live: records now, on this machine
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
command -v perf >/dev/null || { echo "perf is not installed"; exit 77; }
try=0
while :; do
	perf record -q -a -N -k CLOCK_MONOTONIC -m 4096 -g -e sched:sched_switch -e sched:sched_waking \
		-e sched:sched_wakeup -e sched:sched_wakeup_new -o live.data -- \
		taskset -c 0 chrt -f 50 "$O/tests/truth/serve" requests.csv --requests 67 2>err ||
		{ echo "cannot record here: $(tail -1 err)"; exit 77; }
	rc=0
	"$PERFKIT" tail -q --force --with requests.csv,clock=mono --top 0 --open --json live.data >tail.json
	python3 "$SRC/tests/truth/check_requests.py" requests.csv tail.json || rc=$?
	[ $rc != 0 ] || exit 0
	"$PERFKIT" report live.data 2>&1 | grep -q 'records lost\|are missing' || exit $rc
	try=$((try + 1))
	[ $try -lt 3 ] || { echo "perf loses records here, three times in a row"; exit 77; }
done
