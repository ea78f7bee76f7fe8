# A callchain by frame pointers loses the caller of a leaf without a frame (memcpy's caller). With
# a copy of only a few words of the stack beside it, the caller comes back.
# live: records now, on this machine
cc=$(command -v gcc || command -v cc) || { echo "no compiler"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "the recorder asks for x86-64 registers"; exit 77; }
$cc -g -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o copies \
	"$SRC/tests/unwind/copies.c" || exit 1

# counts of: stacks that end in the library's memcpy below outer with copier, and without
share()
{
	"$PERFKIT" collapse --no-inline --trust-paths "$1" 2>err | awk '
	$1 !~ /mem(cpy|move)[^;]*$/ { next }
	$1 ~ /main;outer;copier;[^;]*$/ { with += $NF; next }
	{ without += $NF }
	END { printf "%d %d\n", with / 1e6, without / 1e6 }'
}
for z in 0 8 64 256 512; do
	"$O/tests/prog/shortstack" -z $z -o $z.data -- ./copies >log
	rc=$?
	[ $rc -eq 77 ] && { tail -1 log; exit 77; }
	[ $rc -eq 0 ] || { cat log; echo "recording failed: $rc"; exit 1; }
	set -- $(share $z.data)
	echo "$z bytes: copier there in $1 ms, missing in $2 ms"
	if [ "$(($1 + $2))" -lt 50 ]; then
		cat err
		"$PERFKIT" collapse --no-inline $z.data 2>&1 | head -5
		echo "too few samples in memcpy"
		exit 1
	fi
	if [ $z -eq 0 ]; then
		[ "$1" -eq 0 ] || { echo "frame pointers alone cannot know copier"; exit 1; }
	else
		[ "$2" -lt $((($1 + $2) / 20 + 3)) ] || { echo "copier is missing"; exit 1; }
	fi
done
