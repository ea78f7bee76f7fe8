# Stacks of riscv64 programs, as unwind-arm64.sh has them of aarch64: tests/unwind/chains.c built
# by the cross compiler, run under qemu-user, unwound here, and read as a recording.
command -v qemu-riscv64 >/dev/null || { echo "qemu-riscv64 is not here (qemu-user)"; exit 77; }
command -v riscv64-linux-gnu-gcc >/dev/null ||
	{ echo "no cross compiler (gcc-riscv64-linux-gnu libc6-dev-riscv64-cross)"; exit 77; }
fails=0 checks=0
want()  # EXPECTED variant case stackat-arguments...
{
	expected=$1 v=$2 which=$3
	shift 3
	rm -f dump
	CHAINS_DUMP=dump qemu-riscv64 -L /usr/riscv64-linux-gnu "./$v" "$which" >log 2>&1
	got=$("$O/tests/prog/stackat" "$@" -a riscv64 -f dump | sed 's/ main .*\[/ main ... [/')
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
	riscv64-linux-gnu-gcc -g -w -pthread "$@" -o "$v" "$SRC/tests/unwind/chains.c" || exit 1
}
build O0 -O0 && all O0
build O2 -O2 && all O2
build nofp -O2 -fomit-frame-pointer -fasynchronous-unwind-tables && all nofp
build rv64g -O1 -march=rv64g -mabi=lp64d && all rv64g
# prologues call functions of libgcc, which return to t0
build save -O2 -msave-restore
want "leaf c b a main ... \[complete\]" save plain
want "leaf handler <signal> interrupted\? main ... \[complete\]" save signal
want "leaf c b a realigned main ... \[complete\]" save realigned
# The same as recordings, by the way that a user's takes: names, inlined frames, lines.
recorded()  # case pattern
{
	rm -f dump
	CHAINS_DUMP=dump qemu-riscv64 -L /usr/riscv64-linux-gnu ./O2 "$1" >log 2>&1
	"$O/tests/prog/dumpdata" dump riscv.data riscv64 && got=$("$PERFKIT" collapse -q --trust-paths --srcline riscv.data)
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
