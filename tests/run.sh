#!/bin/sh
# run.sh [NAME] - run the unit programs, then tests/cli/*.sh. NAME is a test's name as printed
# (cli/tail, unit/libsym/plt) or a part of several names.
#
# A cli test is a sh script that exits 0 (passed), 77 (skipped, last line says why) or anything
# else (failed; so does one that takes over 15 minutes, an hour under a sanitizer, or $TEST_SECONDS). It finds perfkit in $PERFKIT, the sources
# in $SRC, a private empty directory as its working directory and another as $HOME. Failures are
# printed again at the end, for logs that keep only their end. The last line is the sum: N passed,
# N failed, N skipped.
# A test of fixtures must give the same answer on every machine. Where a mount namespace can be
# made, it runs in one that has other kernel symbols, build-ids and debug files (hermetic.sh).
# Three kinds of tests see the machine as it is:
#   "# live: WHY"     records here and now: no CPU is idle meanwhile (busy.sh); a
#                     failure is shown and tried twice more, and a test that passes then says so
#   "# beside: WHY"   the same, but asks for no times: other tests run beside it
#   "# machine: WHY"  takes this machine's own files as examples
# As many tests run at once as there are CPUs (or $TEST_JOBS); live ones alone, at the end.
# A line "left out: WHAT" is shown beside "ok": a part that could not be tried here.
# RUN is put in front of the unit programs (an emulator).
set -u
SRC=$(cd "$(dirname "$0")/.." && pwd)
O=${O:-build}
case $O in /*) ;; *) O=$SRC/$O ;; esac
PERFKIT=$O/perfkit
PERFKIT_CHECKS=1 # base/check.h
export SRC O PERFKIT PERFKIT_CHECKS
# What a sanitizer reports is a status that no test expects.
sanitized=$(nm -D "$PERFKIT" 2>/dev/null | grep -o '__[a-z]*san_' | head -1)
seconds=${TEST_SECONDS:-900}
[ -z "$sanitized" ] || seconds=${TEST_SECONDS:-3600}
report='^==[0-9]+==ERROR: [A-Z][a-z]*Sanitizer|^WARNING: ThreadSanitizer: .*[(]pid=|[a-z]:[0-9]+:[0-9]+: runtime error: '
ASAN_OPTIONS=exitcode=66${ASAN_OPTIONS:+:$ASAN_OPTIONS}
UBSAN_OPTIONS=exitcode=66:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
TSAN_OPTIONS=exitcode=66:history_size=4${TSAN_OPTIONS:+:$TSAN_OPTIONS}
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
pattern=${1:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM

# Nothing of the user's is read or written; what Go has compiled is worth keeping.
GOCACHE=${GOCACHE:-${HOME:-/}/.cache/go-build}
export GOCACHE HOME
unset DEBUGINFOD_URLS PERF_BUILDID_DIR PERF_CONFIG XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME

: >"$work/failures"
: >"$work/lacking"
: >"$work/sums"

# failure NAME OUTPUT LINES - show the end of a failed test's output, now and at the end
failure()
{
	tail -"$3" "$2"
	{ echo "FAILED $1:"; tail -12 "$2" | cut -c1-300 | sed 's/^/    /'; } >>"$work/failures"
}

# lacking NAME REASON - keep, for the end, which package has the tool that a skipped part lacks
lacking()
{
	sed 's/#.*//; /^$/d' "$SRC/tests/tools.txt" | while IFS=: read -r tool deb _; do
		case " $2 " in *[!a-z0-9+-]"$tool"[!a-z0-9+-]*) ;; *) continue ;; esac
		command -v "$tool" >/dev/null || echo "  $1: no $tool (Debian: $deb)"
	done >>"$work/lacking"
}

