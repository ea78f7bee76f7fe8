# A recording packed here and read where none of its files are gives the same answers.
# live: records now, on this machine
perf=$(command -v perf) || { echo "perf is not installed"; exit 77; }
cxx=$(command -v g++ || command -v clang++ || command -v c++) || { echo "no C++ compiler here: no g++"; exit 77; }
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
same() { cmp "$1" "$2" >&2 || bad "$1 and $2 differ"; }
TMPDIR=$PWD/tmp HOME=$PWD/home # perf keeps copies of binaries in ~/.debug
export TMPDIR HOME
mkdir "$TMPDIR" "$HOME"

mkdir app
$cxx -O2 -g "$SRC/tests/workload/templates.cc" -o app/prog || exit 1
"$perf" record -q -e cpu-clock -F 1999 --call-graph dwarf,4096 -o dwarf.data app/prog 2>err || {
	cat err; echo "perf record is not allowed here"; exit 77; }
"$PERFKIT" pack dwarf.data -o run.tar.zst >summary || bad "pack: exit $?"
grep -q '^run.tar.zst: recording and [0-9]* files' summary || bad "no summary"
"$PERFKIT" pack dwarf.data -o again.tar.zst >/dev/null
same run.tar.zst again.tar.zst
zstd -qdc run.tar.zst 2>/dev/null | tar tf - 2>/dev/null | head -1 >first
[ ! -s first ] || grep -qx MANIFEST first || bad "MANIFEST is not first"

questions()  # file prefix
{
	"$PERFKIT" collapse "$1" >"$2.folded" || bad "collapse $1: exit $?"
	"$PERFKIT" collapse --no-inline --addrs --all "$1" >"$2.flat" || bad "collapse $1"
	"$PERFKIT" collapse --srcline "$1" >"$2.lines" || bad "collapse --srcline $1"
	"$PERFKIT" report -v "$1" | grep -v ^recording >"$2.report" || bad "report $1"
	ln -sfn "$(realpath "$1")" picture # whose file name it shows
	"$PERFKIT" svg --title t picture -o "$2.svg" || bad "svg $1"
}
questions dwarf.data here
grep -q 'accumulate' here.folded || bad "the program's names are missing"
grep -q '_\[i\]\|;twice' here.folded || bad "no inlined frames"

# The binaries are gone, the machine is another one as far as --no-local can make it so.
mv app gone
: >nohome
HOME=$PWD/nohome # a file: perf cannot make ~/.debug
export HOME
questions run.tar.zst there
"$PERFKIT" unpack run.tar.zst -C unpacked >/dev/null || bad "unpack: exit $?"
questions unpacked dir
"$PERFKIT" collapse - <run.tar.zst >pipe.folded || bad "bundle on stdin: exit $?"
for q in folded flat lines report svg; do
	same here.$q there.$q
	same here.$q dir.$q
done
same here.folded pipe.folded
"$PERFKIT" collapse dwarf.data >without.folded
cmp -s here.folded without.folded && bad "the files that were moved away are not needed at all"
"$PERFKIT" pack unpacked -o repacked.tar.zst >/dev/null || bad "repack: exit $?"
"$PERFKIT" collapse repacked.tar.zst >repacked.folded
same here.folded repacked.folded

# In an empty root: nothing but perfkit, what it is linked with, and the bundle.
if [ "$(id -u)" = 0 ] && mkdir root && cp "$PERFKIT" run.tar.zst root &&
	ldd "$PERFKIT" | sed -n 's/.*[ 	]\(\/[^ ]*\) (.*/\1/p' | while read -r lib; do
		mkdir -p "root/${lib%/*}" && cp -L "$lib" "root$lib"
	done && chroot root /perfkit --version >/dev/null 2>&1; then
	TMPDIR=/ chroot root /perfkit collapse /run.tar.zst >chroot.folded || bad "chroot: exit $?"
	same here.folded chroot.folded
	[ -z "$(find root -name 'perfkit.*')" ] || bad "files left behind in the root"
else
	echo "chroot: not tried"
fi
mv gone app

# Nothing is left behind: after success, a bad bundle, a closed pipe, a signal.
head -c 20000 run.tar.zst >cut.tar.zst
"$PERFKIT" collapse cut.tar.zst >/dev/null 2>err && bad "a cut bundle was read"
grep -q 'cut off' err || bad "a cut bundle: $(cat err)"
"$PERFKIT" collapse run.tar.zst | head -1 >/dev/null
mkfifo fifo
"$PERFKIT" collapse run.tar.zst >fifo &
pid=$!
exec 3<fifo
for i in 1 2 3 4 5 6 7 8 9 10; do [ -n "$(ls tmp)" ] && break; sleep 0.1; done
kill -TERM $pid 2>/dev/null
wait $pid 2>/dev/null
exec 3<&-
[ -z "$(ls tmp)" ] || bad "left in TMPDIR: $(ls tmp)"

