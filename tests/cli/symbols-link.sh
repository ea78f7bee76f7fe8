# One program, linked and stripped in every way: its names stay the same.
#  - stripped with a debug file, and with .gnu_debugdata made by the recipe of gdb's manual
#    ("MiniDebugInfo"), the table equals that of the whole program;
#  - PLT stubs have objdump's names for bfd, gold and lld, lazy and -z now, with and without CET.
command -v objdump >/dev/null || { echo "objdump is not here (binutils)"; exit 77; }
symdump=$O/tests/prog/symdump
cc=${CC:-gcc}
command -v "$cc" >/dev/null || cc=cc

cat >p.c <<'C'
#include <stdio.h>
#include <stdlib.h>
void *(*volatile allocate)(size_t) = malloc;
static __attribute__((noinline)) int hidden(int n) { return n * 3 + (int)strtol("7", 0, 10); }
int main(int c, char **v)
{
	puts(v[0]);
	printf("%d %p\n", hidden(c), malloc((size_t)c));
	free(allocate(3));
	return 0;
}
C
status=0
fail() { echo "$*"; status=1; }

$cc -O1 -g -o whole p.c || exit 1
"$symdump" whole >want
grep -q ' hidden$' want || fail "no hidden function in the whole program"
objcopy --only-keep-debug whole whole.debug
strip -o stripped whole
"$symdump" stripped whole.debug | cmp - want || fail "stripped + debug file differ"

if command -v xz >/dev/null && grep -q 'HAVE_LZMA=1' "$SRC/config.mk"; then
	nm -D whole --format=posix --defined-only | awk '{ print $1 }' | sort >dynamic
	nm whole --format=posix --defined-only |
		awk '$2 ~ /[TtW]/ { print $1 }' | sort >functions
	comm -13 dynamic functions >keep
	objcopy -S --keep-symbols=keep whole.debug mini && xz mini
	objcopy --add-section .gnu_debugdata=mini.xz stripped with-mini
	"$symdump" with-mini | cmp - want || fail "MiniDebugInfo differs"
fi

# An exported label without a size, in front of functions whose names strip removes: it ends
# where they begin.
cat >label.S <<'S'
	.text
	.globl label
label:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.section .note.GNU-stack,"",%progbits
S
$cc -O1 -rdynamic -o labelled label.S p.c || exit 1
at=$(nm labelled | sed -n 's/^0*\([0-9a-f]*\) t hidden$/\1/p')
for how in -s -x; do
	strip $how -o stripped labelled
	"$symdump" stripped | awk -v at="0x$at" '$3 == "label" { print $1, $2 }' | {
		read -r from to
		[ $((0x$from)) -lt $((0x$at)) ] && [ $((0x$to)) -le $((0x$at)) ]
	} || fail "strip $how: a label without a size covers what follows it: $("$symdump" stripped | grep label), hidden is at $at"
done

tried=0
try_link()
{
	$cc -O1 "$@" -o linked p.c 2>/dev/null || return
	objdump -d -j .plt -j .plt.sec -j .plt.got linked 2>/dev/null |
		sed -n 's/^0*\([0-9a-f]*\) <\(.*@plt\)>:$/\1 \2/p' | sort >objdump.txt
	"$symdump" linked | awk '/@plt$/ { print $1, $3 }' | sort >ours.txt
	# The lazy halves of CET stubs are named too; objdump names the .plt.sec halves only.
	comm -23 objdump.txt ours.txt >lacking
	[ -s objdump.txt ] && tried=$((tried + 1))
	[ -s lacking ] && fail "PLT of '$*': $(cat lacking)"
}
try_link
try_link -no-pie
try_link -Wl,-z,now
for ld in gold lld; do
	try_link -fuse-ld=$ld
	try_link -fuse-ld=$ld -Wl,-z,now
done
try_link -fcf-protection -Wl,-z,ibtplt
try_link -fuse-ld=lld -fcf-protection -Wl,-z,force-ibt
[ $tried -ge 2 ] || fail "only $tried ways of linking could be tried"
echo "$tried ways of linking"
exit $status