# Every test's name, and the file that it is.
for t in "$O"/tests/unit/*/test_*; do
	[ -x "$t" ] && [ -f "$t" ] || continue
	echo "unit/$(basename "$(dirname "$t")")/$(basename "$t" | sed 's/^test_//') $t"
done >"$work/tests"
for t in "$SRC"/tests/cli/*.sh; do
	echo "cli/$(basename "$t" .sh) $t"
done >>"$work/tests"
awk -v name="$pattern" '$1 == name' "$work/tests" >"$work/wanted"
[ -s "$work/wanted" ] ||
	awk -v part="$pattern" 'part == "" || index($1, part)' "$work/tests" >"$work/wanted"
[ -s "$work/wanted" ] || {
	echo "no test has '$pattern' in its name; names are like cli/tail and unit/libsym/plt" >&2
	exit 1
}

signals=
! env --default-signal true 2>/dev/null || signals=--default-signal

cover=
if [ "$(id -u)" != 0 ]; then
	why="only root can hide them"
elif [ -n "${RUN:-}" ]; then
	why="the unit programs run under $RUN"
elif ! unshare -m true 2>"$work/unshare.err"; then
	why=$(head -1 "$work/unshare.err")
elif sh "$SRC/tests/hermetic.sh" make "$work/cover" 2>"$work/cover.err" &&
	unshare -m sh "$SRC/tests/hermetic.sh" run "$work/cover" true 2>"$work/cover.err"; then
	cover=$work/cover
else
	why=$(tail -1 "$work/cover.err")
fi
if [ -n "$cover" ]; then
	echo "Tests of fixtures do not see this machine's symbols, debug files and build-ids."
else
	echo "Tests of fixtures see this machine's symbols, debug files and build-ids: $why."
fi

# try SEES COMMAND... - in a new HOME; SEES is "live", "beside", "machine" or "fixtures"
try()
{
	sees=$1
	shift
	rm -rf "$HOME" && mkdir "$HOME" || exit 1
	if [ -n "$cover" ] && [ "$sees" = fixtures ]; then
		set -- unshare -m sh "$SRC/tests/hermetic.sh" run "$cover" "$@"
	fi
	[ "$sees" != live ] || set -- sh "$SRC/tests/busy.sh" "$@"
	# What nohup or a background job ignores, tests would inherit.
	# shellcheck disable=SC2086
	env $signals timeout -k 10 "$seconds" "$@" </dev/null
}

# Each side of the sum of tests that have run: passed, failed, skipped.
count() { echo "$1 $2 $3" >>"$work/sums"; }

run_unit()  # NAME PROGRAM
{
	out=$mine/unit.out
	# shellcheck disable=SC2086
	(cd "$SRC" && export CMOCKA_MESSAGE_OUTPUT=STDOUT && try fixtures ${RUN:-} "$2") >"$out" 2>&1
	rc=$?
	p=$(grep -c '^\[       OK \]' "$out")
	f=$(sed -n 's/^\[  FAILED  \] \([a-z_0-9]*\)$/\1/p' "$out" | sort -u | wc -l)
	s=$(sed -n 's/^\[  SKIPPED \] \([a-z_0-9]*\)$/\1/p' "$out" | sort -u | wc -l)
	if [ $rc -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	if [ $rc -ne 0 ]; then
		grep -v '^\[ *OK\|^\[ *RUN' "$out" >"$out.said"
		failure "$1" "$out.said" 40
	fi
	count "$p" "$f" "$s"
	printf '%-40s %s passed, %s failed' "$1" "$p" "$f"
	if [ "$s" != 0 ]; then
		reasons=$(sed -n 's/^skip: //p' "$out" | paste -sd';')
		printf ', %s skipped: %s' "$s" "$reasons"
		lacking "$1" "$reasons"
	fi
	echo
}

# once_cli TEST - in a new directory; its output is in cli.out
once_cli()
{
	rm -rf "$mine/cli" && mkdir "$mine/cli" || exit 1
	sees=$(sed -n 's/^# \(live\|beside\|machine\): .*/\1/p' "$1" | head -1)
	sees=${sees:-fixtures}
	(cd "$mine/cli" && try $sees sh "$1") >"$mine/cli.out" 2>&1
	rc=$?
	[ -z "$sanitized" ] || reports "$mine/cli" || rc=1
}

# reports DIR - 1 if a file that a test left has what a sanitizer reports, which is then shown
reports()
{
	LC_ALL=C grep -rlIE "$report" "$1" >"$mine/reports"
	[ -s "$mine/reports" ] || return 0
	while read -r f; do
		echo "a sanitizer's report in $f:"
		LC_ALL=C grep -E -A12 "$report" "$f" | head -40
	done <"$mine/reports" >>"$mine/cli.out"
	return 1
}

run_cli()  # NAME TEST
{
	start=$(date +%s)
	tries=1
	once_cli "$2"
	while [ $rc -ne 0 ] && [ $rc -ne 77 ] && [ $rc -ne 124 ] && [ $tries -lt 3 ] &&
		grep -q '^# \(live\|beside\): ' "$2"; do
		echo "$1 failed, try $tries:"
		tail -12 "$mine/cli.out" | cut -c1-300 | sed 's/^/    /'
		tries=$((tries + 1))
		once_cli "$2"
	done
	took=$(($(date +%s) - start))
	left=$(sed -n 's/^left out: //p' "$mine/cli.out" | paste -sd' ')
	case $rc in
	0)
		count 1 0 0
		word=ok
		[ $tries -eq 1 ] || word="ok at try $tries"
		[ -z "$left" ] || word="$word, left out: $left"
		;;
	77)
		left="$left $(tail -1 "$mine/cli.out")"
		count 0 0 1
		word="skipped: $(tail -1 "$mine/cli.out")"
		;;
	*)
		count 0 1 0
		word=FAILED left=
		failure "$1" "$mine/cli.out" 40
		;;
	esac
	lacking "$1" "$left"
	printf '%-40s %s (%ss)\n' "$1" "$word" "$took"
}

run_test()  # NAME FILE
{
	case $1 in
	unit/*) run_unit "$1" "$2" ;;
	*) run_cli "$1" "$2" ;;
	esac
}

# worker LIST - run those of LIST's tests that no other worker has begun, with a folder of its own
worker()
{
	mine=$(mktemp -d "$work/worker.XXXXXX") || exit 1
	HOME=$mine/home
	while read -r name t <&3; do
		mkdir "$work/begun/$(echo "$name" | tr / .)" 2>/dev/null || continue
		run_test "$name" "$t" >"$mine/said" 2>&1
		cat "$mine/said"
	done 3<"$1"
}

mkdir "$work/begun"
while read -r name t; do
	if grep -q '^# live: ' "$t"; then echo "$name $t" >>"$work/live"; else echo "$name $t"; fi
done <"$work/wanted" >"$work/others"
jobs=${TEST_JOBS:-$(nproc 2>/dev/null || echo 1)}
while [ "$jobs" -gt 0 ]; do
	worker "$work/others" &
	jobs=$((jobs - 1))
done
wait
[ ! -e "$work/live" ] || worker "$work/live"

cat "$work/failures"
if [ -s "$work/lacking" ]; then
	echo "Left out for want of a tool:"
	sort -u "$work/lacking"
fi
awk '{ p += $1; f += $2; s += $3 }
END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p + s == 0 }' "$work/sums"
