#!/bin/sh
# hermetic.sh make DIR         - put into DIR what shall lie over this machine's own files
# hermetic.sh run DIR CMD...   - run CMD with it (inside a mount namespace: unshare -m)
#
# A test of fixtures that passes here and nowhere else has looked at this machine: at the symbols
# of its kernel, at its debug files, at a library that is by chance the recorded one. Under `run`
# the kernel's symbols are made-up ones, its build-id and those of the usual programs and
# libraries are others, and the folders of debug files, kernels and modules are empty. Nothing
# that perfkit reads from the machine can help then, and what it takes by mistake is called
# from_this_machine.
set -eu

# Programs that fixtures ran, and what perfkit itself needs.
programs='sh bash dash sleep cat python3 perf'

# the files to lie over: each program and its libraries
recorded_files()
{
	for p in $programs "$PERFKIT"; do
		file=$(command -v "$p" 2>/dev/null) || continue
		readlink -f "$file"
		ldd "$file" 2>/dev/null | sed -n 's/.*[[:blank:]]\(\/[^ ]*\) (0x.*/\1/p'
	done | while read -r file; do
		readlink -f "$file"
	done | grep -v "^$O/" | sort -u
}

# other_id FILE OUT - FILE with the first byte of its GNU build-id changed; fails if it has none
other_id()
{
	note='\x04\x00\x00\x00[\x08-\x20]\x00\x00\x00\x03\x00\x00\x00GNU\x00'
	LC_ALL=C sed "s/\\($note\\)[^\\n]/\\1\\xff/" "$1" >"$2"
	! cmp -s "$1" "$2"
}

# A kernel text of 16 MiB, one function a page, where none is found.
kernel_symbols()
{
	awk 'BEGIN {
		printf "ffffffff90000000 T _text\nffffffff90000000 T _stext\n"
		for (i = 1; i < 4096; i++)
			printf "ffffffff9%07x T from_this_machine_%d\n", i * 4096, i
		printf "ffffffff91000000 T _etext\n"
	}'
}

make_cover()
{
	dir=$1
	mkdir -p "$dir/empty" "$dir/files"
	kernel_symbols >"$dir/kallsyms"
	[ ! -r /sys/kernel/notes ] || other_id /sys/kernel/notes "$dir/notes" || rm "$dir/notes"
	n=0
	recorded_files | while read -r file; do
		n=$((n + 1))
		if other_id "$file" "$dir/files/$n"; then
			chmod --reference="$file" "$dir/files/$n"
			echo "$n $file"
		else
			rm "$dir/files/$n"
		fi
	done >"$dir/list"
}

run_covered()
{
	dir=$1
	shift
	for empty in /usr/lib/debug /boot /usr/lib/modules /lib/modules /usr/src; do
		[ ! -d $empty ] || [ -L $empty ] || mount --bind "$dir/empty" $empty
	done
	mount --bind "$dir/kallsyms" /proc/kallsyms
	[ ! -f "$dir/notes" ] || mount --bind "$dir/notes" /sys/kernel/notes
	while read -r n file; do
		mount --bind "$dir/files/$n" "$file"
	done <"$dir/list"
	unset DEBUGINFOD_URLS PERF_BUILDID_DIR
	exec "$@"
}

case $1 in
make) make_cover "$2" ;;
run) shift && run_covered "$@" ;;
esac
