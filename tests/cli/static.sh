#!/bin/sh
# make static: one file that answers in an empty root as perfkit does here.
set -u
case ${MAKEFLAGS:-}$(sed -n 's/^SANITIZE = //p' "$SRC/config.mk") in
*fsanitize*) echo "sanitizers cannot be linked statically"; exit 77 ;;
esac
[ "$(id -u)" = 0 ] || { echo "chroot needs root"; exit 77; }
why=$(sed -n 's/^NO_STATIC = //p' "$SRC/config.mk")
[ -z "$why" ] || { echo "nothing can be linked statically here: $why"; exit 77; }
for a in dw elf traceevent sqlite3 zstd bz2; do
	[ -f "$(${CC:-cc} -print-file-name=lib$a.a)" ] || { echo "no static lib$a here"; exit 77; }
done
make -s -C "$SRC" O="$O" static >log 2>&1 || { cat log; exit 1; }
mkdir root root/out
cp "$O/perfkit-static" root/perfkit
cp -r "$SRC/testdata/demo/perf.data" "$SRC/testdata/demo/symfs" root/
cp "$SRC/testdata/waits/perf.data" root/waits.data
bad=0
same()  # arguments of perfkit...
{
	chroot root /perfkit "$@" >static.out 2>static.err
	rc=$?
	(cd root && "$PERFKIT" "$@") >shared.out 2>shared.err
	[ $rc = $? ] && cmp static.out shared.out && return
	cat static.err
	echo "differs in an empty root: perfkit $*"
	bad=1
}
same --version
same collapse --no-local --symfs symfs perf.data
same collapse --offcpu --no-local waits.data
same tail --no-local --p99 waits.data
same svg --no-local --symfs symfs perf.data
[ -s shared.out ] || { echo "no output at all"; bad=1; }
chroot root /perfkit import -q --no-local waits.data -o out/run.db || { echo "import failed"; bad=1; }
same collapse --offcpu out/run.db
exit $bad
