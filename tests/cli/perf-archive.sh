# What perf archive makes of a recording, read where none of its files are: the same answers.
# beside: records now, on this machine
perf=$(command -v perf) || { echo "perf is not installed"; exit 77; }
cxx=$(command -v g++ || command -v clang++ || command -v c++) || { echo "no C++ compiler here: no g++"; exit 77; }
command -v bzip2 >/dev/null || { echo "bzip2 is not installed"; exit 77; }
grep -q 'HAVE_BZ2=1' "$SRC/config.mk" || { echo "built without libbz2"; exit 77; }
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
same() { cmp "$1" "$2" >&2 || bad "$1 and $2 differ"; }
mkdir tmp home nohome app
TMPDIR=$PWD/tmp HOME=$PWD/home
export TMPDIR HOME
# static: a small archive, unpacked often below
$cxx -O2 -g -static "$SRC/tests/workload/templates.cc" -o app/prog ||
	$cxx -O2 -g "$SRC/tests/workload/templates.cc" -o app/prog || exit 1
"$perf" record -q -e cpu-clock:u -F 1999 --call-graph dwarf,4096 -o p.data app/prog 2>err || {
	cat err; echo "perf record is not allowed here"; exit 77; }
"$perf" archive p.data >err 2>&1 && [ -f p.data.tar.bz2 ] || {
	cat err; echo "this perf has no archive"; exit 77; }
mv p.data.tar.bz2 archive

"$PERFKIT" collapse -q p.data >here || bad "collapse: exit $?"
grep -q 'accumulate.*;twice' here || bad "no names here"
mv app gone
HOME=$PWD/nohome
ask() { "$PERFKIT" collapse -q --no-local "$@" || bad "collapse $*: exit $?"; }
ask p.data >without
grep -q accumulate without && bad "names without any file"
ask --buildid-dir archive p.data >there
same here there

# Compressed otherwise, and as a bundle.
bzip2 -dc <archive >plain
for zip in gzip xz zstd; do
	command -v $zip >/dev/null || continue
	$zip -qc <plain >archive.$zip
	"$PERFKIT" collapse -q --no-local --buildid-dir archive.$zip p.data >there 2>err ||
		{ grep -q "this build has no" err && continue; bad "$zip: $(cat err)"; }
	same here there
done
{ bzip2 -c <plain | head -c 1000; } >cut
"$PERFKIT" collapse -q --no-local --buildid-dir cut p.data >/dev/null 2>err && bad "a cut archive"
grep -q 'cut: cut off' err || bad "a cut archive: $(cat err)"
"$PERFKIT" pack -q --no-local --buildid-dir archive p.data -o run.tar.zst || bad "pack: exit $?"
ask run.tar.zst >there
same here there

# Beside the recording it is found by itself, unless its files are in the cache already, ...
cp archive p.data.tar.bz2
"$PERFKIT" collapse -v p.data >there 2>err || bad "beside: exit $?"
same here there
grep -q 'taken from p.data.tar.bz2' err || bad "beside: $(cat err)"
HOME=$PWD/home "$PERFKIT" collapse -v p.data 2>err >there
same here there
grep -q tar.bz2 err && bad "unpacked for nothing"
# ... and is no recording.
"$PERFKIT" collapse p.data.tar.bz2 2>err && bad "a recording was found in the archive"
grep -q 'name the recording, and this with --buildid-dir' err || bad "said: $(cat err)"
cp cut p.data.tar.bz2
"$PERFKIT" collapse p.data >/dev/null 2>err || bad "a damaged one beside: exit $?"
grep -q 'p.data.tar.bz2: cut off.*not used' err || bad "a damaged one beside: $(cat err)"
rm p.data.tar.bz2

# perf archive --all: the recording and the tarball in one (perf 6.8; made by hand here).
cp archive perf.symbols.tar.bz2
tar cjf all.tar.bz2 p.data perf.symbols.tar.bz2
rm perf.symbols.tar.bz2
"$PERFKIT" collapse -q all.tar.bz2 >there || bad "--all: exit $?"
same here there
"$PERFKIT" unpack all.tar.bz2 -C all >/dev/null || bad "unpack --all: exit $?"
"$PERFKIT" collapse -q all >there
same here there
[ -z "$(find all -type l)" ] || bad "links were made"
tar cjf other.tar.bz2 here
"$PERFKIT" collapse other.tar.bz2 2>err && bad "any tar will do"
grep -q 'nor a bundle' err || bad "another tar: $(cat err)"

# In an empty root.
if [ "$(id -u)" = 0 ] && mkdir root && cp "$PERFKIT" p.data archive root &&
	ldd "$PERFKIT" | sed -n 's/.*[ 	]\(\/[^ ]*\) (.*/\1/p' | while read -r lib; do
		mkdir -p "root/${lib%/*}" && cp -L "$lib" "root$lib"
	done && chroot root /perfkit --version >/dev/null 2>&1; then
	TMPDIR=/ chroot root /perfkit collapse -q --buildid-dir /archive /p.data >there
	same here there
	[ -z "$(find root -name 'perfkit.*')" ] || bad "files left behind in the root"
else
	echo "chroot: not tried"
fi
[ -z "$(ls tmp)" ] || bad "left in TMPDIR: $(ls tmp)"
[ $fails = 0 ]
