#!/bin/sh
# Faults of the world around: a full disk, a disk that does not read, a file that shrinks, signals,
# closed pipes, two at once. Each ends in the right exit status and one line that says what
# happened, leaves no half file and no file of its own behind, and never a crash.
set -u
bad=0
wrong()
{
	echo "$*"
	bad=1
}
waits=$SRC/testdata/waits/perf.data demo=$SRC/testdata/demo
here=$PWD
# Run as $1 status is wanted, quietly; err holds stderr.
status()  # wanted status, command...
{
	want=$1
	shift
	"$@" >out 2>"$here/err" </dev/null
	rc=$?
	[ $rc = "$want" ] || wrong "exit $rc, not $want: $* $(head -c 300 "$here/err")"
	grep -q 'Sanitizer\|Assert\|terminated\|core dumped' "$here/err" && wrong "$*: $(cat "$here/err")"
}
one_line()
{
	[ "$(grep -vc ' left out [0-9,]* samples of other events ' "$here/err")" = 1 ] && grep -q "$1" "$here/err" ||
		wrong "not one line that says '$1': $(cat "$here/err")"
}
empty_but()  # folder, what it may hold
{
	left=$(ls -A "$1" | grep -vxF "$2")
	[ -z "$left" ] || wrong "left behind: $left"
}
writers='collapse -q -o
svg -q -o
svg -q --offcpu -o
timeline -q -o
tail -q --top 3 --svg
tail -q --top 3 --flame
pack -q --no-local -o
import -q -o'

# --- full disks: standard output, and a small file system ----------------------------------
for verb in collapse 'svg --wall' report tail 'tail --json' 'tail --csv' timeline doctor \
	'doctor --json' 'help' 'help collapse' --version 'help --man svg'; do
	case $verb in help* | --version | pack*) file= ;; *) file=$waits ;; esac
	"$PERFKIT" $verb $file >/dev/full 2>err </dev/null
	rc=$?
	[ $rc = 1 ] || wrong "$verb >/dev/full: exit $rc, not 1"
	grep -q 'cannot write' err || wrong "$verb >/dev/full: $(cat err)"
done
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=16k perfkit-test small 2>/dev/null; then
	trap 'umount "$here/small" 2>/dev/null' EXIT
	# The disk holds an old file, and no room for a new one.
	echo old >small/target
	dd if=/dev/zero of=small/filler bs=1k count=64 2>/dev/null
	echo "$writers" | while read -r words; do
		bad=0
		rm -f small/target
		case $words in import*) ;; *) echo old >small/target ;; esac
		"$PERFKIT" $words small/target "$waits" >out 2>err </dev/null
		rc=$?
		[ $rc = 1 ] || wrong "$words on a full disk: exit $rc, not 1"
		grep -q 'small/target: cannot write\|No space' err || wrong "$words on a full disk: $(cat err)"
		[ "$words" = 'import -q -o' ] || [ "$(cat small/target)" = old ] || wrong "$words: the old file is gone"
		left=$(ls -A small | grep -vx 'target\|filler')
		[ -z "$left" ] || wrong "$words on a full disk leaves $left"
		[ $bad = 0 ] || echo failed >failed
	done
	[ -f failed ] && bad=1
	umount small && mount -t tmpfs -o size=64k perfkit-test small || exit 1
	"$PERFKIT" pack -q --symfs "$demo/symfs" "$demo/perf.data" -o demo.tar.zst
	status 1 "$PERFKIT" unpack -C small/un demo.tar.zst
	"$PERFKIT" collapse small/un >/dev/null 2>&1 && wrong "a folder half unpacked is read"
	rm -rf small/un
	status 1 env TMPDIR="$here/small" "$PERFKIT" collapse demo.tar.zst
	empty_but small none
	umount small
else
	echo "no small disk: mount needs root"
fi

# --- a folder that may not be written ---------------------------------------------------------
mkdir closed
if chmod 555 closed && ! touch closed/x 2>/dev/null; then
	reading=yes
