#!/bin/sh
# A bundle is unpacked once and kept; what is kept is used only if its content is what it was.
bad=0
wrong() { echo "$*"; bad=1; }
XDG_CACHE_HOME=$PWD/xdg TMPDIR=$PWD/tmp
export XDG_CACHE_HOME TMPDIR
mkdir tmp xdg in in/debug in/symfs
kept=$XDG_CACHE_HOME/perfkit
printf 'perfkit-bundle 1\n' >in/MANIFEST
cp "$SRC/testdata/demo/perf.data" in/
cp -RL "$SRC/testdata/demo/symfs/." in/symfs/
head -c 5000000 /dev/urandom >in/debug/large
(cd in && tar -cf - MANIFEST perf.data debug symfs) | gzip -1 >run.tar.gz
ask() { "$PERFKIT" collapse -q "$@" || wrong "collapse $*: exit $?"; }
entries() { ls "$kept" | grep -v '^key$'; }
inode() { stat -c '%i %z' "$kept"/*/tree; } # made when

ask --no-cache run.tar.gz >right
[ -s right ] || wrong "no answer at all"
[ ! -e "$kept" ] || wrong "--no-cache made a cache"
ask run.tar.gz >first && cmp -s first right || wrong "the first answer differs"
[ "$(entries | wc -l)" = 1 ] || wrong "kept: $(entries)"
[ "$(stat -c %a "$kept" "$kept"/*/ | sort -u)" = 700 ] || wrong "others may enter the cache"
was=$(inode)
ask run.tar.gz >second && cmp -s second right || wrong "the second answer differs"
cp run.tar.gz other-name.tar.gz
ask other-name.tar.gz >second && cmp -s second right || wrong "the answer by another name differs"
[ "$(inode)" = "$was" ] || wrong "unpacked a second time"
touch "$kept"/*/tree/perf.data
ask run.tar.gz >second && cmp -s second right || wrong "the answer after a touch differs"
[ "$(inode)" = "$was" ] || wrong "unpacked again for another time of a file"

# What is not as it was left is thrown away, and unpacked anew.
damage()  # what command…
{
	what=$1 was=$(inode) at=$(entries)
	shift
	(cd "$kept/$at" && sh -c "$*") || wrong "$what: not done"
	ask run.tar.gz >again && cmp -s again right || wrong "$what: another answer"
	[ "$(inode)" != "$was" ] || wrong "$what: not noticed"
	[ "$(entries | wc -l)" = 1 ] || wrong "$what: kept: $(entries)"
}
damage 'a byte that changed, with the old time' \
	'cp -p tree/perf.data t && printf X | dd of=tree/perf.data bs=1 seek=5000 conv=notrunc 2>/dev/null && touch -r t tree/perf.data && rm t'
damage 'a file more' 'echo x >tree/symfs/more'
damage 'a file less' 'rm tree/debug/large'
damage 'a link' 'mv tree/debug/large l && ln -s ../../l tree/debug/large'
damage 'a cut index' 'head -c 40 INDEX >i && mv i INDEX'
damage 'a byte that the disk lost, all times as they were' \
	'umask 077; t=$(stat -c %y INDEX); sed "s/^[0-9a-f]* \([0-9]* perf.data\)$/00000000000000000000000000000000 \1/" INDEX >i && mv i INDEX && touch -d "$t" INDEX'

# Several at once, from nothing: each has the answer, and one entry is left.
rm -rf "$kept"
for i in 1 2 3 4 5 6; do "$PERFKIT" collapse -q run.tar.gz >at-once.$i & done
wait
for i in 1 2 3 4 5 6; do cmp -s at-once.$i right || wrong "at once: answer $i differs"; done
[ "$(entries | wc -l)" = 1 ] || wrong "at once: kept: $(entries)"

# A killed command leaves nothing that looks whole; one ended by a signal leaves nothing.
for signal in KILL TERM; do
	rm -rf "$kept"
	mkfifo fifo.$signal
	"$PERFKIT" collapse -q run.tar.gz >fifo.$signal &
	pid=$!
	for i in 1 2 3 4 5 6 7 8 9 10; do [ -n "$(ls "$kept" 2>/dev/null)" ] && break; sleep 0.05; done
	kill -$signal $pid
	wait $pid 2>/dev/null
	[ -z "$(ls "$kept" 2>/dev/null | grep -v '^key$\|^tmp\.\|^[0-9a-f]*$')" ] || wrong "$signal: left: $(ls "$kept")"
	ask run.tar.gz >again && cmp -s again right || wrong "after SIG$signal: another answer"
done

# No more than 2 GB: the longest unused goes first, one in use stays.
rm -rf "$kept"
ask run.tar.gz >/dev/null
entry()  # name when
{
	mkdir "$kept/$1" && echo "bytes 990000000" >"$kept/$1/INDEX" && touch -d "$2" "$kept/$1/INDEX"
}
entry aa 2020-01-02 && entry bb 2020-01-01 && entry cc 2020-01-03
head -c 100 /dev/urandom >>in/debug/large
(cd in && tar -cf - MANIFEST perf.data debug symfs) | gzip -1 >run2.tar.gz
if command -v flock >/dev/null; then
	flock -s "$kept/bb/INDEX" sleep 30 &
	holder=$!
	for i in 1 2 3 4 5; do flock -xn "$kept/bb/INDEX" true || break; sleep 0.1; done
	ask run2.tar.gz >again && cmp -s again right || wrong "a second bundle: another answer"
	[ -d "$kept/bb" ] || wrong "an entry in use was removed"
	[ ! -d "$kept/aa" ] && [ -d "$kept/cc" ] || wrong "not the oldest went: $(entries | paste -sd' ')"
	kill $holder
else
	echo "left out: flock"
fi
[ "$(entries | grep -c '^[0-9a-f]\{32\}$')" = 2 ] || wrong "the bundles are not kept: $(entries | paste -sd' ')"

# A folder that others could write to is not used, and none is no error.
chmod 755 "$kept"
was=$(inode)
ask run2.tar.gz >again && cmp -s again right || wrong "an open cache: another answer"
[ "$(inode)" = "$was" ] || wrong "a cache was used that others may enter"
for no in /nonexistent/deep /dev/null relative; do
	XDG_CACHE_HOME=$no HOME=/nonexistent/deep ask run.tar.gz >again && cmp -s again right || wrong "XDG_CACHE_HOME=$no: another answer"
done
[ ! -e relative ] || wrong "a cache was made in the current directory"
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=2m none full 2>/dev/null; then
	XDG_CACHE_HOME=$PWD/full ask run.tar.gz >again && cmp -s again right || wrong "a full disk: another answer"
	[ -z "$(ls full/perfkit | grep -v '^key$')" ] || wrong "left on the full disk: $(ls full/perfkit)"
	umount full
fi

# A damaged bundle is not kept.
rm -rf "$kept"
head -c 4900000 run.tar.gz >cut.tar.gz
"$PERFKIT" collapse cut.tar.gz >/dev/null 2>err && wrong "a cut bundle was read"
grep -q 'cut.tar.gz' err || wrong "a cut bundle: $(cat err)"
ln -s x in/symfs/link && (cd in && tar -cf - MANIFEST perf.data debug symfs) | gzip -1 >refused.tar.gz
"$PERFKIT" collapse refused.tar.gz >/dev/null 2>err
[ $? = 3 ] && grep -q refused err || wrong "a refused bundle: $(cat err)"
[ -z "$(entries)" ] || wrong "kept of a cut bundle: $(entries)"
[ -z "$(ls tmp)" ] || wrong "left in TMPDIR: $(ls tmp)"

# The room that it takes is said when it passes half a gigabyte, once, unless nothing is to be said.
rm -f in/symfs/link
head -c 502000000 /dev/zero >in/debug/zeros
(cd in && tar -cf - MANIFEST perf.data debug symfs) | gzip -1 >many.tar.gz
rm in/debug/zeros
"$PERFKIT" collapse -q many.tar.gz >again 2>err
[ -s err ] && wrong "-q: $(cat err)"
rm -rf "$kept"
"$PERFKIT" collapse many.tar.gz >again 2>err
grep -q "$kept now has 0.5 GB of unpacked bundles" err || wrong "much room is taken silently: $(cat err)"
"$PERFKIT" collapse many.tar.gz >again 2>err
grep -q "unpacked bundles" err && wrong "said again: $(cat err)"
rm -rf "$kept"
exit $bad
