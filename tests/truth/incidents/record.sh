#!/bin/sh
# record.sh FOLDER [KIND...] - records the incidents (all, or those) into FOLDER/KIND.data, with FOLDER/KIND.log.
# As a session of its own with a high priority, so that neighbours on the machine are not the slowest thing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
to=$(cd "$1" && pwd)
shift
BIN=${BIN:-$to}
PERFKIT=${PERFKIT:-perfkit}
[ $# -gt 0 ] || set -- $(sed -n 's/^\([a-z]*\) ;.*/\1/p' "$here/expected.txt" "$here/kept.txt")
for kind in "$@"; do
	case $kind in
	assist) set -- "$BIN/assist" "$to/$kind.log" ;;
	execsync) set -- node "$here/execsync.js" "$to/$kind.log" "$BIN/ask_port" ;;
	ledger) set -- java -cp "$BIN" Kept "$to/$kind.log" ;;
	blocked) set -- node "$here/blocked.js" "$to/$kind.log" "$BIN/ask_port" ;;
	*)
		program=kinds
		! grep -q "^$kind ;" "$here/kept.txt" || program=kept
		set -- "$BIN/$program" "$to/$kind.log" "$kind" "$BIN/slow_lib.so"
		;;
	esac
	# shellcheck disable=SC2016
	"$PERFKIT" record tail --stacks dwarf:4096 --no-lock-owner -F 997 -o "$to/$kind.data" -- \
		setsid -f -w nice -n -19 sh -c 'echo -19 2>/dev/null >/proc/self/autogroup; exec "$@"' sh "$@" \
		>"$to/$kind.record" 2>&1 || echo "$kind: $(tail -1 "$to/$kind.record")"
done