elif mount -t tmpfs -o ro perfkit-test closed 2>/dev/null; then
	reading=yes
	trap 'umount "$here/small" 2>/dev/null; umount "$here/closed"' EXIT
else
	rm -f closed/x
	reading=no
fi
if [ $reading = yes ]; then
	echo "$writers" | while read -r words; do
		bad=0
		status 1 "$PERFKIT" $words closed/target "$waits"
		one_line 'closed/target.*'
		[ $bad = 0 ] || echo failed >failed
	done
	[ -f failed ] && bad=1
fi

# --- a disk that does not read, a file that shrinks -------------------------------------------
case $(nm -D "$PERFKIT" | grep -c "__[a-z]*san_init") in
0) shim=yes ;;
*) shim=no ;;
esac
if [ $shim = yes ] && ${CC:-cc} -shared -fPIC -D_GNU_SOURCE -o faults.so "$SRC/tests/tools/faults.c" -ldl 2>cc.err; then
	cp "$waits" victim.data
	"$PERFKIT" import -q victim.data -o victim.db
	for verb in collapse 'collapse --offcpu' svg report tail doctor 'pack -o p.tar.zst' 'import -o i.db'; do
		status 1 env LD_PRELOAD="$here/faults.so" FAULT=read FAULT_FILE=victim.data "$PERFKIT" $verb -q victim.data
		one_line 'victim.data.*Input/output error'
	done
	for verb in 'collapse --offcpu' tail report; do
		status 1 env LD_PRELOAD="$here/faults.so" FAULT=read FAULT_FILE=victim.db "$PERFKIT" $verb -q victim.db
		one_line 'victim.db'
	done
	for verb in collapse 'collapse --offcpu' svg report tail doctor 'timeline -o t.svg' 'pack -o p.tar.zst' 'import -o i.db'; do
		cp "$waits" victim.data
		status 1 env LD_PRELOAD="$here/faults.so" FAULT=shrink FAULT_FILE=victim.data "$PERFKIT" $verb -q --no-local victim.data
		one_line 'became shorter'
	done
	for verb in collapse svg report; do # stack dumps are read apart from the mapping
		cp "$SRC/testdata/dwarf/perf.data" victim.data
		status 1 env LD_PRELOAD="$here/faults.so" FAULT=shrink FAULT_FILE=victim.data "$PERFKIT" $verb -q --no-local victim.data
		one_line 'became shorter'
	done
	for f in p.tar.zst i.db t.svg; do [ -e $f ] && wrong "$f was made of a broken read"; done
	# where no thread can be had, and reads are short and interrupted, the answers are the same
	answers()  # folder
	{
		mkdir -p "$1"
		for data in waits dwarf; do
			cp "$SRC/testdata/$data/perf.data" victim.data
			for verb in collapse 'collapse --all' 'collapse --offcpu'; do
				"$PERFKIT" $verb -q --no-local victim.data >>"$1/folded" 2>>"$1/said"
				echo "$verb of $data: exit $?" >>"$1/said"
			done
			"$PERFKIT" import -q --no-local victim.data -o "$1/$data.db" 2>>"$1/said"
			(cd "$1" && "$PERFKIT" report -q $data.db) >>"$1/report" 2>>"$1/said"
		done
	}
	answers plain
	for fault in threads short; do
		(
			LD_PRELOAD=$here/faults.so FAULT=$fault FAULT_FILE=victim.data
			export LD_PRELOAD FAULT FAULT_FILE
			answers $fault
		)
		diff -r plain $fault >err || wrong "$fault: other answers: $(head -c 300 err)"
	done
	[ -s plain/folded ] && [ -s plain/dwarf.db ] || wrong "no answers to compare: $(cat plain/said)"
else
	echo "no faults preloaded: $(cat cc.err 2>/dev/null)"
fi

