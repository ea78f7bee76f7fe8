#!/bin/sh
# Paths come with a recording, from a stranger: what is no regular file is never opened, and with
# --no-local nothing is but what the command line names. strace tells what was.
command -v strace >/dev/null 2>&1 || { echo "no strace here"; exit 77; }
strace -o none true 2>/dev/null || { echo "strace may not trace here"; exit 77; }
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # impossible under strace
failed=0
bad()
{
	echo "$*"
	failed=1
}
mkfifo fifo
ln -s fifo link
ln -s /dev/zero zero
mkdir dir
cp "$PERFKIT" real # a file that may be opened where paths are trusted, and names nothing
here=$PWD
"$O/tests/prog/hostile" "$here/fifo" "$here/link" "$here/zero" "$here/dir" "$here/real" \
	/dev/zero /dev/tty /dev/mem /proc/self/environ /proc/kcore /proc/self/fd/0 \
	/sys/kernel/notes /etc/shadow ../../../../etc/passwd /../../etc/passwd \
	/tmp/perf-7.map /tmp/jit-7.dump "$here/jit-8.dump" "//anon" "[heap]" \
	"/memfd:x (deleted)" "$here/fifo (deleted)" "" >perf.data || exit 1
mkfifo jit-8.dump

# what was opened: paths (by the handle that shows what they are), those of the program's own libraries and locale apart, and of the folders that
# the sandbox names (O_PATH opens nothing)
opened()
{
	grep -v 'O_PATH' trace | sed -n \
		-e 's/^[0-9]* *open\(at\)\?(.*"\/proc\/self\/fd\/[0-9]*".*= [0-9]*<\(.*\)>$/\2/p;t' \
		-e 's/^[0-9]* *open\(at2\?\)\?(\(AT_FDCWD<[^>]*>, \)\?"\([^"]*\)".*= [0-9].*/\3/p' \
		-e 's/^[0-9]* *openat2\?([0-9]*<.*= [0-9]*<\(.*\)>$/\1/p' |
		grep -vE '^/(etc/ld\.so|lib|usr/lib|usr/share/locale|proc/self/maps|sys/devices/system/cpu)' |
		grep -vxFf own | sort -u
}
# a sanitizer's runtime looks at /proc/self/environ by itself
: >own
strace -f -qq -y -e trace=open,openat,openat2 -o trace "$PERFKIT" --version >out 2>err
opened | grep '^/proc/self/' >own.new
mv own.new own
run() # words...
{
	timeout 60 strace -f -qq -y -e trace=open,openat,openat2,execve -o trace "$PERFKIT" "$@" \
		>out 2>err </dev/null
	rc=$?
	case $rc in
	0 | 1 | 3) ;;
	*) bad "$*: exit $rc"; cat err ;;
	esac
	[ "$(grep -c execve trace)" = 1 ] || bad "$*: it ran another program"
}

for verb in "collapse --srcline" "svg -o pic.svg" doctor report "pack -o b.tar.zst" "tail --force" \
	"timeline --force -o pic.svg" "export --to pprof -o pic.svg"; do
	# shellcheck disable=SC2086
	run $verb --trust-paths perf.data
	opened | grep -qx "$here/real" || bad "$verb: did not look into the one file it may"
	for p in fifo link zero dir jit-8.dump /dev/zero /dev/tty /dev/mem /proc/self/environ \
		/proc/kcore /proc/self/fd/0 /sys/kernel/notes; do
		case $p in
		/*) ;;
		*) p=$here/$p ;;
		esac
		# the kernel's own build-id is asked for by name, not by the recording's word
		[ $p = /sys/kernel/notes ] && continue
		grep -qxF "$p" own && continue
		opened | grep -qxF "$p" && bad "$verb: opened $p"
	done
done

# Nothing is a recording's word for a device: not by an inode without a build-id, not by "..", nor
# the files beside it or in its folder.
device() # what words...
{
	what=$1
	shift
	run "$@"
	grep -v O_PATH trace | grep -E 'open.*(<(/dev/ptmx|/dev/zero|char)[^"]*>+$|"[^"]*ptmx)' >more
	[ -s more ] && bad "$*: $what opened: $(cat more)"
}
ln -s /dev/ptmx ptmx
HOSTILE_INODE=7 "$O/tests/prog/hostile" "$here/ptmx" "$here/zero" "$here/fifo" /tmp/../dev/ptmx \
	/dev/shm/../ptmx /tmp/./../dev/zero >inode.data || exit 1
for verb in "collapse --srcline" report doctor "pack -o b3.tar.zst"; do
	for trust in --trust-paths ''; do
		# shellcheck disable=SC2086
		device "a mapped path" $verb $trust inode.data
	done
done
for suffix in context gaps marks counts; do
	ln -s /dev/ptmx "inode.data.$suffix"
done
for verb in report doctor "pack -o b3.tar.zst" "import -o beside.db"; do
	# shellcheck disable=SC2086
	device "a file beside the recording" $verb inode.data
done
mkdir parts && cp inode.data parts/data && ln -s /dev/ptmx parts/data.0 && ln -s /dev/ptmx parts/other
for verb in report "import -o folder.db"; do
	# shellcheck disable=SC2086
	device "a file of a folder" $verb parts
done
rm parts/data.0
for verb in report "import -o folder2.db" "pack -o b3.tar.zst"; do
	# shellcheck disable=SC2086
	device "a file of a folder" $verb parts
done

# nothing but the file: not the build-id cache, not /proc/kallsyms, not a mapped file
for verb in collapse "svg -o pic.svg" doctor report "pack -o b.tar.zst" "tail --force" \
	"timeline --force -o pic.svg" "import -o run.db"; do
	# shellcheck disable=SC2086
	run $verb --no-local perf.data
	opened | grep -vxE "($here/)?perf\.data|($here/)?(pic\.svg|b\.tar\.zst|run\.db)(\.tmp\.[0-9a-f]*)?(-journal)?|\.|/dev/urandom" >more
	[ -s more ] && bad "$verb --no-local opened: $(tr '\n' ' ' <more)"
done

# and a bundle is enough for itself: it, and its own files in the scratch folder
[ -s b.tar.zst ] || bad "no bundle was made"
mkdir scratch
for verb in collapse doctor; do
	TMPDIR=$here/scratch run $verb b.tar.zst
	opened | grep -vE "^(b\.tar\.zst|$here/scratch(/.*)?|[^/].*|/dev/urandom)$" >more
	[ -s more ] && bad "$verb of a bundle opened: $(tr '\n' ' ' <more)"
done

# a folder is named, but not what lies in it where a recording should be
mkdir threads unpacked unpacked2 unpacked2/perf.data
mkfifo threads/data threads/data.0 unpacked/perf.data unpacked2/perf.data/data
printf 'perfkit-bundle 1\n' >unpacked/MANIFEST
cp unpacked/MANIFEST unpacked2/MANIFEST
for verb in report "pack -o b2.tar.zst"; do
	for d in threads unpacked unpacked2; do
		# shellcheck disable=SC2086
		run $verb $d
		[ "$rc" = 1 ] || bad "$verb of $d: exit $rc"
		opened | grep -E "(perf\.data|data(\.0)?)$" >more
		[ -s more ] && bad "$verb $d opened: $(tr '\n' ' ' <more)"
	done
done
exit $failed
