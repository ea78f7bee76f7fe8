#!/bin/sh
# What each verb may do, whatever runs in it: tried from inside, with all of Landlock, with what older
# kernels have of it, and with none, where the filter of system calls still holds. The answers are
# the same.
set -u
nm -D "$PERFKIT" | grep -q '__[a-z]*san_init' && { echo "a sanitizer's library comes first"; exit 77; }
${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o plant.so "$SRC/tests/tools/plant.c" -ldl 2>cc.err ||
	{ echo "no preloaded library: $(head -1 cc.err)"; exit 77; }
unset DEBUGINFOD_URLS XDG_CACHE_HOME
export HOME=$PWD/home TMPDIR=$PWD/tmp
mkdir home tmp elsewhere out home/.cache && mkdir -m 700 home/.cache/perfkit
waits=$SRC/testdata/waits/perf.data
bad=0
wrong() { echo "$*"; bad=1; }

# --- a process and a server to reach --------------------------------------------------------------
sleep 600 &
PLANT_PID=$!
server=
trap 'kill $PLANT_PID $server 2>/dev/null' EXIT
export PLANT_PID
if command -v python3 >/dev/null; then
	python3 -c '
import socket, time
s = socket.create_server(("127.0.0.1", 0), backlog=1000)
print(s.getsockname()[1], flush=True)
time.sleep(600)' >port &
	server=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ ! -s port ] && sleep 0.2
	done
	export PLANT_PORT="$(cat port)"
fi

# planted COMMAND... - what a run with it could do elsewhere
planted()
{
	rm -rf elsewhere/*
	echo old >elsewhere/x.old
	LD_PRELOAD=$PWD/plant.so PLANT=${at:-$PWD/elsewhere}/x "$@" >answer 2>err </dev/null
	rc=$?
	did=$(sed -n 's/.*planted: //p' err | paste -sd' ')
}

planted env true
everything=$did
paths='made written folder renamed'
case $("$PERFKIT" --version | sed -n 's/^sandbox  *//p') in
"Landlock ABI "[1-9]*" + seccomp") none= levels='0 1 2 3 4 5 6' ;;
"seccomp, no Landlock") none=$paths levels= && echo "left out: paths (the kernel has no Landlock)" ;;
*) echo "the kernel has no seccomp"; exit 77 ;;
esac
for word in chmod fchmod times traced signalled datagram run namespace typed $paths; do
	case " $everything " in *" $word "*) ;; *) echo "left out: $word (not possible here anyway)" ;; esac
done

# --- each verb ------------------------------------------------------------------------------------
# allowed WORDS - what the last run could do is these, with `paths` and `all` as words
allowed()
{
	want=
	for word; do
		case $word in
		paths) want="$want $paths" ;;
		fork) ;;
		*) want="$want $word" ;;
		esac
	done
	[ "$did" = "${want# }" ]
}

"$PERFKIT" pack -q --no-local "$SRC/testdata/demo/perf.data" --symfs "$SRC/testdata/demo/symfs" -o demo.tar.zst || exit 1
"$PERFKIT" import -q --no-local "$waits" -o run.db || exit 1
mkdir tables kept
git=
command -v git >/dev/null && git init -q repo && git -C repo -c user.name=a -c user.email=a commit -q --allow-empty -m a &&
	git="--git repo@HEAD"