# --- killed, at many moments --------------------------------------------------------------------
mkdir k
cat >big.sh <<'E2'
cd k && exec "$@"
E2
killed_late=0
for words in 'svg --wall -o' 'import -o' 'pack --no-local -o'; do
	echo "$words" | grep -q import && old=$here/victim.db || old=$SRC/LICENSE
	[ -f "$old" ] || "$PERFKIT" import -q "$waits" -o "$old"
	for sig in KILL TERM INT; do
		for delay in 0.002 0.01 0.03 0.06; do
			cp "$old" k/target
			timeout -s $sig $delay "$PERFKIT" $words k/target "$waits" "$waits" >/dev/null 2>&1
			timeout -s $sig $delay "$PERFKIT" $words k/target "$waits" >/dev/null 2>err
			grep -q 'Sanitizer' err && wrong "$words, SIG$sig: $(cat err)"
			[ -s k/target ] || wrong "$words, SIG$sig: the old file is gone"
			case $words in
			import*) [ $sig != KILL ] || rm -f k/target.tmp.* ;; # SQLite's file has a name
			*) # a file without a name gets one, whole, just before it replaces the old one
				if [ $sig = KILL ] && ls k/target.tmp.* >/dev/null 2>&1; then
					killed_late=$((killed_late + 1))
					rm -f k/target.tmp.*
				fi
				;;
			esac
			empty_but k target
			rm -f k/*
		done
	done
done
[ $killed_late -le 1 ] || wrong "$killed_late files left by SIGKILL: they have names too early"

# --- links, which stay, and what cannot be made again -----------------------------------------
mkdir l
echo "$writers" | while read -r words; do
	bad=0
	rm -rf l/*
	: >l/named
	ln -s named l/target
	ln -s /proc/self/fd/1 l/stdout
	status 0 "$PERFKIT" $words l/target "$waits"
	[ -L l/target ] && [ -s l/named ] || wrong "$words: a link is not followed"
	[ "$words" = 'pack -q --no-local -o' ] || rm -f l/named
	case $words in
	tail*) ;; # which prints besides
	*)
		status 0 "$PERFKIT" $words l/stdout "$waits"
		[ -L l/stdout ] && [ -s out ] || wrong "$words: nothing came to the stdout of a link"
		;;
	esac
	[ "$(ls -A l | grep -vx 'target\|named\|stdout')" = '' ] || wrong "$words leaves $(ls l)"
	[ $bad = 0 ] || echo failed >failed
done
[ -f failed ] && bad=1
"$PERFKIT" import -q "$waits" -o mine.db
for mine in mine.data mine.db; do
	[ $mine = mine.db ] || cp "$waits" mine.data
	cp $mine kept
	echo "$writers" | grep -v 'import\|pack' | while read -r words; do
		bad=0
		case "$words $mine" in 'svg -q -o mine.db' | 'collapse -q -o mine.db')
			words="${words%-o}--offcpu -o" ;; # there are no samples in it
		esac
		status 3 "$PERFKIT" $words $mine $mine
		one_line "$mine: .*\(is the input\|a recording or a store\|what is drawn\); not replaced"
		cmp -s $mine kept || { wrong "$words: $mine is lost"; cp kept $mine; }
		[ $bad = 0 ] || echo failed >failed
	done
done
[ -f failed ] && bad=1

# --- two into one store, a closed pipe, Ctrl-C with a progress line --------------------------
"$PERFKIT" import -q "$waits" -o both.db &
"$PERFKIT" import -q "$waits" -o both.db || wrong "the second import failed"
wait $! || wrong "the first import failed"
"$PERFKIT" collapse --offcpu "$waits" >want 2>/dev/null
"$PERFKIT" collapse --offcpu both.db 2>/dev/null | cmp - want || wrong "two imports made another store"
[ -z "$(ls both.db.* 2>/dev/null)" ] || wrong "two imports leave $(ls both.db.*)"

for verb in collapse 'collapse --offcpu' 'svg -o -' report tail 'tail --json' doctor; do
	"$PERFKIT" $verb "$waits" 2>err </dev/null | head -c 1 >/dev/null
	grep -q 'Sanitizer\|Broken' err && wrong "$verb | head: $(cat err)"
done

if command -v python3 >/dev/null; then
	python3 "$SRC/tests/tools/ctrl_c.py" "$PERFKIT" "$waits" || wrong "Ctrl-C with a progress line"
fi
exit $bad
