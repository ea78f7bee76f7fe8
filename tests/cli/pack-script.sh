# The script of `pack --script` makes a bundle where perf is and perfkit is not.
# live: records now, on this machine
perf=$(command -v perf) || { echo "perf is not installed"; exit 77; }
cxx=$(command -v g++ || command -v clang++ || command -v c++) || { echo "no C++ compiler here: no g++"; exit 77; }
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
same() { cmp "$1" "$2" >&2 || bad "$1 and $2 differ"; }

mkdir app tmp home nohome
HOME=$PWD/home # where perf keeps copies of binaries: ~/.debug
export HOME
"$PERFKIT" pack --script >pack.sh || bad "--script: exit $?"
sh -n pack.sh || bad "not a sh script"
if command -v dash >/dev/null; then dash -n pack.sh || bad "not a POSIX script"; fi
$cxx -O2 -g "$SRC/tests/workload/templates.cc" -o "app/a program" || exit 1
"$perf" record -q -e cpu-clock -F 1999 --call-graph dwarf,4096 -o dwarf.data "app/a program" \
	2>err || { cat err; echo "perf record is not allowed here"; exit 77; }
"$perf" record -q -e cpu-clock -F 1999 -g -B -N -o noid.data "app/a program" >/dev/null 2>&1

# An environment with the tools the script names and nothing else.
mkdir bin
for tool in sh tar sed sort tr cp awk dd env id ls mktemp od setpriv setsid stat tail mkdir mv rm grep find uname wc cat zstd gzip; do
	from=$(command -v $tool) && ln -s "$from" bin/$tool
done
ln -s "$perf" bin/perf
bare() { env -i PATH="$PWD/bin" HOME="$HOME" TMPDIR="$PWD/tmp" "$@"; }
bare perfkit --version 2>/dev/null && bad "perfkit is there after all"

answers()  # recording bundle
{
	"$PERFKIT" collapse "$1" >here
	"$PERFKIT" report -v "$1" | grep -v ^recording >here.report
	mv app gone
	"$PERFKIT" collapse "$2" >there || bad "collapse $2: exit $?"
	"$PERFKIT" report -v "$2" | grep -v ^recording >there.report
	mv gone app
	same here there
	same here.report there.report
	grep -q accumulate there || bad "$2: the program's names are missing"
}
bare sh pack.sh dwarf.data run.tar.zst 2>err || bad "pack.sh: exit $?: $(cat err)"
grep -q '^run.tar.zst: [0-9]* bytes, 0 missing$' err || bad "pack.sh said: $(cat err)"
answers dwarf.data run.tar.zst
bare sh pack.sh noid.data noid.tar.zst 2>err || bad "pack.sh: exit $?: $(cat err)"
answers noid.data noid.tar.zst

# perf does not always keep the vdso; the shell that packs has this boot's.
"$perf" record -q --buildid-all -e cpu-clock -F 1999 -g -o vdso.data "app/a program" >/dev/null 2>&1
vdso=$("$perf" buildid-list -i vdso.data | sed -n 's/ \[vdso\]$//p')
if [ -n "$vdso" ]; then
	bare HOME="$PWD/nohome" sh pack.sh vdso.data vdso.tar.zst 2>err || bad "pack.sh: exit $?: $(cat err)"
	tar --zstd -xOf vdso.tar.zst "debug/.build-id/$(echo "$vdso" | sed 's/^../&\//')/vdso" >copied 2>err ||
		bad "no vdso in the bundle: $(cat err)"
	[ "$("$perf" buildid-list -i copied)" = "$vdso" ] || bad "another vdso in the bundle"
fi

# What debug information names further: .dwo, .dwp and dwz files, found as perfkit pack finds them.
mkdir split
for kind in dwo dwp dwz; do
	$cxx -O2 -gdwarf-4 $([ $kind = dwz ] || echo -gsplit-dwarf) "$SRC/tests/workload/templates.cc" \
		-o split/$kind 2>/dev/null || continue
	case $kind in
	dwp) (cd split && dwp -e dwp -o dwp.dwp && rm -f dwp-*.dwo) >/dev/null 2>&1 || continue ;;
	dwz) cp split/dwz split/dwz2
		(cd split && dwz -m shared.debug -M "$PWD/shared.debug" dwz dwz2) 2>/dev/null || continue ;;
	esac
	"$perf" record -q -e cpu-clock:u -F 999 --call-graph dwarf,4096 -o $kind.data split/$kind \
		>/dev/null 2>&1 || continue
	bare sh pack.sh $kind.data -o $kind.tar.zst 2>err || bad "pack.sh $kind.data: $(cat err)"
	"$PERFKIT" collapse $kind.data >here
	mv split gone
	"$PERFKIT" collapse $kind.tar.zst >there 2>err
	mv gone split
	same here there
	grep -q 'debug information' err && bad "$kind: $(cat err)"
done
bare sh pack.sh -x 2>err && bad "pack.sh takes -x"
grep -q 'no option -x' err || bad "pack.sh -x: $(cat err)"

