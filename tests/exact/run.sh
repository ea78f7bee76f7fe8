#!/bin/sh
# run.sh OUT - what each line of `cases` prints, as OUT/NAME.exact. $SRC and $PERFKIT as for tests.
# Terminals, locales and this machine's files have no part in it.
set -u
out=$(cd "$1" && pwd) || exit 1
unset COLUMNS
LC_ALL=C
export LC_ALL
while IFS=: read -r where words; do
	case $where in '#'* | '') continue ;; esac
	name=${where% *}
	cd "$SRC/testdata/${where#* }" || exit 1
	case $words in
	*" perf.data") words="${words% *} --no-local $(cat args 2>/dev/null) perf.data" ;;
	*.tar.zst) words="${words% *} --no-local ${words##* }" ;;
	esac
	# shellcheck disable=SC2086
	"$PERFKIT" $words >"$out/stdout" 2>"$out/stderr" </dev/null
	status=$?
	{ cat "$out/stdout"; echo "-- $status"; cat "$out/stderr"; } >"$out/$name.exact"
done <"$SRC/tests/exact/cases"
rm -f "$out/stdout" "$out/stderr"
