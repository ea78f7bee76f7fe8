# Stacks of running programs against what the programs were built to be: tests/unwind/chains.c
# compiled several ways, stopped by ptrace, unwound as a sample would be.
[ "$(uname -m)" = x86_64 ] || { echo "the programs are x86-64 ones"; exit 77; }
cc=$(command -v gcc || command -v cc) || { echo "no compiler"; exit 77; }
for tool in clang musl-gcc; do command -v $tool >/dev/null || echo "left out: $tool"; done
src=$SRC/tests/unwind/chains.c
at=$O/tests/prog/stackat
fails=0 checks=0

# What lies above main is the C library's business; that the end is known is ours.
stack()
{
	"$at" "$@" | sed 's/ main\(+\{0,1\}\) .*\[/ main\1 ... [/'
}
want()  # EXPECTED stackat-arguments...
{
	expected=$1
	shift
	got=$(stack "$@")
	checks=$((checks + 1))
	# not even named: a stripped libc's frames
	case $got in
	$expected) ;;
	*)
		echo "stackat $*"
		echo "  expected: $expected"
		echo "  got:      $got"
		fails=$((fails + 1))
		;;
	esac
}
steps()  # stackat-arguments...
{
	checks=$((checks + 1))
	out=$("$at" "$@") && return
	echo "stackat $*: $out"
	fails=$((fails + 1))
}
build()  # name compiler flags...
{
	v=$1
	shift
	"$@" -g -w -o "$v" "$src" 2>build.err && return 0
	echo "$v: not built: $(head -1 build.err)"
	return 1
}

# Every stack that any kind of program must give.
common()
{
	p=./$1 root=$2
	want "leaf c b a main ... \[$root\]" -- $p plain
	want "leaf handler <signal> interrupted main ... \[$root\]" -- $p signal
	want "leaf handler <signal> interrupted \[other_stack\]" -- $p altstack
	want "- calls_null\? main ... \[$root\]" -- $p null
	want "leaf c dies last_call_is_dies main ... \[$root\]" -- $p noreturn
	want "leaf c b a realigned main ... \[$root\]" -- $p realigned
}
glibc()
{
	common "$1" complete
	want "leaf c b a coroutine [!m]* \[complete\]" -- "./$1" coroutine
	want "leaf c b a worker * \[complete\]" -- "./$1" thread
	want "bare calls_bare bare_chain main ... \[complete\]" -- "./$1" bare
	steps -s through_plt -- "./$1" plt
	steps -s through_vfork -- "./$1" vfork
	steps -s through_realigned -- "./$1" drap
}

if build O0 $cc -O0 -pthread; then
	glibc O0
	want "leaf c b tail_target tail_caller before_tail main ... \[complete\]" -- ./O0 tail
fi
if build O2 $cc -O2 -fomit-frame-pointer -pthread; then
	glibc O2
	# the caller by tail call is gone, its caller stands above
	want "leaf c b tail_target before_tail main ... \[complete\]" -- ./O2 tail
	want "leaf recurse recurse *recurse \[truncated\]" -z 8192 -- ./O2 deep
	want "leaf recurse recurse *recurse \[depth\]" -- ./O2 deep
	# no bytes at all: the leaf, and no invention
	want "leaf \[truncated\]" -z 0 -- ./O2 plain
	want "leaf c \[truncated\]" -z 48 -- ./O2 plain
fi
# A short copy and the frame-pointer chain: the caller of the frameless leaf comes from the bytes.
if build fp $cc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -pthread; then
	want "bare bare_chain+ main+ ... \[*\]" -c -z 0 -- ./fp bare
	for z in 8 16 64 128; do
		want "bare calls_bare bare_chain+ main+ ... \[*\]" -c -z $z -- ./fp bare
	done
	want "bare calls_bare bare_chain main+ ... \[*\]" -c -z 512 -- ./fp bare
	for z in 8 16 64 128 512 8192; do
		want "leaf c* b* a* main* ... \[c*\]" -c -z $z -- ./fp plain
	done
	want "leaf$(yes " recurse" | head -41 | tr -d "\n") main ... \[*\]" -- ./fp shallow
	n=$("$at" -c -z 512 -- ./fp shallow | tr " " "\n" | grep -c "^recurse")
	[ "$n" = 41 ] || { echo "$n of 41 recursions spliced"; fails=$((fails + 1)); }
fi
if build static $cc -O2 -static -pthread; then glibc static; fi
if build static-pie $cc -O2 -static-pie -pthread; then glibc static-pie; fi
if build lazy $cc -O2 -Wl,-z,lazy -pthread; then glibc lazy; fi
if build ibt $cc -O2 -fcf-protection=full -Wl,-z,lazy -Wl,-z,ibtplt -pthread; then glibc ibt; fi
if command -v clang >/dev/null; then
	if build clang clang -O2 -pthread; then glibc clang; fi
	# text with p_offset != p_vaddr, no CFI for .plt
	if build lld clang -O2 -fuse-ld=lld -Wl,-z,lazy -pthread; then glibc lld; fi
fi
# no .eh_frame_hdr; no section headers
if build nohdr $cc -O2 -pthread -Wl,--no-eh-frame-hdr -static; then glibc nohdr; fi
# only .debug_frame
if build dbgframe $cc -O2 -pthread -fno-asynchronous-unwind-tables -fno-exceptions; then
	want "leaf c b a main ... \[complete\]" -- ./dbgframe plain
fi
# musl has no CFI; its root is known by name
if command -v musl-gcc >/dev/null && build musl musl-gcc -O2 -static; then
	common musl complete
	want "leaf c b a worker start \[complete\]" -- ./musl thread
fi
echo "$checks stacks, $fails wrong"
[ $checks -gt 40 ] && [ $fails -eq 0 ]
