# Stacks of aarch64 programs: tests/unwind/chains.c built by the cross compiler, run under
# qemu-user, where it writes its own registers, stack and mappings; unwound here, and read as a
# recording that tests/prog/dumpdata.c makes of them.
command -v qemu-aarch64 >/dev/null || { echo "qemu-aarch64 is not here (qemu-user)"; exit 77; }
command -v aarch64-linux-gnu-gcc >/dev/null ||
	{ echo "no cross compiler (gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"; exit 77; }
fails=0 checks=0
want()  # EXPECTED variant case stackat-arguments...
{
	expected=$1 v=$2 which=$3
	shift 3
	rm -f dump
	CHAINS_DUMP=dump qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu "./$v" "$which" >log 2>&1
	got=$("$O/tests/prog/stackat" "$@" -f dump | sed 's/ main .*\[/ main ... [/')
	checks=$((checks + 1))
	case $got in
	$expected) ;;
	*)
		echo "$v $which $*"
		echo "  expected: $expected"
		echo "  got:      $got"
		cat log
		fails=$((fails + 1))
		;;
	esac
}
all()
{
	want "leaf c b a main ... \[complete\]" $1 plain
	# qemu's trampoline has no file: the signal frame is recognised by its shape
	want "leaf handler <signal> interrupted\? main ... \[complete\]" $1 signal
	want "leaf handler <signal> interrupted\? * \[other_stack\]" $1 altstack
	want "- calls_null\? main ... \[complete\]" $1 null
	want "leaf c b a coroutine [!m]* \[complete\]" $1 coroutine
	want "leaf c dies last_call_is_dies main ... \[complete\]" $1 noreturn
	want "leaf c b a realigned main ... \[complete\]" $1 realigned
	want "bare calls_bare bare_chain main ... \[complete\]" $1 bare
	want "leaf c b a worker * \[complete\]" $1 thread
	want "leaf recurse recurse *recurse \[truncated\]" $1 deep -z 8192
}
build()
{
	v=$1
	shift
	aarch64-linux-gnu-gcc -g -w -pthread "$@" -o "$v" "$SRC/tests/unwind/chains.c" || exit 1
	all "$v"
}
build O0 -O0
want "leaf c b tail_target tail_caller before_tail main ... \[complete\]" O0 tail
build O2 -O2
want "leaf c b tail_target before_tail main ... \[complete\]" O2 tail
# the frame record lies at the bottom of a frame: 16 bytes give one more caller
want "leaf c \[truncated\]" O2 plain -z 8
want "leaf c b \[truncated\]" O2 plain -z 16
build nofp -O2 -fomit-frame-pointer
build pac -O2 -mbranch-protection=pac-ret+leaf
# The same as recordings, by the way that a user's takes: names, inlined frames, lines.
recorded()  # case pattern
{
	rm -f dump
	CHAINS_DUMP=dump qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu ./O2 "$1" >log 2>&1
	"$O/tests/prog/dumpdata" dump arm.data && got=$("$PERFKIT" collapse -q --trust-paths --srcline arm.data)
	checks=$((checks + 1))
	echo "$got" | grep -q "^chains;$2 1\$" && return
	echo "recorded $1: $got"
	fails=$((fails + 1))
}
l=chains\.c:[0-9]*
recorded plain "_start;.*;main:$l;a:$l;b:$l;c:$l;leaf:$l"
recorded noreturn "_start;.*;main:$l;last_call_is_dies:$l;dies:$l;c:$l;leaf:$l"
recorded signal "_start;.*;main:$l;interrupted:$l;.*;handler:$l;leaf:$l"
echo "$checks stacks, $fails wrong"
[ $fails -eq 0 ]
