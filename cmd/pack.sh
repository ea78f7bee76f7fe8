#!/bin/sh
# Pack a perf recording with the binaries and symbols to read it elsewhere, on a machine that
# has perf but no perfkit:
#
#	sh pack.sh [perf.data [run.tar.zst]]   or   sh pack.sh perf.data -o run.tar.zst
#
# What the recorded processes' descriptors were is looked up, too: sockets and who began them. When
# all is over that is late: a number may be another file's by now. So run this before you record,
# if you can; it writes perf.data.context-before, which the packing takes along:
#
#	sh pack.sh --before [perf.data]
#
# Needs sh, perf, tar and the usual small tools (awk, dd, grep, ls, mktemp, od, sed, sort, tr);
# zstd, else gzip (the bundle is then a .tar.gz). readelf, if there, finds debug files that only
# a link in the binary names. Run it as root on the recorded machine before that reboots: only
# root can read kernel symbols. perfkit reads the result: perfkit report run.tar.zst.
# Printed by `perfkit pack --script`.
#
# Recorded processes chose the paths that are read here, and a bundle is handed on, so root's
# rights must not reach for them:
#
#	every part of the path is root's alone, and anybody may read the file   read as it is
#	… but only some may read it       only if a recorded mapping is of that very inode
#	the path goes through a user's folder, and a mapping is of that inode   read as that user
#	anything else                                                           read as nobody
#
# What was read is a private copy, and is checked for what it must be before it is packed.
set -uf
LC_ALL=C
export LC_ALL
perf=${PERF:-perf}
me=$(id -u) || exit 1
nobody=65534
usage='usage: sh pack.sh [--trust-paths | --before] [perf.data] [-o run.tar.zst]'
nl='
'

clean() { printf '%s' "$1" | tr -c '\040-\176' '?'; } # for terminals and MANIFEST
die() { printf 'pack.sh: %s\n' "$(clean "$*")" >&2; exit 1; }
data= out= trust= before=
while [ $# -gt 0 ]; do
	case $1 in
	-o | --output)
		[ $# -gt 1 ] || die "-o needs the bundle's name"
		out=$2
		shift
		;;
	--trust-paths) trust=1 ;;
	--before) before=1 ;;
	-h | --help)
		printf '%s\n' "$usage" '' \
			'  --trust-paths  also read, as root, files that only root may read and that' \
			'                 nothing recorded identifies' \
			'  --before       look at the descriptors of all processes, for a recording to come'
		exit 0
		;;
	-*) die "no option $1 ($usage)" ;;
	*)
		if [ -z "$data" ]; then data=$1
		elif [ -z "$out" ]; then out=$1
		else die "one name too many: $1"; fi
		;;
	esac
	shift
done
data=${data:-perf.data}

# --- which descriptor is what ----------------------------------------------------------------

