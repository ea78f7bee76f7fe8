#!/bin/sh
# Pack a perf recording with what its frames are named from, on a machine that has perf but no
# perfkit:   sh pack.sh [perf.data [run.tar.zst]]   or   sh pack.sh perf.data -o run.tar.zst
#
# Needs sh, perf, tar, sed, sort, tr, cp; zstd, else gzip (the bundle is then a .tar.gz). Run it as
# root on the recorded machine, before it boots anew, so that kernel symbols can be read.
# perfkit reads the result: perfkit report run.tar.zst. Printed by `perfkit pack --script`.
set -u
LC_ALL=C
export LC_ALL
perf=${PERF:-perf}

die() { echo "pack.sh: $*" >&2; exit 1; }
data= out=
while [ $# -gt 0 ]; do
	case $1 in
	-o | --output)
		[ $# -gt 1 ] || die "-o wants the bundle's name"
		out=$2
		shift
		;;
	-h | --help)
		echo "usage: sh pack.sh [perf.data] [-o run.tar.zst]"
		exit 0
		;;
	-*) die "no option $1 (usage: sh pack.sh [perf.data] [-o run.tar.zst])" ;;
	*)
		if [ -z "$data" ]; then data=$1
		elif [ -z "$out" ]; then out=$1
		else die "one name too many: $1"; fi
		;;
	esac
	shift
done
data=${data:-perf.data}
[ -r "$data" ] || die "$data: cannot be read"
for tool in "$perf" tar sed sort tr cp; do
	command -v "$tool" >/dev/null 2>&1 || die "$tool is not installed"
done
if command -v zstd >/dev/null 2>&1; then
	zip='zstd -q -3 -c' out=${out:-$data.tar.zst}
else
	zip='gzip -c' out=${out:-$data.tar.gz}
fi
work=${TMPDIR:-/tmp}/perfkit-pack.$$
umask 077
mkdir "$work" "$work/b" "$work/b/debug" "$work/b/symfs" || die "cannot write to $work"
trap 'rm -rf "$work"; rm -f -- "$out.tmp.$$"' EXIT
trap 'exit 1' HUP INT TERM
b=$work/b
cache=${PERF_BUILDID_DIR:-${HOME:-/root}/.debug}
missing=0

