#!/bin/sh
# Every fuzz target reads its seeds and all that fuzzing has found, to the end: no crash, nothing
# that takes more than some seconds. (make asan: no overrun, no leak.) A target without seeds is
# none.
sh "$SRC/tests/fuzz/seeds.sh" "$O" "$PWD/seeds" || { echo "no seeds"; exit 1; }
failed=0
for src in "$SRC"/tests/fuzz/fuzz_*.c; do
	name=$(basename "$src" .c)
	name=${name#fuzz_}
	[ -d "seeds/$name" ] || { echo "$name: no seeds"; failed=1; continue; }
	set -- "seeds/$name"
	[ -d "$SRC/tests/fuzz/found/$name" ] && set -- "$@" "$SRC/tests/fuzz/found/$name"
	"$O/tests/fuzz/fuzz_$name" "$@" >out 2>&1 || {
		echo "fuzz_$name: $?"
		tail -30 out
		failed=1
		continue
	}
	want=$(find "$@" -type f | wc -l)
	grep -qx "$want inputs" out || { echo "fuzz_$name: $(tail -1 out), of $want"; failed=1; }
done
# what was found says what it was
(cd "$SRC/tests/fuzz/found" && find . -mindepth 2 -type f) | sed 's|^\./||' | sort >have
sed -n 's/^\([a-z]*\/[^:]*\): .*/\1/p' "$SRC/tests/fuzz/found/README" | sort >told
cmp -s have told || { echo "found/README and the folder differ:"; diff told have; failed=1; }
exit $failed