# Of the processes whose numbers are read, as libtime/build/fd_context.h has them: kinds, not paths.
snapshot()
{
	while read -r pid; do
		space=$(ls -ln "/proc/$pid/ns/net" 2>/dev/null | sed -n 's/.* -> \(net:\[[0-9]*\]\)$/\1/p')
		[ -n "$space" ] || continue
		fds=$(ls -ln "/proc/$pid/fd/" 2>/dev/null | sed -n \
			-e 's/^l[^>]* \([0-9][0-9]*\) -> \(socket:\[[0-9]*\]\)$/fd \1 \2/p' \
			-e 's/^l[^>]* \([0-9][0-9]*\) -> \(pipe:\[[0-9]*\]\)$/fd \1 \2/p' \
			-e 's/^l[^>]* \([0-9][0-9]*\) -> \(anon_inode:[][a-z]*\)$/fd \1 \2/p' \
			-e 's/^l[^>]* \([0-9][0-9]*\) -> \/.*/fd \1 \//p')
		[ -n "$fds" ] || continue
		printf 'process %s %s\n%s\n' "$pid" "$space" "$fds"
		for epoll in $(printf '%s\n' "$fds" | sed -n 's/^fd \([0-9]*\) anon_inode:\[eventpoll\]$/\1/p'); do
			sed -n "s/^tfd: *\([0-9][0-9]*\).*/tfd $epoll \1/p" "/proc/$pid/fdinfo/$epoll" 2>/dev/null
		done
	done >"$1"
	cat "$1"
	# sockets that one of them has open, and all that listen, of each network namespace
	sed -n 's/^process //p' "$1" | sort -u -k2,2 | while read -r pid space; do
		for file in tcp tcp6 udp udp6 unix; do
			[ -r "/proc/$pid/net/$file" ] || continue
			printf 'net %s %s\n' "$space" "$file"
			awk -v unix="$file" 'BEGIN { is_unix = unix == "unix" }
			FNR == NR { if ($1 == "fd" && sub(/^socket:\[/, "", $3)) open[$3 + 0] = 1; next }
			{ at = is_unix ? $7 : $10; listens = is_unix ? $4 ~ /^0*1[0-9A-F][0-9A-F][0-9A-F][0-9A-F]$/ : $4 == "0A" }
			FNR > 1 && (listens || at + 0 in open) { sub(/^ +/, ""); print "\t" $0 }
			' "$1" "/proc/$pid/net/$file" 2>/dev/null
		done
	done
}
if [ -n "$before" ]; then
	umask 077
	work=$(mktemp -d "${TMPDIR:-/tmp}/perfkit-pack.XXXXXX") || die "cannot write to ${TMPDIR:-/tmp}"
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	{ printf 'snapshot\n' && ls /proc | grep '^[0-9][0-9]*$' | snapshot "$work/processes"; } >"$work/context" &&
		mv "$work/context" "$data.context-before" || die "cannot write $data.context-before"
	exit
fi
[ -r "$data" ] || die "$data: cannot be read"
for tool in "$perf" tar awk cp dd grep ls mktemp od sed sort tr; do
	command -v "$tool" >/dev/null 2>&1 || die "$tool is not installed"
done
if command -v zstd >/dev/null 2>&1; then
	zip='zstd -q -3 -c' out=${out:-$data.tar.zst}
else
	zip='gzip -c' out=${out:-$data.tar.gz}
fi
case $out in -*) out=./$out ;; esac
[ ! -d "$out" ] || die "$out: is a directory"
umask 077
work= made=
trap 'rm -rf "$work"; [ -z "$made" ] || rm -f "$made"' EXIT
trap 'exit 1' HUP INT TERM
work=$(mktemp -d "${TMPDIR:-/tmp}/perfkit-pack.XXXXXX") || die "cannot write to ${TMPDIR:-/tmp}"
b=$work/b
mkdir "$b" "$b/debug" "$b/symfs" || die "cannot write to $work"
cache=${PERF_BUILDID_DIR:-${HOME:-/root}/.debug}
missing=0

lacks()  # what why
{
	printf 'missing: %s: %s\n' "$(clean "$1")" "$(clean "$2")" >&2
	printf 'missing - - %s: %s\n' "$(clean "$1")" "$(clean "$2")" >>"$work/missing"
	missing=$((missing + 1))
}

# --- reading with no more rights than needed -------------------------------------------------

# Other users' rights: by number, else by name.
drop=
if [ "$me" = 0 ]; then
	if setpriv --reuid $nobody --regid $nobody --clear-groups sh -c : 2>/dev/null; then
		drop=setpriv
	elif runuser -u nobody -- sh -c : 2>/dev/null; then
		drop=runuser
	else
		printf '%s\n' "pack.sh: neither setpriv nor runuser can drop root's rights:" \
			'files that other users can choose are left out' >&2
	fi
fi
# Not in this session: its terminal takes input from whoever has it open. Nor its environment.
alone="env -i PATH=$PATH"
case $PATH in *[!A-Za-z0-9/._:+-]*) alone='env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin' ;; esac
if setsid sh -c : 2>/dev/null; then alone="setsid $alone"; fi
as()  # uid command…
{
	user=$1
	shift
	case $drop in
	setpriv)
		group=$(id -g "$user" 2>/dev/null) || group=$nobody
		$alone setpriv --reuid "$user" --regid "$group" --clear-groups "$@"
		;;
	runuser)
		[ "$user" != $nobody ] || user=nobody
		user=$(id -un "$user" 2>/dev/null) && $alone runuser -u "$user" -- "$@"
		;;
	*) return 1 ;;
	esac </dev/null 2>/dev/null
}

# "./$2" of the folder $1, which no link led to, and no link itself; with $3 links are followed.
# At most 4 GB of it, and nothing but a regular file.
blocks=4096 flags=
for flag in nofollow nonblock; do
	if dd iflag=$flag if=/dev/null of=/dev/null count=1 2>/dev/null; then
		flags=${flags:+$flags,}$flag
	fi