lacks()  # what why
{
	echo "missing: $1: $2" >&2
	echo "missing - - $1: $2" >>"$work/missing"
	missing=$((missing + 1))
}
put()  # from name: copy below the bundle, once
{
	case /$2/ in */../* | */./* | *//*) return 1 ;; esac
	[ -e "$b/$2" ] && return 0
	mkdir -p "$b/${2%/*}" && cp -L "$1" "$b/$2" 2>/dev/null
}
id_of()  # path: the build-id recorded for it, or nothing
{
	while read -r id path; do
		[ "$path" = "$1" ] && { echo "$id"; return; }
	done <"$work/ids"
}
id_of_file() { "$perf" buildid-list -i "$1" 2>/dev/null | sed -n '1s/^\([0-9a-f]\{8,40\}\)$/\1/p'; }
cache_name() { echo "debug/.build-id/$(echo "$1" | sed 's/^\(..\)/\1\//')"; }

# What was recorded under which build-id, and what the frames lie in, callers' too: perf unwinds
# here, where all files are. Without frames (an old perf) everything that was mapped.
"$perf" buildid-list -i "$data" 2>/dev/null >"$work/ids"
"$perf" script -i "$data" --no-inline --show-mmap-events -F comm,tid,ip,sym,dso \
	2>"$work/script.err" >"$work/script" ||
	"$perf" script -i "$data" --show-mmap-events 2>"$work/script.err" >"$work/script"
sed -n 's/^[[:space:]]*[0-9a-f][0-9a-f]* .* (\([^()].*\))$/\1/p' "$work/script" |
	sort -u >"$work/frames"
sed -n 's/.*PERF_RECORD_MMAP.*: [r-][w-]xp \(.*\)$/\1/p' "$work/script" | sort -u >"$work/maps"
rm "$work/script"
[ -s "$work/frames" ] || cp "$work/maps" "$work/frames"
grep '/jit-[0-9]*\.dump$' "$work/maps" >>"$work/frames"

# Files that debug information names: the one that dwz shares, .dwo of split DWARF, .dwp. Their
# names are read as text, as there need not be a readelf: perfkit checks the ids when it reads.
put_parts()  # file of-this-path bundle-folder
{
	from=${2%/*}
	tr -c '[:print:]' '\n' <"$1" | grep -e '\.dwo$' -e '\.debug$' -e 'dwz' | sort -u >"$work/names"
	[ -s "$work/names" ] || return 0
	# folders it was compiled in, for names relative to them
	tr -c '[:print:]' '\n' <"$1" | grep '^/' | sort -u >"$work/dirs"
	while read -r name; do
		case $name in
		/*) [ -f "$name" ] && put "$name" "$3/${name##*/}" ;;
		*.dwo)
			to=$name
			case /$name in */../*) to=${name##*/} ;; esac
			for dir in "$from" "${1%/*}"; do
				[ -f "$dir/$name" ] && put "$dir/$name" "$3/$to"
			done
			while read -r dir; do
				[ -e "$b/$3/$to" ] && break
				[ -f "$dir/$name" ] && put "$dir/$name" "$3/$to"
			done <"$work/dirs"
			;;
		*/*)
			for dir in "$from" "${1%/*}"; do
				[ -f "$dir/$name" ] && put "$dir/$name" "$3/${name##*/}"
			done
			;;
		esac
	done <"$work/names"
	return 0
}

