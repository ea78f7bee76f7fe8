#!/bin/sh
# What runs short, or is killed, leaves nothing behind: with few descriptors, at a signal, on a small
# stack an unpacked bundle is removed, and what a killed run left the next one removes, and only that.
set -u
bundle=$SRC/testdata/orders/orders.tar.zst
export HOME=$PWD TMPDIR=$PWD/t
mkdir t
bad=0
wrong() { echo "$*"; bad=1; }
nothing_left()
{
	left=$(find t -mindepth 1 | head -3)
	[ -z "$left" ] || wrong "$* leaves $left"
	rm -rf t/*
}

# --- descriptors, stack -------------------------------------------------------------------------
sanitized=
nm -D "$PERFKIT" | grep -q '__[a-z]*san_' && sanitized=1
for n in 4 5 6 7 8 9 10 12; do
	[ -z "$sanitized" ] || break # its library takes some for itself
	for verb in collapse 'tail -f' html; do
		(ulimit -n $n; exec "$PERFKIT" $verb -q --no-cache "$bundle") >out 2>err </dev/null
		rc=$?
		case $rc in
		0 | 127) ;;
		1) grep -q 'Too many open files' err || wrong "$verb with $n descriptors: $(head -2 err)" ;;
		*) wrong "$verb with $n descriptors: status $rc: $(head -2 err)" ;;
		esac
		nothing_left "$verb with $n descriptors"
	done
done
"$PERFKIT" tail -q -f --p50 --no-cache "$bundle" >want 2>/dev/null
for kb in 64 128 512; do
	[ -z "$sanitized" ] || break
	(ulimit -s $kb; exec "$PERFKIT" tail -q -f --p50 --no-cache "$bundle") >out 2>err </dev/null
	[ $? = 1 ] && grep -q "the stack may have $kb KB" err && [ ! -s out ] || wrong "a stack of $kb KB: $(cat err)"
	(ulimit -S -s $kb; exec "$PERFKIT" tail -q -f --p50 --no-cache "$bundle") >out 2>err </dev/null
	[ $? = 0 ] && cmp -s out want || wrong "a stack of $kb KB that may grow: $(cat err)"
	nothing_left "a stack of $kb KB"
done

# --- signals ------------------------------------------------------------------------------------
# started - a run whose output nobody reads, so that it waits; sets pid and run, its folder
mkfifo pipe
started()
{
	exec 9<>pipe
	"$PERFKIT" svg -q --no-cache "$bundle" >pipe 2>err 9>&- &
	pid=$!
	run= tries=0
	while [ -z "$run" ] && [ $tries -lt 100 ]; do
		sleep 0.05
		tries=$((tries + 1))
		run=$(find t -mindepth 1 -maxdepth 1 -name 'perfkit.run-*' ! -name "${killed:-none}" | head -1)
	done
	[ -n "$run" ] || { wrong "no folder for a bundle: $(cat err)"; kill -KILL $pid; exit 1; }
	sleep 0.2
}
for sig in TERM HUP PIPE XCPU ALRM VTALRM PROF USR1 USR2; do
	started
	kill -$sig $pid
	wait $pid 2>/dev/null
	rc=$?
	exec 9>&-
	[ $rc -gt 128 ] || wrong "SIG$sig: status $rc"
	nothing_left "SIG$sig"
done

# --- what a killed run left ---------------------------------------------------------------------
started
kill -KILL $pid
wait $pid 2>/dev/null
exec 9>&-
[ -d "$run" ] || wrong "SIGKILL left nothing"
killed=$(basename "$run")
started # another one runs meanwhile
for name in perfkit.run-link perfkit.run-file perfkit.run-mode perfkit.run-other other.run-XXXXXX perfkit.run-old; do
	mkdir -m 700 t/$name && mkdir -p t/$name/a/b/c && touch t/$name/a/b/x
done
chmod 755 t/perfkit.run-mode
rm -rf t/perfkit.run-link t/perfkit.run-file
mkdir -m 700 kept && touch kept/x t/perfkit.run-file
ln -s ../kept t/perfkit.run-link
ln -s /nowhere t/perfkit.run-old/dangling
ln -s ../../kept t/perfkit.run-old/a/kept
owner=
[ "$(id -u)" = 0 ] && chown 65534 t/perfkit.run-other && owner=perfkit.run-other
[ -n "$owner" ] || rm -rf t/perfkit.run-other
"$PERFKIT" collapse -q --no-cache "$bundle" >/dev/null 2>err || wrong "$(cat err)"
[ -d t/perfkit.run-old ] || wrong "a folder of a second ago is removed"
touch -h -d '2 hours ago' t/*
"$PERFKIT" collapse -q --no-cache "$bundle" >/dev/null 2>err || wrong "$(cat err)"
ls t >left
printf '%s\n' "$(basename "$run")" other.run-XXXXXX perfkit.run-file perfkit.run-link perfkit.run-mode $owner | sort >wanted
sort left | cmp -s - wanted || wrong "after a killed run: $(sort left | diff - wanted)"
[ -f kept/x ] || wrong "a link was followed"
timeout 20 cat <&9 >got &
cat=$!
wait $pid || wrong "a run was disturbed: $(cat err)"
sleep 0.2
kill $cat 2>/dev/null
exec 9>&-
"$PERFKIT" svg -q "$bundle" 2>/dev/null | cmp -s - got || wrong "a run was disturbed"
exit $bad