done
read_file='file=./$2
	if [ -n "$3" ]; then file=$1/$2
	elif [ -n "$1" ]; then cd -P "$1/" && [ "$(pwd -P)" = "$1" ] && [ ! -L "$file" ] || exit 1
	fi
	[ -f "$file" ] && exec dd if="$file" bs=1048576 count='$blocks
read_strictly="$read_file ${flags:+iflag=$flags}"
as_caller() { sh -c "$read_strictly" sh "$@" '' </dev/null 2>/dev/null; }
as_user() { user=$1 && shift && as "$user" sh -c "$read_strictly" sh "$@" ''; }
as_nobody() { as $nobody sh -c "$read_file" sh "$@" links; }

look()  # path: its mode, links, owner and group; a link's own
{
	set -- $(ls -ldn "$1" 2>/dev/null)
	[ $# -gt 4 ] && mode=$1 links=$2 uid=$3 gid=$4
}

# Who can choose what lies at a path? who: mine (root or the caller alone), a user's number, or
# anyone; shown: everybody may read it. Recorded paths and those made here have no links in them.
open_dirs=$nl # folders that are nobody else's and that everybody may search, known already
judge()  # path
{
	who=mine shown=1 sticky= at= rest=${1#/}
	while [ -n "$rest" ]; do
		at=$at/${rest%%/*}
		case $rest in
		*/*)
			rest=${rest#*/}
			case $open_dirs in *"$nl$at$nl"*) sticky= ; continue ;; esac
			;;
		*) rest= ;;
		esac
		look "$at" || return 1
		if [ -n "$rest" ]; then judge_folder; else judge_file; fi
		[ "$who" != anyone ] || return 0
	done
}
judge_folder()
{
	case $mode in d?????????*) ;; *) who=anyone && return ;; esac
	case $mode in ?????????[xt]*) ;; *) shown= ;; esac
	if [ "$who" = mine ] && [ "$uid" != 0 ] && [ "$uid" != "$me" ]; then
		who=$uid
	elif [ "$who" != mine ] && [ "$uid" != 0 ] && [ "$uid" != "$who" ]; then
		who=anyone
	fi
	was_sticky=$sticky sticky=
	case $mode in
	*+) who=anyone ;;            # an access list
	????????w[tT]* | ?????w???[tT]*)
		sticky=1
		[ "$who" = mine ] || who=anyone
		;;
	????????w*) who=anyone ;;
	?????w*) [ "$who" = "$uid" ] && [ "$gid" = "$uid" ] || who=anyone ;; # a user's own group
	*) [ "$who" != mine ] || [ -z "$shown" ] || open_dirs=$open_dirs$at$nl ;;
	esac
}
judge_file()
{
	case $mode in -*) ;; *) who=anyone && return ;; esac
	case $mode in ???????r*) ;; *) shown= ;; esac
	# a second name of it may lie where its owner did not put it
	[ -z "$sticky" ] || [ "$links" = 1 ] || who=anyone
	[ "$who" != mine ] || [ "$uid" = 0 ] || [ "$uid" = "$me" ] || who=$uid
}