# A debug file lies beside the binary's, or under /usr/lib/debug by build-id or path.
put_debug()  # path build-id bundle-folder
{
	hex=$(echo "$2" | sed 's/^\(..\)/\1\//')
	dir=${1%/*} base=${1##*/}
	for f in "$cache/.build-id/$hex/debug" "/usr/lib/debug/.build-id/$hex.debug" \
		"/usr/lib/debug$1.debug" "/usr/lib/debug$1" "$dir/.debug/$base.debug" \
		"$dir/$base.debug" "$dir/.debug/$base"; do
		[ -n "$2" ] && [ -f "$f" ] && [ "$(id_of_file "$f")" = "$2" ] || continue
		put "$f" "$3/debug"
		put_parts "$f" "$1" "$3"
		return
	done
}
put_file()  # path
{
	path=${1% (deleted)}
	want=$(id_of "$1")
	have=
	[ -f "$path" ] && have=$(id_of_file "$path")
	if [ -z "$want" ] && [ -f "$path" ]; then
		put "$path" "symfs$path" || lacks "$path" "cannot be copied"
		[ -f "$path.dwp" ] && put "$path.dwp" "symfs$path.dwp"
		put_parts "$path" "$path" "symfs${path%/*}"
		[ -n "$have" ] && put_debug "$path" "$have" "$(cache_name "$have")"
	elif [ -n "$want" ] && [ "$have" = "$want" ]; then
		put "$path" "$(cache_name "$want")/elf" || lacks "$path" "cannot be copied"
		[ -f "$path.dwp" ] && put "$path.dwp" "$(cache_name "$want")/elf.dwp"
		put_parts "$path" "$path" "$(cache_name "$want")"
		put_debug "$path" "$want" "$(cache_name "$want")"
	elif [ -n "$want" ] && [ -f "$cache/.build-id/${want%"${want#??}"}/${want#??}/elf" ]; then
		put "$cache/.build-id/${want%"${want#??}"}/${want#??}/elf" \
			"$(cache_name "$want")/elf"
		put_parts "$b/$(cache_name "$want")/elf" "$path" "$(cache_name "$want")"
		put_debug "$path" "$want" "$(cache_name "$want")"
	elif [ -f "$path" ]; then
		lacks "$path" "the file is another one now (build-id ${have:-none}, recorded $want)"
	else
		lacks "$path" "not found (build-id ${want:-not recorded})"
	fi
}

while read -r path; do
	case $path in
	/tmp/perf-*.map)
		pid=${path#/tmp/perf-} pid=${pid%.map}
		# in a container it has another number, and a /tmp of its own
		inner=$(sed -n 's/^NSpid:.*[[:space:]]//p' "/proc/$pid/status" 2>/dev/null)
		if [ -f "$path" ]; then
			put "$path" "symfs$path"
		elif [ -f "/proc/$pid/root/tmp/perf-$inner.map" ]; then
			put "/proc/$pid/root/tmp/perf-$inner.map" "symfs$path"
		else
			lacks "$path" "not found"
		fi
		;;
	*/jit-*.dump)
		if [ -f "$path" ]; then put "$path" "symfs$path"; else lacks "$path" "not found"; fi
		;;
	/*.ko | /*.ko.xz | /*.ko.zst | /*.ko.gz) # named from kallsyms
		;;
	//* | /dev/* | /proc/* | /sys/* | /memfd:* | /anon_hugepage* | /SYSV*) ;;
	/*) put_file "$path" ;;
	esac
done <"$work/frames"

# The vdso has no file: perf record keeps a copy by build-id.
for vdso in '[vdso]' '[vdso32]'; do
	id=$(id_of "$vdso")
	from=$cache/.build-id/$(echo "$id" | sed 's/^\(..\)/\1\//')/vdso
	[ -n "$id" ] && [ -f "$from" ] && put "$from" "$(cache_name "$id")/vdso"
done

# Kernel symbols: those of the running kernel if it is the recorded one, else perf's copy.
kernel=$(id_of '[kernel.kallsyms]')
running=$("$perf" buildid-list -k 2>/dev/null | sed -n '1s/^\([0-9a-f]*\)$/\1/p')
from=$cache/.build-id/$(echo "$kernel" | sed 's/^\(..\)/\1\//')/kallsyms
if [ -n "$kernel" ] && [ -f "$from" ]; then
	put "$from" "$(cache_name "$kernel")/kallsyms"
elif ! grep -q '^0*[1-9a-f][0-9a-f]* ' /proc/kallsyms 2>/dev/null; then
	lacks '[kernel.kallsyms]' "addresses hidden: run this as root"
elif [ -n "$kernel" ] && [ "$kernel" = "$running" ]; then
	put /proc/kallsyms "$(cache_name "$kernel")/kallsyms"
elif [ -z "$kernel" ]; then
	release=$("$perf" script -i "$data" --header-only 2>/dev/null |
		sed -n 's/^# os release : //p')
	if [ "$release" = "$(uname -r)" ]; then
		put /proc/kallsyms symfs/proc/kallsyms
	else
		lacks '[kernel.kallsyms]' "recorded under ${release:-another kernel}"
	fi
else
	lacks '[kernel.kallsyms]' "recorded under another kernel (build-id $kernel)"
fi

cp -R "$data" "$b/perf.data" || die "cannot copy $data"
(
	cd "$b" || exit 1
	echo 'perfkit-bundle 1'
	echo 'made-by pack.sh'
	echo "host $(uname -n)"
	find perf.data debug symfs -type f | sort | while read -r f; do
		echo "file $(wc -c <"$f" | sed 's/ //g') - $f"
	done
	[ -f "$work/missing" ] && cat "$work/missing"
	true
) >"$work/MANIFEST"
mv "$work/MANIFEST" "$b/MANIFEST"
(cd "$b" && tar -cf - MANIFEST perf.data debug symfs) | $zip >"$out.tmp.$$" ||
	die "cannot write $out"
mv -- "$out.tmp.$$" "$out" || die "cannot write $out"
echo "$out: $(wc -c <"$out" | sed 's/ //g') bytes, $missing missing" >&2
