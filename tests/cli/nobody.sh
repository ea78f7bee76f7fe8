#!/bin/sh
# --comm, --pid and --tid that name nobody: one line says so, of a recording and of its store;
# whoever is there is not said to be missing, and -q silences. A thread that perf never named is
# asked for as it is shown.
set -eu
data=$SRC/testdata/waits/perf.data
"$PERFKIT" import -q --no-local "$data" -o run.db
failed=0
say() { echo "$*"; failed=1; }
for f in "$data" run.db; do
	for verb in collapse "collapse --offcpu" tail svg "svg --offcpu" timeline; do
		for who in "--comm nosuch: called nosuch" "--comm nosuch,neither: called nosuch or neither" \
			"--pid 999999: of pid 999999" "--tid 999998 --comm nosuch: called nosuch with tid 999998"; do
			# shellcheck disable=SC2086
			"$PERFKIT" $verb ${who%%:*} "$f" >/dev/null 2>err || true
			[ "$(grep -c "$(basename "$f"): no thread${who#*:}\$" err)" = 1 ] ||
				say "$verb ${who%%:*} $f: $(cat err)"
		done
		"$PERFKIT" $verb --comm locker_a "$f" >/dev/null 2>err || true
		! grep 'no thread' err || say "$verb: locker_a is there"
		"$PERFKIT" $verb -q --comm nosuch "$f" >/dev/null 2>err || true
		! grep 'no thread' err || say "$verb: -q does not silence"
	done
	"$PERFKIT" collapse --comm swapper "$f" 2>&1 >/dev/null | grep 'no thread' && say "the idle task is there"
done
nameless=$SRC/testdata/doctor/no-event-names-not.data.gz
"$PERFKIT" collapse -q --no-local -e sched:sched_switch "$nameless" | grep '^:13389;' >want
"$PERFKIT" collapse -q --no-local -e sched:sched_switch --comm nosuch,:13389 "$nameless" >have
[ -s want ] && cmp want have || say "--comm :13389: $(cat have)"
exit $failed