# A recorded mapping of this path was of the inode that lies there now: its process had it open.
# Or the kernel read the build-id $claimed in the file it mapped, which the copy must have. And
# what belongs to such a binary may lie beside it, in $granted or its .debug.
granted=/nowhere claimed=none
proved()  # path
{
	[ -z "$trust" ] || return 0
	[ "${1%/*}" != "$granted" ] && [ "${1%/*}" != "$granted/.debug" ] || return 0
	case $mode in ????-?[xs]* | ???????-?[xt]*) return 1 ;; esac # run by some who may not read it
	[ -z "$forged" ] && grep -qxF -e "$(inode_of "$1") $1" -e "$claimed $1" "$work/proofs"
}
inode_of()  # path: as perf prints a mapping's, device and inode
{
	set -- $(stat -c '%d %i' "$1" 2>/dev/null)
	[ $# = 2 ] && printf '%02x:%02x %s' $(($1 >> 8 & 4095 | $1 >> 32 & ~4095)) \
		$(($1 & 255 | $1 >> 12 & ~255)) "$2"
}

# The file into $work/new, private and whole; else the reason in $why.
fetch()  # path
{
	rm -f "$work/new" "$work/raw"
	judge "$1" || { why='not found' && return 1; }
	why='cannot be read'
	in_dir=${1%/*} file=${1##*/}
	in_dir=${in_dir:-/}
	if [ "$who" = mine ]; then
		[ -n "$shown" ] || [ "$me" != 0 ] || proved "$1" || {
			why='only some users may read it, and no mapping of this very file was recorded'
			return 1
		}
		as_caller "$in_dir" "$file" >"$work/raw"
	elif [ "$me" != 0 ]; then
		why='another user can choose what lies there'
		case $flags in nofollow*) as_caller "$in_dir" "$file" >"$work/raw" ;; *) false ;; esac
	elif [ -z "$drop" ]; then
		why="another user can choose what lies there, and root's rights cannot be dropped here"
		false
	elif [ "$who" != anyone ] && proved "$1"; then
		why="user $who cannot read it"
		as_user "$who" "$in_dir" "$file" >"$work/raw"
	else
		why='another user can choose what lies there, and not everybody may read it'
		as_nobody "$in_dir" "$file" >"$work/raw"
	fi && take_raw
}
# A copy that no process of another user has open.
take_raw()
{
	[ -s "$work/raw" ] || { why='empty' && return 1; }
	[ "$(wc -c <"$work/raw")" -lt $((blocks * 1048576)) ] || { why='larger than 4 GB' && return 1; }
	if [ "$who" = mine ]; then mv "$work/raw" "$work/new"; else cp "$work/raw" "$work/new"; fi
}
put()  # name: what was fetched, below the bundle, once
{
	case /$1/ in */../* | */./* | *//*) return 1 ;; esac
	[ ! -e "$b/$1" ] || return 0
	mkdir -p "$b/${1%/*}" 2>/dev/null && mv "$work/new" "$b/$1" 2>/dev/null ||
		{ why='cannot be copied' && return 1; }
}

# --- what a file must be ---------------------------------------------------------------------

magic() { od -An -v -tx1 -N4 "$1" | tr -d ' \n'; }
is_elf() { [ "$(magic "$1")" = 7f454c46 ]; }
is_jitdump() { case $(magic "$1") in 4454694a | 4a695444) ;; *) return 1 ;; esac; }
build_id() { "$perf" buildid-list -i "$1" 2>/dev/null | sed -n '1s/^\([0-9a-f]\{8,40\}\)$/\1/p'; }
place_of() { printf '%s' "$1" | sed 's/^\(..\)/\1\//'; } # build-id
crc32_of()  # file: its bytes as .gnu_debuglink has them; gzip writes them behind what it packs
{
	gzip -1c <"$1" 2>/dev/null | tail -c 8 | od -An -v -tx1 -N4 | tr -d ' \n'
}
names_bytes()  # binary hex: are these bytes in what links it to debug files?
{
	[ -n "$2" ] || return 1
	if readelf -h "$1" >/dev/null 2>&1; then
		readelf -x .gnu_debuglink -x .gnu_debugaltlink -x .debug_sup "$1" 2>/dev/null |
			sed -n 's/^  0x[0-9a-f]* \(.\{35\}\).*/\1/p'
	else
		od -An -v -tx1 "$1"
	fi | tr -d ' \n' | grep -qF -e "$2"
}
fetch_elf()  # path build-id: of any id without one
{
	fetch "$1" && { is_elf "$work/new" || { why='no ELF file' && return 1; }; } || return 1
	have=$(build_id "$work/new")
	[ -z "$2" ] || [ "$have" = "$2" ] ||
		{ why="the file is another one now (build-id ${have:-none}, recorded $2)" && return 1; }
}
fetch_linked()  # path build-id: the same of a debug file, to which folders that are links may lead
{
	real=$(cd -P "${1%/*}/" 2>/dev/null && pwd -P) && fetch_elf "${real%/}/${1##*/}" "$2"
}

# --- binaries and their debug files ----------------------------------------------------------

ids_of()  # path: each build-id that was recorded for it
{
	grep -F -e " $1" "$work/ids" | while IFS=' ' read -r id recorded; do
		[ "$recorded" != "$1" ] || printf '%s\n' "$id"
	done
}
entry() { printf 'debug/.build-id/%s' "$(place_of "$1")"; } # build-id: its folder in a bundle

