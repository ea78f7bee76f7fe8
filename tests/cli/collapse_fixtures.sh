#!/bin/sh
# Every recording in testdata folds to what perf and the well-known script say of it (stored
# beside it), byte for byte or by classes of docs/differences.md.
command -v python3 >/dev/null 2>&1 || { echo "no python3 here"; exit 77; }
failed=0
for dir in "$SRC"/testdata/*/; do
	[ -f "$dir/folded.txt.gz" ] || continue
	name=$(basename "$dir")
	cd "$dir" || exit 1
	args=$(cat args)
	wrong=0
	compare()  # stored-answer options...
	{
		want=$1
		shift
		# shellcheck disable=SC2086
		if ! timeout 60 "$PERFKIT" collapse -q --no-inline --no-local $args "$@" \
			--buildid-dir "$OLDPWD" -i perf.data >"$OLDPWD/got" 2>"$OLDPWD/err"; then
			echo "$name $*: perfkit fails: $(cat "$OLDPWD/err")"
			wrong=1
		elif ! gzip -dc "$want" | cmp -s - "$OLDPWD/got"; then
			python3 "$SRC/tests/foldcheck.py" --script script.txt.gz "$want" \
				"$OLDPWD/got" >"$OLDPWD/why" || wrong=1
			sed "s|^|$name $*: |" "$OLDPWD/why"
		fi
	}
	compare folded.txt.gz
	compare folded-kernel.txt.gz --kernel
	compare folded-jit.txt.gz --jit
	compare folded-all.txt.gz --all
	compare folded-addrs.txt.gz --addrs
	compare folded-pid.txt.gz --pid-name
	compare folded-tid.txt.gz --tid-name
	if [ -f events ]; then
		while read -r event; do
			compare "folded-event-$(echo "$event" | tr : _).txt.gz" -e "$event"
		done <events
	fi
	[ $wrong = 0 ] || failed=1
	cd "$OLDPWD" || exit 1
done

# A class that is told apart is a class that is explained.
for class in $(sed -n 's/.*\(return\|found =\|else\) "\([a-z-]*\)".*/\2/p' "$SRC/tests/foldcheck.py" |
	sort -u); do
	grep -q "^| $class |" "$SRC/docs/differences.md" ||
		{ echo "docs/differences.md does not explain '$class'"; failed=1; }
done
exit $failed
