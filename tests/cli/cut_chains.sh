# Callchains that the kernel cut say so wherever stacks are shown, of the recording and of its
# store: half of the time is 200 calls deep, and the kernel took 127 frames.
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
gzip -dc "$SRC/testdata/deep/perf.data.gz" >deep.data
ask()
{
	verb=$1
	shift
	case "$*" in
	*deep.store) [ $verb = import ] || { "$PERFKIT" $verb "$@" 2>err; return; } ;;
	esac
	"$PERFKIT" $verb --no-local --symfs "$SRC/testdata/deep/symfs" "$@" 2>err
}
marked() { [ "$(grep -c '\[truncated\]' "$2")" -ge 1 ] || bad "$1: no mark"; }
warned() { grep -q 'callchains have 127 frames' err || bad "$1: no warning"; }
ask import deep.data -o deep.store || bad "import: $(cat err)"
for f in deep.data deep.store; do
	for how in '--event cpu-clock/freq=97/u' '--event sched:sched_switch' --offcpu; do
		ask collapse $how --user-callchains $f >out || bad "collapse $how $f: $(cat err)"
		warned "collapse $how $f"
		roots=$(sed 's/;\[state unknown\]//; s/;\[runnable\]//' out | grep ';.*;' | cut -d';' -f2 | sed 's/ [0-9]*$//' | sort -u | tr '\n' ' ')
		case $roots in
		'[libc.so.6] [truncated] ') ;;
		*) bad "collapse $how $f: roots: $roots" ;;
		esac
		grep '\[truncated\]' out | grep -q 'main' && bad "collapse $how $f: a whole stack is marked"
	done
	ask svg -o out $f || bad "svg: $(cat err)"
	marked "svg $f" out
	ask svg --offcpu -o out $f
	marked "svg --offcpu $f" out
	ask export --to speedscope -o out $f || bad "export: $(cat err)"
	marked "export $f" out
	ask doctor $f >out
	grep -q '\[deep-stacks\]' out || bad "doctor $f: $(cat out)"
done
ask collapse - <deep.data >piped
ask collapse deep.data >out
cmp -s piped out || bad "a stream has another answer"
[ $fails = 0 ]