# What a binary names further: the file that dwz shares, .dwo of split DWARF, a debug link. Only
# the last part of such a name is used, in the folders where debug files lie.
put_parts()  # private-copy path build-id-or-nothing bundle-folder
{
	dir=${2%/*} lost=0
	tr -c '\040-\176' '\n' <"$1" | grep -e '[^%./]\.dwo$' -e '\.debug$' -e '\.dbg$' -e 'dwz' |
		sort -u >"$work/names"
	while IFS= read -r name; do
		base=${name##*/}
		case $name in
		*.dwo)
			to=$name
			case /$name in //* | *..*) to=$base ;; esac
			{ fetch_linked "$dir/$base" '' || fetch_linked "/usr/lib/debug$dir/$base" ''; } &&
				put "$4/$to" || lost=$((lost + 1))
			;;
		*)
			case $base in '' | . | ..) continue ;; esac
			case $name in *.dwz/*..*) ;; *.dwz/*) name=${name##*.dwz/} ;; *) name=$base ;; esac
			for f in "$dir/.debug/$base" "$dir/$base" "/usr/lib/debug$dir/$base" \
				"/usr/lib/debug/.dwz/$name"; do
				[ "$f" != "$2" ] && fetch_linked "$f" '' && put_named "$@" && break
			done
			;;
		esac
	done <"$work/names"
	[ $lost = 0 ] || ! readelf -SW "$1" 2>/dev/null | grep -q ' \.debug_addr ' ||
		lacks "$2" "$lost of its .dwo files are neither beside it nor below /usr/lib/debug"
	return 0
}
put_named()  # as put_parts: the candidate is the debug file, or the one that dwz made
{
	if [ -n "$have" ] && [ "$have" = "$3" ]; then put "$4/debug"
	elif names_bytes "$1" "$have"; then put "$4/$base"
	elif [ -z "$3" ] && names_bytes "$1" "$(crc32_of "$work/new")"; then put "$4/.debug/$base"
	else false; fi
}
put_debug()  # path build-id bundle-folder
{
	for f in "/usr/lib/debug/.build-id/$(place_of "$2").debug" "/usr/lib/debug$1.debug" \
		"/usr/lib/debug$1" "${1%/*}/.debug/${1##*/}.debug" "$1.debug" "${1%/*}/.debug/${1##*/}"; do
		[ ! -e "$b/$3/debug" ] && fetch_linked "$f" "$2" && put "$3/debug"
	done
	beside=$granted
	[ -e "$b/$3/debug" ] || { fetch_cached "$2" debug && put "$3/debug"; }
	granted=$beside
	[ ! -e "$b/$3/debug" ] || put_parts "$b/$3/debug" "$1" "$2" "$3"
}
# perf filled its cache as root, too, with what lay at a recorded path when it ended: a copy is the
# recorded file if a mapping tells so, and open to all if only root can choose what lies there.
may_be_cached()  # path build-id, both as recorded
{
	[ "$me" = 0 ] && [ -z "$trust" ] || return 0
	[ -n "$forged" ] || ! grep -qxF -e "$2 $1" "$work/proofs" || return 0
	copy=$cache/.build-id/$(place_of "$2")/elf
	[ -n "$forged" ] || ! grep -qxF -e "$(inode_of "$copy") $1" "$work/proofs" || return 0
	judge "${1% (deleted)}"
	[ "$who" = mine ] && [ -n "$shown" ]
}
fetch_cached()  # build-id leaf: from perf's cache, which is the caller's own
{
	f=$cache/.build-id/$(place_of "$1")/$2
	granted=$(cd -P "${f%/*}/" 2>/dev/null && pwd -P) && fetch_elf "$granted/$2" "$1"
}
# Without a recorded build-id: not written since, and no other inode of the same file system.
is_recorded_one()  # path
{
	why='the file is another one now'
	[ ! "$1" -nt "$data" ] || return 1
	here=$(inode_of "$1") other=
	while IFS=' ' read -r dev inode recorded; do
		[ "$recorded" = "$1" ] && [ "$dev" = "${here% *}" ] || continue
		[ "$inode" != "${here#* }" ] || return 0
		other=1
	done <"$work/proofs"
	[ -z "$other" ]
}
find_binary()  # path build-id-or-nothing path-as-recorded
{
	if [ -z "$2" ]; then fetch_elf "$1" '' && is_recorded_one "$1" && return; return 1; fi
	fetch_elf "$1" "$2" && return
	reason=$why
	may_be_cached "$3" "$2" && fetch_cached "$2" elf && return
	why=$reason
	return 1
}
put_binary()  # path build-id-or-nothing, both as recorded
{
	path=${1% (deleted)} folder=symfs${1%/*} name=symfs${1% (deleted)}
	granted=/nowhere claimed=${2:-none}
	[ -z "$2" ] || folder=$(entry "$2") name=$folder/elf
	[ ! -e "$b/$name" ] || return 0
	find_binary "$path" "$2" "$1" && put "$name" || { lacks "$1" "$why" && return; }
	binary=$b/$name id=$have granted=/nowhere
	if look "$path" && proved "$path"; then granted=${path%/*}; fi
	if fetch_elf "$path.dwp" ''; then put "$name.dwp"; fi
	put_parts "$binary" "$path" "$id" "$folder"
	[ -z "$id" ] || put_debug "$path" "$id" "$(entry "$id")"
}

# --- what the recording needs ----------------------------------------------------------------

# perf unwinds here, where all files are; but it gives up earlier than perfkit, so that also every
# executable mapping counts of a process that has a sample, those it was forked with among them.
#	f path				what frames lie in
#	m path				what such a process had mapped
#	i build-id path, p dev inode path	what is known of a mapping
#	s pid				a process that has a sample
#	n				how many mappings were printed
"$perf" script -i "$data" --no-inline --show-mmap-events --show-task-events -F pid,tid,ip,dso \
	2>"$work/script.err" | awk '
function number(path) { if (!(path in of)) { of[path] = ++n; name[n] = path } return of[path] }
{ sub(/^[ \t]+/, "") }
/^-?[0-9]+\/-?[0-9]+ +PERF_RECORD_MMAP2? / {
	nmaps++
	split($3, at, "/")
	if (!match($0, /\]: [r-][w-]x[ps] |\]: x /)) next
	path = substr($0, RSTART + RLENGTH)
	head = substr($0, 1, RSTART - 1)
	sub(/.* @ [0-9a-fx]+ /, "", head)
	split(head, word, " ")
	if (head ~ /^<[0-9a-f]+>$/) print "i", substr(head, 2, length(head) - 2), path
	else if (head ~ /^[0-9a-f]+:[0-9a-f]+ [0-9]+ [0-9]+$/) print "p", word[1], word[2], path
	if (at[1] > 0) maps[at[1]] = maps[at[1]] " " number(path)
	next
}
/^0\/0 +PERF_RECORD_FORK\(/ { next } # perf tells of a process that ran before, with its mappings
/^-?[0-9]+\/-?[0-9]+ +PERF_RECORD_FORK\(/ {
	sub(/.*PERF_RECORD_FORK\(/, "")
	split($0, at, /[:()]+/)
	if (at[1] != at[3]) maps[at[1]] = maps[at[1]] maps[at[3]]
	next
}
/^-?[0-9]+\/-?[0-9]+ +PERF_RECORD_/ { next }
/^[0-9]+\/[0-9]+( |$)/ { split($1, at, "/"); sampled[at[1]] = 1 }
match($0, /[0-9a-f]+ \(.*\)$/) {
	path = substr($0, RSTART, RLENGTH - 1)
	sub(/^[0-9a-f]+ \(/, "", path)
	if (!(path in framed)) { framed[path] = 1; print "f", path }
}
END {
	for (pid in sampled) {
		print "s", pid
		k = split(maps[pid], at, " ")
		for (j = 1; j <= k; j++) used[at[j]] = 1
	}
	for (j in used) print "m", name[j]
	print "n", nmaps + 0
}' >"$work/seen"
of_kind() { sed -n "s/^$1 //p" "$work/seen"; }
[ -n "$(of_kind f | sed -n 1p)" ] || lacks "$data" "perf script shows no frames: $(sed -n 1p "$work/script.err")"
of_kind p | sort -u >"$work/proofs"
{
	"$perf" buildid-list -i "$data" 2>/dev/null
	of_kind i
} | sort -u >"$work/ids"
of_kind i >>"$work/proofs" # the kernel read it in the very file
{ of_kind f; of_kind m; } | sort -u >"$work/wanted"
# A newline in a path would let a process write a proof of its own: then none counts.
forged=
told=$("$perf" report -i "$data" --stats 2>/dev/null |
	awk '$1 ~ /^MMAP2?$/ && $2 == "events:" { n += $3 } END { print n + 0 }')
[ "$told" = "$(of_kind n)" ] || forged=1

# --- code made at run time -------------------------------------------------------------------

# Only lines of a perf map, whatever else is in the file: START SIZE NAME, in hex.
map_lines='^ *\(0[xX]\)\{0,1\}[0-9a-fA-F][0-9a-fA-F]* \(0[xX]\)\{0,1\}[0-9a-fA-F][0-9a-fA-F]* .'
is_map()
{
	sed -n "/$map_lines/p" "$work/new" >"$work/raw" && [ -s "$work/raw" ] || { why='no perf map' && return 1; }
	mv "$work/raw" "$work/new"
}
# As perf and perfkit do: not one that another user than the process's made.
fetch_map()  # pid: of this machine
{
	look "/proc/$1" && owner=$uid || owner=
	look "/tmp/perf-$1.map" || { why='not found' && return 1; }
	[ -z "$owner" ] || [ "$uid" = "$owner" ] || [ "$uid" = 0 ] ||
		{ why="made by user $uid, the process is of user $owner" && return 1; }
	granted=/tmp
	fetch "/tmp/perf-$1.map" && is_map
}
# In a container the process has another number, and a /tmp of its own; links in it would lead to
# files of this machine. Each step is checked after it was taken.
fetch_container_map()  # pid
{
	root=/proc/$1/root
	[ -d "$root/" ] && [ ! "$root/" -ef / ] && look "/proc/$1" || return 1
	inner=$(sed -n 's/^NSpid:.*[[:space:]]//p' "/proc/$1/status" 2>/dev/null)
	case $inner in '' | *[!0-9]*) return 1 ;; esac
	who=$uid
	if [ "$me" = 0 ] && [ "$uid" = 0 ]; then who=$nobody; fi
	(
		cd -P "$root/" && cd -P ./tmp && [ .. -ef "$root/" ] || exit 1
		if [ "$me" = 0 ]; then as_user "$who" '' "perf-$inner.map"; else as_caller '' "perf-$inner.map"; fi
	) >"$work/raw" 2>/dev/null && take_raw && is_map
}
put_map()  # path, in which the pid is
{
	pid=${1#/tmp/perf-} pid=${pid%.map}
	case $pid in '' | *[!0-9]*) return ;; esac
	fetch_map "$pid" && put "symfs$1" && return
	reason=$why
	fetch_container_map "$pid" && put "symfs$1" || lacks "$1" "$reason"
}
put_jitdump()  # path
{
	granted=/nowhere claimed=none
	fetch "$1" && { is_jitdump "$work/new" || { why='no jitdump' && false; }; } && put "symfs$1" || lacks "$1" "$why"
}

# --- all of it -------------------------------------------------------------------------------

while IFS= read -r mapped; do
	case $mapped in
	*/../* | */./*) ;;
	/tmp/perf-*.map) put_map "$mapped" ;;
	*/jit-*.dump) put_jitdump "$mapped" ;;
	/*.ko | /*.ko.xz | /*.ko.zst | /*.ko.gz) ;; # named from kallsyms
	/dev/shm/*) put_binary "$mapped" "$(ids_of "$mapped" | sed -n 1p)" ;;
	//* | /dev/* | /proc/* | /sys/* | /memfd:* | /anon_hugepage* | /SYSV* | '/[aio]'* | /i915* | '/drm mm object'*) ;;
	/*)
		ids_of "$mapped" >"$work/its"
		[ -s "$work/its" ] || put_binary "$mapped" ''
		while read -r id; do put_binary "$mapped" "$id"; done <"$work/its"
		;;
	esac
done <"$work/wanted"

# The vdso has no file. Most perfs keep a copy by build-id; this shell has the one of this boot.
fetch_own_vdso()  # build-id
{
	range=$(sed -n 's/^\([0-9a-f]*\)-\([0-9a-f]*\) .*\[vdso\]$/\1 \2/p' "/proc/$$/maps" 2>/dev/null)
	[ -n "$range" ] || return 1
	from=$((0x${range% *} / 4096)) to=$((0x${range#* } / 4096))
	dd if="/proc/$$/mem" of="$work/new" bs=4096 skip="$from" count=$((to - from)) 2>/dev/null &&
		[ "$(build_id "$work/new")" = "$1" ]
}
for vdso in '[vdso]' '[vdso32]'; do
	for id in $(ids_of "$vdso"); do
		if fetch_cached "$id" vdso || fetch_own_vdso "$id"; then put "$(entry "$id")/vdso"; fi
	done
done

# Kernel symbols: those of the running kernel if it is the recorded one, else perf's copy.
put_kallsyms()  # file bundle-name
{
	cp "$1" "$work/new" && put "$2" || lacks '[kernel.kallsyms]' "$1 cannot be copied"
}
kernel=$(ids_of '[kernel.kallsyms]' | sed -n 1p)
running=$("$perf" buildid-list -k 2>/dev/null | sed -n '1s/^\([0-9a-f]*\)$/\1/p')
kept=$cache/.build-id/$(place_of "$kernel")/kallsyms
granted=$(cd -P "${kept%/*}/" 2>/dev/null && pwd -P)
if [ -n "$kernel" ] && [ -n "$granted" ] && fetch "$granted/kallsyms"; then
	put "$(entry "$kernel")/kallsyms"
elif ! grep -q '^0*[1-9a-f][0-9a-f]* ' /proc/kallsyms 2>/dev/null; then
	lacks '[kernel.kallsyms]' 'addresses hidden: run this as root'
elif [ -n "$kernel" ] && [ "$kernel" = "$running" ]; then
	put_kallsyms /proc/kallsyms "$(entry "$kernel")/kallsyms"
elif [ -z "$kernel" ]; then
	release=$("$perf" script -i "$data" --header-only 2>/dev/null |
		sed -n 's/^# os release : //p')
	if [ "$release" = "$(uname -r)" ]; then
		put_kallsyms /proc/kallsyms symfs/proc/kallsyms
	else
		lacks '[kernel.kallsyms]' "recorded under ${release:-another kernel}"
	fi
else
	lacks '[kernel.kallsyms]' "recorded under another kernel (build-id $kernel)"
fi

cp -R "$data" "$b/perf.data" || die "cannot copy $data"

# Descriptors: what `perfkit record` wrote beside it, else from before, and as they are now, of those
# processes that began before the recording ended.
size=$(wc -c <"$b/perf.data" 2>/dev/null | tr -d ' ')
late=$(stat -c %Y "$data" 2>/dev/null) && late=$(($(date +%s) - late)) || late=
ticks=$(getconf CLK_TCK 2>/dev/null) || ticks=100
began_before()
{
	while read -r pid; do
		sed 's/.*)//' "/proc/$pid/stat" 2>/dev/null | awk -v pid="$pid" -v ticks="$ticks" -v late="$late" '
		FNR == NR { up = $1; next }
		up - $20 / ticks > late { print pid }' /proc/uptime -
	done
}
if [ -f "$data.context" ] && [ "$(sed -n '2s/^of //p' "$data.context" 2>/dev/null)" = "$size" ]; then
	cp "$data.context" "$b/perf.data.context"
elif [ -f "$b/perf.data" ] && [ -n "$late" ]; then
	{
		printf 'perfkit-context 1\nof %s\n' "$size"
		cat "$data.context-before" 2>/dev/null
		printf 'snapshot\nlate %s\n' "$late"
		of_kind s | began_before | snapshot "$work/processes"
	} >"$b/perf.data.context"
fi
context=
[ ! -f "$b/perf.data.context" ] || context=perf.data.context
if [ -f "$b/perf.data" ] && [ -f "$data.gaps" ]; then
	cp "$data.gaps" "$b/perf.data.gaps"
	context="$context perf.data.gaps"
fi
(
	cd "$b" || exit 1
	printf '%s\n' 'perfkit-bundle 1' 'made-by pack.sh' "host $(clean "$(uname -n)")"
	find perf.data $context debug symfs -type f | sort | while IFS= read -r f; do
		printf 'file %s - %s\n' "$(wc -c <"$f" | tr -d ' ')" "$(clean "$f")"
	done
	[ ! -f "$work/missing" ] || cat "$work/missing"
) >"$work/MANIFEST"
mv "$work/MANIFEST" "$b/MANIFEST"
made=$(mktemp "$out.XXXXXX") || die "cannot write $out"
{ cd "$b" && tar -cf - MANIFEST perf.data $context debug symfs || : >"$work/torn"; } | $zip >"$made" ||
	die "cannot write $out"
[ ! -e "$work/torn" ] || die "cannot write $out"
mv "$made" "$out" || die "cannot write $out"
made=
printf '%s: %s bytes, %s missing\n' "$(clean "$out")" "$(wc -c <"$out" | tr -d ' ')" "$missing" >&2
