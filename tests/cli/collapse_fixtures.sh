#!/bin/sh
# Every recording in testdata folds to what perf and the well-known script say of it (stored
# beside it), without and with inlined functions, byte for byte or by classes of
# tests/differences.md; and every class explains what it should and no more.
for tool in python3 nm; do
	command -v $tool >/dev/null 2>&1 || { echo "no $tool here"; exit 77; }
done
# checked DIR: one recording, from a folder of its own
checked()
{
	dir=$1
	name=$(basename "$dir")
	cd "$dir" || exit 1
	args=$(cat args)
	shown= # the script takes the event of the first sample
	[ ! -f script-event ] || shown="-e $(cat script-event)"
	wrong=0
	elf=$(find symfs -type f -size +1k 2>/dev/null | sed 's/^/--elf /')
	lbr= # what perf says of the branch records
	[ ! -f script-lbr.txt.gz ] || lbr="--lbr script-lbr.txt.gz"
	differ=$lbr # further options of foldcheck.py
	compare()  # stored-answer options...
	{
		want=$1
		shift
		# shellcheck disable=SC2086
		if ! timeout 60 "$PERFKIT" collapse -q --no-local $args $shown "$@" \
			--buildid-dir "$OLDPWD" -i perf.data >"$OLDPWD/got" 2>"$OLDPWD/err"; then
			echo "$name $*: perfkit fails: $(cat "$OLDPWD/err")"
			wrong=1
		elif ! gzip -dc "$want" | cmp -s - "$OLDPWD/got"; then
			python3 -B "$SRC/tests/foldcheck.py" --script script.txt.gz $differ "$want" \
				"$OLDPWD/got" >"$OLDPWD/why" || wrong=1
			sed "s|^|$name $*: |" "$OLDPWD/why"
		fi
	}
	same() { want=$1; shift; compare "$want" --no-inline "$@"; }
	same folded.txt.gz
	same folded-kernel.txt.gz --kernel
	same folded-jit.txt.gz --jit
	same folded-all.txt.gz --all
	same folded-addrs.txt.gz --addrs
	same folded-pid.txt.gz --pid-name
	same folded-tid.txt.gz --tid-name
	if [ -f events ]; then
		keep=$shown
		while read -r event; do
			shown="-e $event"
			same "folded-event-$(echo "$event" | tr : _).txt.gz"
		done <events
		shown=$keep
	fi
	differ="$lbr $elf --inline --callchains" inlined=folded.txt.gz # perf shows none
	[ ! -f folded-inline.txt.gz ] ||
		{ differ="$elf --inline" inlined=folded-inline.txt.gz; }
	compare $inlined --inline
	return $wrong
}
if [ $# = 1 ]; then
	mkdir "$(basename "$1")" && cd "$(basename "$1")" && checked "$1" >said 2>&1
	exit
fi
# as many at a time as there are CPUs
failed=0
for dir in "$SRC"/testdata/*/; do
	[ ! -f "$dir/folded.txt.gz" ] || echo "${dir%/}"
done >recordings
xargs -P "$(nproc)" -n 1 sh "$0" <recordings || failed=1
cat ./*/said
[ "$(cat ./*/said | wc -l)" -gt 20 ] && [ "$(ls -d ./*/ | wc -l)" = "$(wc -l <recordings)" ] ||
	{ echo "not all recordings were compared"; failed=1; }

python3 -B "$SRC/tests/foldcheck_test.py" || failed=1

# Every class that the checker knows is explained.
for class in $(python3 -B "$SRC/tests/foldcheck.py" --classes); do
	grep -q "^| $class |" "$SRC/tests/differences.md" ||
		{ echo "tests/differences.md does not explain '$class'"; failed=1; }
done
exit $failed
