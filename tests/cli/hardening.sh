#!/bin/sh
# The program is built so that a fault in it is hard to use: PIE, full RELRO, no executable stack,
# stack protector, fortified C library calls, as readelf sees them.
set -u
command -v readelf >/dev/null || { echo "no readelf"; exit 77; }
nm -D "$PERFKIT" | grep -q '__asan_init\|__tsan_init\|__gcov' && { echo "not built as a release is"; exit 77; }
grep -q '^OPT = .*-O0' "$SRC/config.mk" && { echo "built without optimization"; exit 77; }
bad=0
has()  # flag in config.mk: what the compiler has was probed
{
	grep -q "^HARDEN_.*=.* $1" "$SRC/config.mk" || { echo "left out: this compiler has no $1"; return 1; }
}
wrong() { echo "$*"; bad=1; }

# elf PROGRAM - what each program that is handed out must be
elf()
{
	readelf -hlW "$1" >headers && readelf -dW "$1" >dynamic && readelf -sW "$1" >symbols || exit 1
	has -pie && { grep -q 'Type: *DYN' headers || wrong "$1 is not position-independent"; }
	has -Wl,-z,relro && {
		grep -q GNU_RELRO headers || wrong "$1 has no RELRO"
		grep -q 'BIND_NOW\|FLAGS.*NOW' dynamic || wrong "$1 is not bound at start: its RELRO is partial"
	}
	grep 'GNU_STACK' headers | grep -q 'RWE' && wrong "$1 has an executable stack"
	readelf -lW "$1" | grep 'LOAD' | grep -q 'RWE' && wrong "$1 has a segment that is written and run"
	return 0
}
elf "$PERFKIT"
has -fstack-protector-strong && { grep -q '__stack_chk_fail' symbols || wrong "no stack protector"; }
has '.*_FORTIFY_SOURCE' && {
	# what our own files call: libiberty.a has some of its own
	readelf -sW "$(dirname "$PERFKIT")"/cmd/*.o "$(dirname "$PERFKIT")"/libparse/*.o 2>/dev/null |
		grep -q 'UND __[a-z]*_chk$' || wrong "no fortified calls in cmd and libparse"
}
# LDFLAGS of a distribution reach every link line.
links=$(make -n -B -o config.mk -C "$SRC" O=none V=1 LDFLAGS=-Wl,--probe none/perfkit 2>/dev/null | grep -c -e '-Wl,--probe.*-o none/perfkit ')
[ "$links" = 1 ] || wrong "LDFLAGS is not in the link line"
exit $bad
