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
	for verb in collapse "collapse --offcpu" tail svg "svg --offcpu" timeline \
		"export --to pprof" "export --to pprof --offcpu"; do
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
"$PERFKIT" collapse -q --no-local -e sched:sched_switch --comm ':133[78]9' "$nameless" >have
cmp want have || say "--comm ':133[78]9': $(cat have)"

# names may be globs, of a recording and of its store
orders=$SRC/testdata/orders/orders.tar.zst
"$PERFKIT" import -q "$orders" -o orders.db
for f in "$orders" orders.db; do
	for verb in "collapse -e cpu-clock" "collapse --offcpu"; do
		"$PERFKIT" $verb -q --comm front-0,front-1 "$f" >want
		"$PERFKIT" $verb -q --comm 'front-[01]' "$f" >have
		[ -s want ] && cmp want have || say "$verb --comm 'front-[01]' $f"
	done
done

# what other filters leave nothing of
nothing()  # words, recording, options...
{
	words=$1
	shift
	"$PERFKIT" collapse --no-local "$@" >out 2>err || say "$*: exit $?"
	[ ! -s out ] && [ "$(grep -c "$words" err)" = 1 ] || say "$*: $(cat err)"
}
demo=$SRC/testdata/demo/perf.data
nothing 'perf.data: no sample passes --cpu$' --cpu 77 "$demo"
nothing 'perf.data: no sample passes --comm, --time$' --time 1,2 --comm x "$demo"
nothing 'perf.data: no wait passes --cpu$' --offcpu --cpu 77 "$SRC/testdata/waits/perf.data"
nothing 'perf.data: no wait passes --cpu, --cause$' --offcpu --idle --system --cpu 0 --cause throttle \
	"$SRC/testdata/waits/perf.data"
nothing 'perf.data: no wait passes --cause$' --offcpu --cause throttle "$SRC/testdata/waits/perf.data"
nothing 'no thread called x$' --comm x "$demo"
exit $failed
