#!/bin/sh
# Recordings and folded text that somebody compressed: every verb reads them as they are, says the
# same of them as of the plain file, and leaves nothing behind.
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
mkdir tmp
TMPDIR=$PWD/tmp
export TMPDIR
opts="--no-local --buildid-dir $SRC/testdata/waits/buildid"
plain=$SRC/testdata/waits/perf.data
[ -f "$plain" ] || { echo "no testdata/waits/perf.data"; exit 1; }
cp "$plain" run.data
"$PERFKIT" collapse -q $opts --all run.data >run.folded 2>err || bad "collapse: $(cat err)"
tried=
for how in "gzip gz" "zstd zst" "xz xz" "bzip2 bz2"; do
	tool=${how% *} ending=${how#* }
	command -v "$tool" >/dev/null 2>&1 || continue
	"$tool" -c run.data >run.data.$ending 2>/dev/null
	"$tool" -c run.folded >run.folded.$ending 2>/dev/null
	tried="$tried $ending"
done
[ -n "$tried" ] || { echo "no gzip, zstd, xz or bzip2 here"; exit 77; }
same()  # what want got
{
	sed "s/run\.data\.[a-z0-9]*/run.data/g" "$3" | cmp -s "$2" - || bad "$1: another answer"
}
for ending in $tried; do
	f=run.data.$ending
	for verb in "collapse --offcpu" collapse report doctor "tail --p99" "svg --offcpu" "timeline"; do
		# shellcheck disable=SC2086
		"$PERFKIT" $verb $opts run.data >want 2>want.err
		want=$?
		# shellcheck disable=SC2086
		"$PERFKIT" $verb $opts $f >got 2>got.err
		[ $? = $want ] || bad "$verb $f: another exit status: $(cat got.err)"
		same "$verb $f" want got
		same "$verb $f (stderr)" want.err got.err
	done
	"$PERFKIT" collapse -q $opts --all - <$f >got 2>err || bad "stdin: $(cat err)"
	cmp -s run.folded got || bad "$ending on stdin: another answer"
	"$PERFKIT" import -q $opts $f -o got.db || bad "import $f: exit $?"
	"$PERFKIT" pack -q $opts $f -o got.tar.zst || bad "pack $f: exit $?"
	for g in got.db got.tar.zst; do
		"$PERFKIT" collapse -q --offcpu $opts run.data >want 2>/dev/null
		"$PERFKIT" collapse -q --offcpu $g >got 2>err || bad "$g of $f: $(cat err)"
		[ $g = got.tar.zst ] || cmp -s want got || bad "$g of $f: another answer"
		[ -s got ] || bad "$g of $f: no answer"
	done
	"$PERFKIT" svg -q run.folded -o want.svg && "$PERFKIT" svg -q run.folded.$ending -o got.svg ||
		bad "svg of folded"
	cmp -s want.svg got.svg || bad "svg run.folded.$ending: another picture"
	head -c "$(($(wc -c <$f) / 2))" $f >cut.$ending
	status=0
	"$PERFKIT" collapse -q cut.$ending >out 2>err || status=$?
	[ $status = 1 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] ||
		bad "half of $f: exit $status, $(cat err)"
	rm -f got.db got.tar.zst
done
if [ -f run.data.gz ]; then
	"$PERFKIT" import -q $opts run.data -o run.db && gzip run.db
	status=0
	"$PERFKIT" report run.db.gz >out 2>err || status=$?
	[ $status != 0 ] && grep -q "compressed store" err || bad "a store: exit $status, $(cat err)"
fi
[ -z "$(ls tmp)" ] || bad "left behind: $(ls tmp)"
echo "tried:$tried"
[ $fails = 0 ]
