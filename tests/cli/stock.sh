#!/bin/sh
# A program as Debian ships it, with its -dbg package, recorded with copies of its stack: whole
# stacks, inlined functions, lines; and the same answer from a bundle in an empty root.
# live: records now, on this machine
perf=$(command -v perf) || { echo "perf is not installed"; exit 77; }
command -v readelf >/dev/null || { echo "readelf is not installed"; exit 77; }
python=
for p in /usr/bin/python3.1[0-9] /usr/bin/python3; do
	id=$(readelf -n "$p" 2>/dev/null | sed -n 's/.*Build ID: \(..\)/\1\//p')
	[ -n "$id" ] && [ -f "/usr/lib/debug/.build-id/$id.debug" ] && { python=$p; break; }
done
[ -n "$python" ] || { echo "no debug symbols of python3 here: no python3-dbg"; exit 77; }
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
mkdir home empty tmp
HOME=$PWD/home TMPDIR=$PWD/tmp
export HOME TMPDIR
cat >work.py <<'PY'
import json, re
d = [{"a": i, "b": [str(j) for j in range(20)]} for i in range(300)]
for _ in range(10):
    s = json.dumps(d); json.loads(s); re.findall(r'(\d+)"', s); sorted(d, key=lambda x: -x["a"])
PY
"$perf" record -q -N --buildid-all -e cpu-clock:u -F 499 --call-graph dwarf,32768 -o p.data \
	"$python" work.py >/dev/null 2>err || { cat err; echo "perf cannot record here"; exit 77; }
questions()  # file prefix
{
	"$PERFKIT" collapse -q --all "$1" >"$2.all" || bad "collapse $1: exit $?"
	"$PERFKIT" collapse -q --srcline "$1" >"$2.lines" || bad "collapse --srcline $1: exit $?"
}
questions p.data here
share()  # file pattern: of the weight, in percent
{
	awk -v re="$2" '{ all += $NF } $0 ~ re { n += $NF } END { printf "%d", all ? 100 * n / all : 0 }' "$1"
}
whole=$(share here.all '^[^;]*;(\[[^;]*\];)?(_start|__libc_start_main)')
inlined=$(share here.all '_\[i\]')
lines=$(share here.lines ':[a-z_]*\.[ch]:[0-9]+ ')
echo "$python: $(wc -l <here.all) stacks; whole $whole %, with inlined functions $inlined %, leaf with a line $lines %"
[ "$whole" -ge 90 ] || bad "stacks are not whole"
[ "$inlined" -ge 50 ] || bad "inlined functions are missing"
[ "$lines" -ge 50 ] || bad "lines are missing"
"$PERFKIT" pack -q p.data -o run.tar.zst || bad "pack: exit $?"
if [ "$(id -u)" = 0 ] && mkdir root && cp "$PERFKIT" run.tar.zst root &&
	ldd "$PERFKIT" | sed -n 's/.*[ 	]\(\/[^ ]*\) (.*/\1/p' | while read -r lib; do
		mkdir -p "root/${lib%/*}" && cp -L "$lib" "root$lib"
	done && chroot root /perfkit --version >/dev/null 2>&1; then
	TMPDIR=/ chroot root /perfkit collapse -q --all /run.tar.zst >there.all || bad "chroot: exit $?"
	TMPDIR=/ chroot root /perfkit collapse -q --srcline /run.tar.zst >there.lines
	for q in all lines; do cmp here.$q there.$q || bad "the bundle answers otherwise ($q)"; done
else
	echo "chroot: not tried"
fi
[ $fails = 0 ]