# A full disk: one line, status 1, nothing that looks whole.
if mkdir small && mount -t tmpfs -o size=1m none small 2>/dev/null; then
	"$PERFKIT" unpack run.tar.zst -C small/run 2>err && bad "unpacked onto a full disk"
	grep -q 'No space left\|tenth of the free disk space' err || bad "full disk: $(cat err)"
	[ -e small/run/MANIFEST ] && bad "full disk: it looks like a whole bundle"
	rm -rf small/run
	TMPDIR=$PWD/small "$PERFKIT" collapse run.tar.zst 2>err >/dev/null && bad "read onto a full disk"
	[ -z "$(ls small)" ] || bad "left on the full disk: $(ls small)"
	"$PERFKIT" pack dwarf.data -o small/x 2>err >/dev/null && bad "packed onto a full disk"
	[ -z "$(ls small)" ] || bad "left on the full disk: $(ls small)"
	umount small
fi
cp dwarf.data copy.data
"$PERFKIT" pack copy.data -o ./copy.data 2>/dev/null && bad "a recording was replaced by its bundle"
cmp dwarf.data copy.data || bad "a recording was changed"

# Unpacking over what is there.
"$PERFKIT" unpack run.tar.zst -C unpacked 2>/dev/null && bad "overwritten without --force"
"$PERFKIT" unpack run.tar.zst -C unpacked --force >/dev/null || bad "--force"
"$PERFKIT" unpack dwarf.data -C no 2>err && bad "unpacked a perf.data"
grep -q 'nor a bundle' err || bad "unpack perf.data: $(cat err)"
[ ! -e no ] || bad "a folder was made for nothing"

# Other kinds of input: a pipe, a directory, frame pointers, no build-ids recorded.
"$PERFKIT" pack - -o stdin.tar.zst <dwarf.data >/dev/null || bad "pack -: exit $?"
"$PERFKIT" collapse stdin.tar.zst >stdin.folded
same here.folded stdin.folded
"$perf" record -q -e cpu-clock -F 1999 -g -o - app/prog 2>/dev/null >pipe.data
"$perf" record -q -e cpu-clock -F 1999 -g -B -N -o noid.data app/prog >/dev/null 2>&1
for f in pipe.data noid.data; do
	"$PERFKIT" pack $f -o kind.tar.zst >/dev/null || bad "pack $f: exit $?"
	"$PERFKIT" collapse $f >kind.here
	mv app gone
	"$PERFKIT" collapse kind.tar.zst >kind.there
	mv gone app
	same kind.here kind.there
	grep -q accumulate kind.there || bad "$f: the program's names are missing"
done
if "$perf" record -q -e cpu-clock -F 1999 -g --threads -o dir.data app/prog >/dev/null 2>&1 &&
	[ -d dir.data ]; then
	"$PERFKIT" pack dir.data -o dir.tar.zst >/dev/null || bad "pack directory: exit $?"
	"$PERFKIT" collapse dir.data >kind.here
	"$PERFKIT" collapse dir.tar.zst >kind.there
	same kind.here kind.there
fi

# What holds no recording is refused by its first bytes, however long it is.
for endless in /dev/zero /dev/urandom; do
	timeout 20 "$PERFKIT" pack $endless -o endless.tar.zst 2>err
	[ $? = 1 ] && grep -q "not a perf.data file" err || bad "pack $endless: $(cat err)"
	timeout 20 "$PERFKIT" pack - -o endless.tar.zst <$endless 2>err
	[ $? = 1 ] || bad "pack - <$endless: $(cat err)"
done
[ -z "$(ls tmp)" ] || bad "left in TMPDIR: $(ls tmp)"

# --list has every file that the bundle has, and its size, and writes nothing.
"$PERFKIT" pack dwarf.data --list >list || bad "pack --list: exit $?"
[ ! -e dwarf.data.tar.zst ] || bad "pack --list wrote a bundle"
"$PERFKIT" pack -q dwarf.data -o listed.tar.zst || bad "pack: exit $?"
"$PERFKIT" unpack -q listed.tar.zst -C listed || bad "unpack: exit $?"
grep -q "%  $PWD/app/prog\$" list || bad "the program is not listed: $(cat list)"
n=$(awk '/^files/ { on = 1; next } !NF { on = 0 } on { n++ } END { print n + 1 }' list)
[ "$(grep -c '^file ' listed/MANIFEST)" = "$n" ] || bad "$n listed: $(cat list listed/MANIFEST)"

# A binary that was replaced since is not packed, and said to be missing. Root may not even
# look at it: its folder is private.
echo 'int main(void) { return 0; }' >other.c
rm app/prog && ${CC:-cc} other.c -o app/prog
"$PERFKIT" pack dwarf.data -o other.tar.zst >summary || bad "pack: exit $?"
grep -Eq "app/prog: (build-id mismatch|unreadable)" summary || bad "a replaced binary: $(cat summary)"
grep -q "get it:  .*scp .*app/prog" summary || bad "no remedy: $(cat summary)"
[ $fails = 0 ]
