# Every kind of file that names come from finds its place in the bundle: split DWARF, dwz,
# debuglinks with and without build-id, JIT code by perf map and by jitdump, perf archives.
perf=$(command -v perf) || { echo "perf is not installed"; exit 77; }
cxx=$(command -v g++) || { echo "g++ is not installed"; exit 77; }
command -v objcopy >/dev/null || { echo "objcopy is not installed"; exit 77; }
for tool in dwz; do command -v $tool >/dev/null || echo "left out: $tool"; done
fails=0 kinds=
bad() { echo "$@"; fails=$((fails + 1)); }
mkdir app home empty tmp
HOME=$PWD/home TMPDIR=$PWD/tmp
export HOME TMPDIR
# Builds share their build-id whatever is stripped later: no copies of the last one.
record() { rm -rf home/.debug; "$perf" record -q -k CLOCK_MONOTONIC -e cpu-clock:u -F 1999 --call-graph dwarf,4096 "$@"; }
build() { $cxx -O2 -g "$@" "$SRC/tests/workload/templates.cc" -o app/prog || exit 1; }
strip_to()  # how: the symbols go to app/prog.dbg
{
	(cd app && objcopy --only-keep-debug prog prog.dbg && strip $1 prog &&
		objcopy --add-gnu-debuglink=prog.dbg prog) || exit 1
}
check()  # kind name-that-needs-the-file
{
	kinds="$kinds $1"
	"$PERFKIT" collapse $1.data >here || bad "$1: exit $?"
	grep -q "$2" here || bad "$1: no '$2' here"
	"$PERFKIT" pack $1.data -o $1.tar.zst >said || bad "$1: pack: exit $?"
	mv app gone
	HOME=$PWD/empty "$PERFKIT" collapse $1.tar.zst >there || bad "$1: bundle: exit $?"
	mv gone app
	cmp here there >&2 || bad "$1: the bundle answers otherwise"
}

(cd app && $cxx -O2 -g -gsplit-dwarf "$SRC/tests/workload/templates.cc" -o prog)
record -o split.data app/prog >/dev/null 2>err || { cat err; echo "perf may not record here"; exit 77; }
check split 'accumulate.*;twice'

build
strip_to -g
record -o link.data app/prog >/dev/null 2>&1
check link 'accumulate.*;twice'

build -Wl,--build-id=none
strip_to -s
record -o crc.data app/prog >/dev/null 2>&1
check crc 'accumulate.*;twice'

if command -v dwz >/dev/null; then
	build
	cp app/prog app/other
	(cd app && dwz -m common.dwz -M "$PWD/common.dwz" prog other) || bad "dwz: exit $?"
	if readelf -S app/prog | grep -q gnu_debugaltlink; then
		record -o dwz.data app/prog >/dev/null 2>&1
		check dwz 'accumulate.*;twice'
		"$PERFKIT" unpack dwz.tar.zst -C dwz >/dev/null
		[ -n "$(find dwz -name common.dwz)" ] || bad "dwz: the shared file was not packed"
	fi
fi

if [ "$(uname -m)" = x86_64 ]; then
	${CC:-gcc} -O1 -g "$SRC/tests/workload/jit.c" -o app/jit || exit 1
	record -o map.data app/jit map >/dev/null 2>&1 || bad "jit map: exit $?"
	check map jitted_loop
	rm -f /tmp/perf-"$("$perf" script -i map.data -F pid 2>/dev/null | sed -n '1s/ //gp;q')".map
	"$PERFKIT" collapse map.tar.zst | grep -q jitted_loop || bad "map: needed /tmp all the same"
	record -o dump.data app/jit dump "$PWD/app" >/dev/null 2>&1 || bad "jit dump: exit $?"
	check dump jitted_loop
fi

# perf archive's tarball, unpacked, is a build-id cache.
build
record -o arch.data app/prog >/dev/null 2>&1
if command -v bzip2 >/dev/null && "$perf" archive arch.data >/dev/null 2>&1 &&
	[ -f arch.data.tar.bz2 ]; then
	kinds="$kinds archive"
	mkdir cache && tar xf arch.data.tar.bz2 -C cache
	mv app gone
	"$PERFKIT" collapse --no-local --buildid-dir cache arch.data >there
	mv gone app
	grep -q accumulate there || bad "archive: no names from it"
fi
[ -z "$(ls tmp)" ] || bad "left in TMPDIR: $(ls tmp)"
echo "kinds:$kinds"
[ $fails = 0 ]