: >verbs
# what it may do (- nothing, paths, others: words of plant.c) | without Landlock | the command
while IFS='|' read -r may old words; do
	[ "$may" != - ] || may=
	[ "$old" != - ] || old=
	[ -z "$none" ] || may=$old
	set -- $words
	echo "$1" >>verbs
	rm -rf out/*
	planted "$PERFKIT" "$@"
	mv answer inside
	ls out >made
	status=$rc
	allowed $may || wrong "$words: could: $did"
	rm -rf out/*
	planted "$PERFKIT" "$@" --no-sandbox
	[ "$did" = "$everything" ] || wrong "$words --no-sandbox could: $did, not $everything"
	cmp -s inside answer && [ $rc = $status ] || wrong "$words: another answer in the sandbox: $status, $rc"
	ls out | cmp -s - made || wrong "$words made $(cat made), outside $(ls out)"
	case $1:$rc in *:0 | watch:3 | fleet:1) ;; *) wrong "$words: status $rc, $(head -3 err)" ;; esac
	rm -rf out/*
	export PLANT_ABI=0
	planted "$PERFKIT" "$@"
	unset PLANT_ABI
	allowed $old || wrong "$words without Landlock could: $did"
done <<E2
-|paths|report -q --no-local $waits
-|paths|collapse -q demo.tar.zst
-|paths|collapse -q --no-local $waits -o out/x
-|paths|compare -q --no-local $waits -- $SRC/testdata/sched/perf.data
-|paths|svg -q --no-local --wall $waits -o out/x.svg
-|paths|svg -q --no-local --wall $waits
-|paths|timeline -q --no-local $waits -o out/x.svg
-|paths|html -q --no-local $waits -o out/x.html
-|paths|export -q --no-local --to pprof $waits -o out/x.pb.gz
-|paths|export -q --no-local --to parquet $waits -o out/tables
-|paths|tail -q --no-local --p90 --svg out/x.svg --flame out/y.svg $waits
-|paths|tail -q --no-local --p90 run.db
-|paths|doctor --no-local $waits
-|paths|report -q run.db
-|paths|source -q --no-local $SRC/testdata/inlined/perf.data
-|paths|source -q --no-local $git $SRC/testdata/inlined/perf.data
-|paths|html -q --no-local $git $SRC/testdata/inlined/perf.data -o out/x.html
-|paths|compare -q --no-local --html out/x.html $waits -- $SRC/testdata/sched/perf.data
-|paths|import -q --no-local $waits -o out/x.db
-|paths|symbols -q --no-local --to parquet -o out/tables $SRC/testdata/demo/symfs/srv/perfkit/shop
-|paths|record --like $waits
unreadable|paths|unpack -q demo.tar.zst -C out/demo
unreadable|paths|mcp tables
-|paths|watch --over 1ms --save kept --prom out/x.prom $SRC/testdata/pipe/perf.data
paths|paths|pack -q --no-local $SRC/testdata/demo/perf.data -o out/x.tar.zst
run run-descriptor|run run-descriptor paths|fleet hosts tables
E2
"$PERFKIT" help --verbs | while read -r verb; do
	grep -qx "$verb" verbs || echo "$verb"
done >untried
[ ! -s untried ] || wrong "not tried: $(cat untried)"

# What is started before: git, and whatever the config of a repository makes it run, only reads.
if [ -n "$git" ]; then
	mkdir bin && cat >bin/git <<-E2
		#!/bin/sh
		LD_PRELOAD=$PWD/plant.so PLANT=$PWD/elsewhere/x PLANT_PID=$PLANT_PID PLANT_PORT=${PLANT_PORT:-} env true
	E2
	chmod 755 bin/git
	echo old >elsewhere/x.old
	PATH=$PWD/bin:$PATH "$PERFKIT" source -q --no-local --git repo@HEAD "$SRC/testdata/inlined/perf.data" >answer 2>err
	did=$(sed -n 's/.*planted: //p' err | paste -sd' ')
	[ "$did" = "run run-descriptor${none:+ $none}" ] || wrong "git could: $did; $(head -3 err)"
fi

# --- older kernels --------------------------------------------------------------------------------
for abi in $levels; do
	export PLANT_ABI=$abi
	planted "$PERFKIT" report -q --no-local "$waits"
	[ $abi != 0 ] || none=$paths
	[ "$did" = "$none" ] || wrong "Landlock's ABI $abi: could $did"
	said=$(LD_PRELOAD=$PWD/plant.so "$PERFKIT" --version | sed -n 's/^sandbox  *//p')
	case $abi:$said in
	"0:seccomp, no Landlock" | "$abi:Landlock ABI $abi + seccomp") ;;
	*) wrong "--version of ABI $abi: $said" ;;
	esac
	none=
done
unset PLANT_ABI

# --- places ---------------------------------------------------------------------------------------
# A link is followed to where it leads; a device is written itself; folders are made.
ln -s out/target link.svg
for there in no yes; do
	planted "$PERFKIT" svg -q --no-local --wall "$waits" -o link.svg
	[ $rc = 0 ] && [ -s out/target ] && [ "$did" = "$none" ] ||
		wrong "through a link (target there: $there): status $rc, could: $did; $(cat err)"
done
planted "$PERFKIT" svg -q --no-local --wall "$waits" -o /dev/null
[ $rc = 0 ] && [ "$did" = "$none" ] || wrong "to /dev/null: status $rc, could: $did; $(cat err)"
# Scratch and cache stay open.
at=$PWD/tmp && echo old >tmp/x.old && planted "$PERFKIT" report -q --no-local "$waits"
[ "$did" = "$paths" ] || wrong "scratch: could $did"
# For mcp only a folder of its own is, which it removes.
planted "$PERFKIT" mcp tables
[ "$did" = "${none:-unreadable}" ] && ! ls tmp | grep perfkit || wrong "mcp in \$TMPDIR: could $did"
at=$PWD/home/.cache/perfkit && echo old >"$at/x.old" && planted "$PERFKIT" report -q --no-local "$waits"
[ "$did" = "$paths" ] || wrong "cache: could $did"
at=
# Where servers are asked, they and what they send: no more.
remote=$(echo " $everything " | grep -o ' connected ' | tr -d ' ')
remote="${remote:+$remote }datagram"
DEBUGINFOD_URLS=file:///nonexistent planted "$PERFKIT" report -q "$waits"
[ "$did" = "$remote${none:+ $none}" ] || wrong "with debuginfod: could $did"
at=$HOME/.cache/debuginfod_client && echo old >"$at/x.old" &&
	DEBUGINFOD_URLS=file:///nonexistent planted "$PERFKIT" report -q "$waits"
[ "$did" = "$remote $paths" ] || wrong "where debuginfod keeps files: could $did"
at=
planted "$PERFKIT" fleet hosts s3://127.0.0.1/nothing
[ "$did" = "$remote run run-descriptor${none:+ $none}" ] || wrong "tables at a URL: could $did"
# Where none of the usual places can be written, a bundle is unpacked here. The program may be below
# one of them.
cat >narrow <<'E2'
exec 9<"$1"
for d in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o ro none $d || exit 77; done
exec /proc/self/fd/9 collapse -q --no-cache --no-local demo.tar.zst
E2
TMPDIR='' unshare -rm sh narrow "$PERFKIT" >here 2>err
case $? in
0) "$PERFKIT" collapse -q --no-local demo.tar.zst | cmp -s - here || wrong "unpacked here: another answer" ;;
77) echo "left out: folders that cannot be written ($(head -1 err))" ;;
*) wrong "unpacked here: $(cat err)" ;;
esac
exit $bad