# Without zstd it is a .tar.gz.
rm -f bin/zstd
bare sh pack.sh dwarf.data 2>err || bad "pack.sh: exit $?: $(cat err)"
[ -f dwarf.data.tar.gz ] || bad "no dwarf.data.tar.gz"
answers dwarf.data dwarf.data.tar.gz

# A binary that is another one now is not taken, but named.
echo 'int main(void) { return 0; }' >other.c
rm "app/a program" && ${CC:-cc} other.c -o "app/a program"
bare sh pack.sh dwarf.data cached.tar.gz 2>err || bad "pack.sh: exit $?"
grep -q ', 0 missing$' err || bad "perf's own copy was not found: $(cat err)"
HOME=$PWD/nohome
bare sh pack.sh dwarf.data other.tar.gz 2>err || bad "pack.sh: exit $?"
# Which of the two is said depends on whether the new file got the old one's inode.
grep -q 'missing: .*app/a program: \(the file is another one now\|.*no mapping of this very file was recorded\)' err ||
	bad "said: $(cat err)"
"$PERFKIT" unpack other.tar.gz -C other >/dev/null
grep -q '^missing .*a program' other/MANIFEST || bad "the manifest does not say so"
[ -z "$(find other -name 'a program')" ] || bad "another binary was packed"

# Names that would write lines of their own into MANIFEST, or onto the terminal.
HOME=$PWD/home
esc=$(printf '\033')
mkdir names
for name in 'a\nmissing - - INJECTED' "b$esc]0;INJECTED" ' c '; do
	cp split/dwo "names/$name" && "$perf" record -q -e cpu-clock:u -F 999 -g -B -N -o name.data "names/$name" >/dev/null 2>&1
	bare sh pack.sh name.data name.tar.gz 2>err || bad "$name: exit $?: $(cat err)"
	"$PERFKIT" unpack -f name.tar.gz -C name >/dev/null
	[ -f "name/symfs$PWD/names/$name" ] || bad "'$name' was not packed: $(cat err)"
	rm "names/$name"
	bare sh pack.sh name.data name.tar.gz 2>err
	"$PERFKIT" unpack -f name.tar.gz -C name >/dev/null
	grep -q "^missing.*INJECTED: not found$\|^missing.* c : not found$" name/MANIFEST || bad "'$name' is not said to be missing"
	grep -q '^INJECTED\|^missing - - INJ' name/MANIFEST err && bad "'$name' wrote a line of its own"
	grep -q "$esc" name/MANIFEST err && bad "'$name' reached the terminal as it is"
done

# What pack packs the script packs too, system-wide; in a container, where others have other files
# at the same paths, of these commands.
all=-a
[ /proc/1/root/bin/sh -ef /bin/sh ] || all=
"$perf" record -q $all -e cpu-clock -F 499 -g -o all.data sh -c \
	'awk "BEGIN { for (i = 0; i < 3000000; i++) x += i }"; ls -lR /usr/lib >/dev/null' 2>/dev/null
"$PERFKIT" pack -q all.data -o one.tar.zst || bad "pack: exit $?"
bare sh pack.sh all.data two.tar.gz 2>err || bad "pack.sh: exit $?: $(cat err)"
for b in one.tar.zst two.tar.gz; do
	"$PERFKIT" unpack -f $b -C all >/dev/null
	sed -n 's/^file [0-9]* [^ ]* //p' all/MANIFEST | sort >$b.files
	rm -rf all
done
# (The script may have more: it does not follow which mappings an exec took away before a sample.)
comm -23 one.tar.zst.files two.tar.gz.files >lacks
[ ! -s lacks ] || { cat lacks >&2; bad "the script does not pack what pack does: $(cat err)"; }
[ "$(wc -l <one.tar.zst.files)" -gt 5 ] || bad "next to nothing was packed"

# Other shells, with tools that know no options of GNU's.
if command -v bash >/dev/null; then
	bare "$(command -v bash)" pack.sh name.data shell.tar.gz 2>err || bad "bash: $(cat err)"
else
	echo "left out: bash"
fi
if command -v busybox >/dev/null; then
	mkdir box
	for tool in $(busybox --list); do ln -s "$(command -v busybox)" "box/$tool"; done
	ln -sf "$perf" box/perf
	env -i PATH="$PWD/box" HOME="$HOME" TMPDIR="$PWD/tmp" sh pack.sh dwarf.data box.tar.gz 2>err ||
		bad "busybox: $(cat err)"
	"$PERFKIT" unpack box.tar.gz -C box.files >/dev/null && grep -q '^file .*/elf$' box.files/MANIFEST ||
		bad "busybox: nothing was packed: $(cat err)"
else
	echo "left out: busybox"
fi

bare sh pack.sh absent.data 2>err && bad "packed what is not there"
[ -z "$(ls tmp)" ] || bad "left in TMPDIR: $(ls tmp)"
[ $fails = 0 ]
