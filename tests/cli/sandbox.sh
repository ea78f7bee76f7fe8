#!/bin/sh
# Verbs that read cannot write but where they were asked to, whatever runs in them; their answers
# are the same.
set -u
nm -D "$PERFKIT" | grep -q __asan_init && { echo "a sanitizer's library comes first"; exit 77; }
${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o plant.so "$SRC/tests/tools/plant.c" 2>cc.err ||
	{ echo "no preloaded library: $(head -1 cc.err)"; exit 77; }
unset DEBUGINFOD_URLS
export HOME=$PWD/home TMPDIR=$PWD/tmp
mkdir home tmp elsewhere out home/.cache && mkdir -m 700 home/.cache/perfkit
waits=$SRC/testdata/waits/perf.data
bad=0

# planted OPTIONS... - what a run with them could do elsewhere
planted()
{
	rm -rf elsewhere/*
	echo old >elsewhere/x.old
	LD_PRELOAD=$PWD/plant.so PLANT=${at:-$PWD/elsewhere}/x "$PERFKIT" "$@" >answer 2>err </dev/null
	rc=$?
	did=$(sed -n 's/^planted: //p' err | paste -sd' ')
}

planted report -q --no-local "$waits"
case $did in
'') ;;
made*) echo "the kernel has no Landlock"; exit 77 ;;
*) echo "report could: $did"; bad=1 ;;
esac
"$PERFKIT" pack -q --no-local "$SRC/testdata/demo/perf.data" --symfs "$SRC/testdata/demo/symfs" -o demo.tar.zst || exit 1
"$PERFKIT" import -q --no-local "$waits" -o run.db || exit 1
while read -r words; do
	rm -rf out/*
	planted $words
	mv answer inside
	ls out >made
	[ -z "$did" ] && [ $rc = 0 ] || { echo "$words: status $rc, could: $did; $(head -3 err)"; bad=1; }
	rm -rf out/*
	planted $words --no-sandbox
	[ "$did" = "made written truncated folder renamed privileges nothing to read" ] ||
		{ echo "$words --no-sandbox could: $did"; bad=1; }
	cmp -s inside answer || { echo "$words: another answer in the sandbox"; bad=1; }
	ls out | cmp -s - made || { echo "$words made $(cat made), outside $(ls out)"; bad=1; }
done <<E2
report -q --no-local $waits
collapse -q demo.tar.zst
collapse -q --no-local $waits -o out/x
svg -q --no-local --wall $waits -o out/x.svg
svg -q --no-local --wall $waits
timeline -q --no-local $waits -o out/x.svg
html -q --no-local $waits -o out/x.html
export -q --no-local --to pprof $waits -o out/x.pb.gz
tail -q --no-local --p90 --svg out/x.svg --flame out/y.svg $waits
tail -q --no-local --p90 run.db
doctor --no-local $waits
report -q run.db
import -q --no-local $waits -o out/x.db
E2
# A link is followed to where it leads; a device is written itself.
ln -s out/target link.svg
for there in no yes; do
	planted svg -q --no-local --wall "$waits" -o link.svg
	[ $rc = 0 ] && [ -s out/target ] && [ -z "$did" ] || { echo "through a link (target there: $there): status $rc, could: $did; $(cat err)"; bad=1; }
done
planted svg -q --no-local --wall "$waits" -o /dev/null
[ $rc = 0 ] && [ -z "$did" ] || { echo "to /dev/null: status $rc, could: $did; $(cat err)"; bad=1; }
# Scratch and cache stay open, debuginfod turns it off.
at=$PWD/tmp && echo old >tmp/x.old && planted report -q --no-local "$waits"
[ "${did%% *}" = made ] || { echo "scratch: could $did"; bad=1; }
at=$PWD/home/.cache/perfkit && echo old >"$at/x.old" && planted report -q --no-local "$waits"
[ "${did%% *}" = made ] || { echo "cache: could $did"; bad=1; }
at=
# Where none of the usual places can be written, a bundle is unpacked here.
cat >narrow <<'E2'
for d in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o ro none $d || exit 77; done
exec "$1" collapse -q --no-cache --no-local demo.tar.zst
E2
TMPDIR='' unshare -rm sh narrow "$PERFKIT" >here 2>err
case $? in
0) "$PERFKIT" collapse -q --no-local demo.tar.zst | cmp -s - here || { echo "unpacked here: another answer"; bad=1; } ;;
77) echo "left out: folders that cannot be written ($(head -1 err))" ;;
*) echo "unpacked here: $(cat err)"; bad=1 ;;
esac
DEBUGINFOD_URLS=file:///nonexistent planted report -q "$waits"
[ "${did%% *}" = made ] || { echo "with debuginfod: could $did"; bad=1; }
exit $bad
