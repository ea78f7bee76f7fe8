#!/bin/sh
# make static-ARCH: one file for another architecture that answers in an empty root as perfkit does
# here. arm64 is a release; s390x is there for its byte order.
set -u
case ${MAKEFLAGS:-}$(sed -n 's/^SANITIZE = //p' "$SRC/config.mk") in
*fsanitize*) echo "sanitizers cannot be linked statically"; exit 77 ;;
esac
[ "$(id -u)" = 0 ] || { echo "chroot needs root"; exit 77; }
bad=0 ran=0
same()  # arguments of perfkit...
{
	chroot root "./${qemu##*/}" /perfkit "$@" >cross.out 2>cross.err
	rc=$?
	(cd root && "$PERFKIT" "$@") >here.out 2>here.err
	[ $rc = $? ] && cmp cross.out here.out && return
	cat cross.err
	echo "$arch differs: perfkit $*"
	bad=1
}
for arch in arm64 s390x; do
	[ -f "$SRC/sysroot/$arch/made" ] || continue
	qemu=$(sh "$SRC/packaging/cross.sh" $arch run | cut -d' ' -f1)-static
	qemu=$(command -v "$qemu") || continue
	make -s -C "$SRC" O="$O" static-$arch >log 2>&1 || { cat log; exit 1; }
	rm -rf root && mkdir -p root/out
	cp "$O/$arch/perfkit-static" root/perfkit
	cp "$qemu" root/
	cp -r "$SRC/testdata/demo/perf.data" "$SRC/testdata/demo/symfs" root/
	cp "$SRC/testdata/waits/perf.data" root/waits.data
	cp "$SRC/testdata/dwarf/perf.data" root/dwarf.data
	same --version
	same collapse --no-local --symfs symfs perf.data
	same collapse --no-local dwarf.data
	same collapse --offcpu --no-local waits.data
	same tail --no-local --p99 --json waits.data
	same svg --no-local --symfs symfs perf.data
	[ -s here.out ] || { echo "no output at all"; bad=1; }
	same doctor --no-local waits.data
	same import -q --no-local waits.data -o out/run.db
	same collapse --offcpu out/run.db
	ran=1
done
[ $ran = 1 ] && exit $bad
echo "no sysroot/arm64 (./configure --install-deps=all) or no qemu-user-static here"
exit 77
