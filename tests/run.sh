#!/bin/sh
# run.sh [PATTERN] - run the unit programs, then tests/cli/*.sh; fast ones first.
#
# A cli test is a sh script that exits 0 (passed), 77 (skipped, last line says why) or anything
# else (failed; so does one of over 15 minutes, or $TEST_SECONDS). It finds perfkit in $PERFKIT, the sources in
# $SRC and a private empty directory as its working directory. What failed is told again at the
# end, for logs that keep only their end. The last line is the sum: N passed, N failed, N skipped.
# A test with a line "# live: WHY" depends on what this machine does just now (it records, or drives
# a browser): a failure is shown and tried twice more, and a test that passes then says so.
# A line "left out: WHAT" is shown beside "ok": a part that could not be tried here.
# RUN is put in front of the unit programs (an emulator).
set -u
# What nohup or a background job ignores, tests would inherit.
if [ -z "${SIGNALS:-}" ] && env --default-signal true 2>/dev/null; then
	SIGNALS=default exec env --default-signal sh "$0" "$@"
fi
SRC=$(cd "$(dirname "$0")/.." && pwd)
O=${O:-build}
case $O in /*) ;; *) O=$SRC/$O ;; esac
PERFKIT=$O/perfkit
export SRC O PERFKIT
pattern=${1:-}
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM

: >"$work/failures"

# failure NAME OUTPUT LINES - show the end of a failed test's output, now and at the end
failure()
{
	tail -"$3" "$2"
	{ echo "FAILED $1:"; tail -12 "$2" | cut -c1-300 | sed 's/^/    /'; } >>"$work/failures"
}

wanted()
{
	case $1 in *"$pattern"*) return 0 ;; esac
	return 1
}

for t in "$O"/tests/unit/*/test_*; do
	[ -x "$t" ] && [ -f "$t" ] || continue
	name=unit/$(basename "$(dirname "$t")")/$(basename "$t" | sed 's/^test_//')
	wanted "$name" || continue
	out=$work/unit.out
	(cd "$SRC" && CMOCKA_MESSAGE_OUTPUT=STDOUT timeout -k 10 900 ${RUN:-} "$t") >"$out" 2>&1 </dev/null
	rc=$?
	p=$(grep -c '^\[       OK \]' "$out")
	f=$(sed -n 's/^\[  FAILED  \] \([a-z_0-9]*\)$/\1/p' "$out" | sort -u | wc -l)
	s=$(sed -n 's/^\[  SKIPPED \] \([a-z_0-9]*\)$/\1/p' "$out" | sort -u | wc -l)
	if [ $rc -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	if [ $rc -ne 0 ]; then
		grep -v '^\[ *OK\|^\[ *RUN' "$out" >"$out.said"
		failure "$name" "$out.said" 40
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-40s %s passed, %s failed' "$name" "$p" "$f"
	[ "$s" = 0 ] || printf ', %s skipped: %s' "$s" "$(sed -n 's/^skip: //p' "$out" | paste -sd';')"
	echo
done

# run_cli TEST - once, in a new directory; its output is in cli.out
run_cli()
{
	rm -rf "$work/cli" && mkdir "$work/cli" || exit 1
	(cd "$work/cli" && timeout -k 10 "${TEST_SECONDS:-900}" sh "$1") >"$work/cli.out" 2>&1 </dev/null
}

for t in "$SRC"/tests/cli/*.sh; do
	[ -f "$t" ] || continue
	name=cli/$(basename "$t" .sh)
	wanted "$name" || continue
	start=$(date +%s)
	tries=1
	run_cli "$t"
	rc=$?
	while [ $rc -ne 0 ] && [ $rc -ne 77 ] && [ $rc -ne 124 ] && [ $tries -lt 3 ] &&
		grep -q '^# live: ' "$t"; do
		echo "$name failed, live, try $tries:"
		tail -12 "$work/cli.out" | cut -c1-300 | sed 's/^/    /'
		tries=$((tries + 1))
		run_cli "$t"
		rc=$?
	done
	took=$(($(date +%s) - start))
	case $rc in
	0)
		passed=$((passed + 1)) word=ok
		[ $tries -eq 1 ] || word="ok at try $tries"
		left=$(sed -n 's/^left out: //p' "$work/cli.out" | paste -sd' ')
		[ -z "$left" ] || word="$word, left out: $left"
		;;
	77) skipped=$((skipped + 1)) word="skipped: $(tail -1 "$work/cli.out")" ;;
	*)
		failed=$((failed + 1)) word=FAILED
		failure "$name" "$work/cli.out" 40
		;;
	esac
	printf '%-40s %s (%ss)\n' "$name" "$word" "$took"
done

cat "$work/failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
