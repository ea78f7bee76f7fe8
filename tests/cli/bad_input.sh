#!/bin/sh
# Damaged and foreign input at the command line: an exit status of the contract (0, 1 or 3), at
# most a few clear lines on stderr, no signal, no hang. (Every length and byte is tried in
# memory by the unit tests; here a sample of them goes through the program.)
failed=0
try()  # what file
{
	timeout 20 "$PERFKIT" collapse --no-local --buildid-dir "$PWD" -i "$2" >out 2>err
	rc=$?
	case $rc in
	0) ;;
	1 | 3) [ -s err ] || { echo "$1: exit $rc without a word"; failed=1; } ;;
	*) echo "$1: exit $rc"; cat err; failed=1 ;;
	esac
	[ "$(wc -l <err)" -le 6 ] || { echo "$1: $(wc -l <err) lines of complaint"; head -3 err; failed=1; }
}

src=$SRC/testdata/uprobe/perf.data
size=$(wc -c <"$src")
n=0
while [ $n -lt "$size" ]; do
	head -c $n "$src" >cut.data
	try "cut at $n" cut.data
	n=$((n + 499))
done
n=0
while [ $n -lt 4096 ]; do
	{
		head -c $n "$src"
		printf '\377'
		tail -c +$((n + 2)) "$src"
	} >flip.data
	try "255 at $n" flip.data
	n=$((n + 53))
done

: >empty
try "an empty file" empty
try "a text" "$SRC/LICENSE"
try "an ELF file" "$PERFKIT"
try "no such file" nowhere
try "a device" /dev/null
mkdir -p dir
try "a directory" dir
for f in empty "$SRC/LICENSE" "$PERFKIT" nowhere /dev/null dir; do
	"$PERFKIT" collapse -i "$f" >out 2>err && { echo "$f is taken for a recording"; failed=1; }
	[ "$(wc -l <err)" -eq 1 ] || { echo "$f: not one line:"; cat err; failed=1; }
	[ -s out ] && { echo "$f: output"; failed=1; }
done

# A header that names no event, and nothing else.
{
	printf 'PERFILE2\150\0\0\0\0\0\0\0\220\0\0\0\0\0\0\0\150\0\0\0\0\0\0\0'
	head -c 8 /dev/zero
	printf '\150\0\0\0\0\0\0\0'
	head -c 56 /dev/zero
} >noevents
for verb in collapse "collapse --srcline" "collapse --offcpu" report "report --by function" tail doctor "html -o x.html" "svg -o x.svg" \
	"svg --wall -o x.svg" "timeline -o x.svg" "export --to pprof -o x.pb.gz" "import -o x.db" "pack -o x.tar"; do
	# shellcheck disable=SC2086
	"$PERFKIT" ${verb} noevents >out 2>err
	rc=$?
	case $verb in import*|pack*) expected=0 ;; *) expected=3 ;; esac
	[ $rc = $expected ] && { [ "$verb" = doctor ] || [ -s err ]; } ||
		{ echo "$verb without events: status $rc, $(cat err)"; failed=1; }
done

# Files that are given are meant: another is not taken in their place without a word.
data=$SRC/testdata/system-wide/perf.data
for option in --kallsyms --vmlinux; do
	"$PERFKIT" collapse $option nowhere "$data" >out 2>err
	[ $? = 2 ] && [ ! -s out ] && grep -q -- "$option nowhere: No such file" err ||
		{ echo "$option nowhere: $(cat err)"; failed=1; }
done
for option in --symfs --buildid-dir; do
	"$PERFKIT" collapse $option nowhere "$data" 2>&1 >out | grep -q -- "$option nowhere: No such file" ||
		{ echo "$option nowhere: not a word"; failed=1; }
done
"$PERFKIT" collapse --kallsyms "$SRC/LICENSE" "$data" >out 2>err
[ $? = 2 ] && [ ! -s out ] && grep -q 'LICENSE: not a list of kernel symbols' err ||
	{ echo "--kallsyms LICENSE: $(cat err)"; failed=1; }
printf '%s\n' '0000000000000000 T _stext' '0000000000000000 T startup_64' >zeroes
"$PERFKIT" doctor -v --no-local --kallsyms zeroes "$data" | grep -q '\[kptr-restrict\]' ||
	{ echo "kallsyms of zeroes: not told"; failed=1; }
exit $failed
