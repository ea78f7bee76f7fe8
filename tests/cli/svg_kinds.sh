#!/bin/sh
# Every kind of flame graph from recordings: it is drawn, says what it shows, and its sums are the
# timeline's.
tid=$SRC/testdata/sched
opts="-q --no-local --symfs $SRC/testdata/demo/symfs"
sum()
{
	awk '{ s += $NF } END { printf "%d", s }' "$1"
}
for k in --offcpu --offwake --chain --wall; do
	"$PERFKIT" svg $k $opts "$tid/perf.data" -o "out$k.svg" || exit 1
	python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "out$k.svg" || exit 1
	grep -q '<title>all (' "out$k.svg" || { echo "svg $k: no root"; exit 1; }
done
# off-CPU and off-wake are one sum, the folded text's
"$PERFKIT" collapse --offcpu --unit ns $opts "$tid/perf.data" >off.folded || exit 1
"$PERFKIT" collapse --offwake --unit ns $opts "$tid/perf.data" >wake.folded || exit 1
[ "$(sum off.folded)" = "$(sum wake.folded)" ] || { echo "off-CPU and off-wake sums differ"; exit 1; }
"$PERFKIT" svg --countname ticks off.folded -o a.svg && "$PERFKIT" svg --offcpu --countname ticks $opts \
	"$tid/perf.data" -o b.svg || exit 1
a=$(sed -n 's/.*<title>all (\([0-9,]*\) ticks.*/\1/p' a.svg | head -1)
b=$(sed -n 's/.*<title>all (\([0-9,]*\) ticks.*/\1/p' b.svg | head -1)
[ -n "$a" ] && [ "$a" = "$b" ] || { echo "svg --offcpu shows $b, its folded text $a"; exit 1; }
# the cause stands above each wait, and colours what leads to it
grep -q '<title>runnable (' b.svg && grep -q '<title>read (' b.svg || { echo "--offcpu without causes"; exit 1; }
# waits that may be idle have a cause, too, and its colour
"$PERFKIT" svg -q --no-local --offcpu --cause sleep "$SRC/testdata/orders/orders.tar.zst" -o sleep.svg || exit 1
grep -q '<title>\[unclear\] (' sleep.svg && grep -q '>sleep</text>' sleep.svg ||
	{ echo "--offcpu: unclear waits without their cause"; exit 1; }
# words that exclude each other
"$PERFKIT" svg --offcpu --wall $opts "$tid/perf.data" -o x.svg 2>/dev/null
[ $? -eq 2 ] || { echo "--offcpu --wall is no usage error"; exit 1; }
[ ! -e x.svg ] || { echo "a refused picture left a file"; exit 1; }
# a flame chart keeps the order of time; splits make a level
"$PERFKIT" svg --flamechart $opts "$SRC/testdata/demo/perf.data" -o chart.svg || exit 1
for lane in request-19735/19737 search-19735/19738 picture-19735/19739 log-19735/19740; do
	grep -q "<title>$lane (" chart.svg || { echo "--flamechart without a lane of $lane"; exit 1; }
done
grep -q '>500 ms</text>' chart.svg || { echo "--flamechart without times"; exit 1; }
# the busiest thread comes first, not a kernel thread of one sample
"$PERFKIT" svg -q --all --no-local --flamechart "$SRC/testdata/orders/orders.tar.zst" -o lanes.svg || exit 1
grep -o '<title>[^ ]*-[0-9]*/[0-9]* (' lanes.svg | head -1 | grep -q 'backtest-8853' || { echo "--flamechart does not begin with the busiest lane"; exit 1; }
"$PERFKIT" svg --split tid $opts "$SRC/testdata/demo/perf.data" -o tid.svg || exit 1
grep -q '<title>[a-z_]*-[0-9]*/[0-9]* (' tid.svg || { echo "--split tid has no such level"; exit 1; }
# what waits, or a flame chart's samples, are not split by is refused
for k in --offcpu --offwake --wall --chain "--tail --p50" "--tail-diff --p50" --flamechart; do
	for by in cpu event cgroup; do
		[ "$k $by" = "--flamechart cpu" ] && continue
		"$PERFKIT" svg $k --split $by $opts "$tid/perf.data" -o split.svg 2>err
		[ $? -eq 2 ] && grep -q -e "--split $by " err ||
			{ echo "svg $k --split $by is no usage error: $(cat err)"; exit 1; }
	done
	[ "$k" = --flamechart ] && continue
	"$PERFKIT" svg $k --split tid $opts "$tid/perf.data" -o split.svg || exit 1
	grep -q '<title>pingpong-[0-9]*/[0-9]* (' split.svg && ! grep -q '<title>[^<]*-1 (' split.svg ||
		{ echo "svg $k --split tid: $(grep -o '<title>[^<]*' split.svg | head -3)"; exit 1; }
done
# a recording compared with itself differs nowhere
"$PERFKIT" svg --diff --offcpu $opts "$tid/perf.data" "$tid/perf.data" -o diff.svg || exit 1
grep '<title>' diff.svg | grep -E '; [+-]0*[1-9]' | head -3 | grep . && { echo "a self-diff differs"; exit 1; }
[ "$(grep -o '<text x="17" y="10">' diff.svg | wc -l)" = 5 ] || { echo "the legend of a difference is not that of changes"; exit 1; }
# the tail's time is the picture's, and the same in tail's own flame graph
tail="--comm locker_a --over 5ms -q --no-local"
waits=$SRC/testdata/waits/perf.data
"$PERFKIT" svg --tail $tail "$waits" -o tail.svg || exit 1
"$PERFKIT" tail $tail --flame flame.svg "$waits" >/dev/null || exit 1
a=$(grep -o '<title>all ([^)]*)' tail.svg) b=$(grep -o '<title>all ([^)]*)' flame.svg)
[ -n "$a" ] && [ "$a" = "$b" ] || { echo "svg --tail shows '$a', tail --flame '$b'"; exit 1; }
"$PERFKIT" svg --tail-diff $tail "$waits" -o taildiff.svg || exit 1
grep -q 'compared with the median' taildiff.svg && grep -q '<title>Differential Tail Fl' taildiff.svg ||
	{ echo "--tail-diff does not say so"; exit 1; }
# what is hidden is the same waits in each picture of them
for filter in "" -C0; do
	for k in --offcpu --wall --chain; do
		"$PERFKIT" svg --all $k $filter $opts "$waits" -o hidden.svg -f || exit 1
		grep -o '>hidden: [^<]*' hidden.svg | head -1
	done | sort -u >hidden
	[ "$(wc -l <hidden)" = 1 ] || { echo "svg $filter: other waits are hidden:"; cat hidden; exit 1; }
done
# every picture says what it shows: of what, of which stretch, which filters chose it; never that
# a wait is longer than the stretch
opts="-q --no-local"
orders=$SRC/testdata/orders/orders.tar.zst
begin=45745.433855906
lines() # the text of a picture's lines that stand above it, and its <desc>
{
	grep -o -e '<desc>[^<]*' -e 'id="[a-z]*"[^>]*><tspan.*</text>' "$1" | sed 's/<[^>]*>//g'
}
says()
{
	lines out.svg >said
	for part; do
		[ "$(grep -cF -- "$part" said)" -ge 2 ] || { echo "no '$part' in: $q"; cat said; exit 1; }
	done
}
for q in "svg --wall" "svg --offcpu --cause lock" "svg --offwake --state blocked" "svg --chain" "svg --tail --p50" \
	"svg --tail-diff --p50" "tail --p50 --flame out.svg" "timeline --threads" "timeline --tail --p50" \
	"tail --p50 --svg out.svg"; do
	out="-o out.svg"
	case $q in tail*) out= ;; esac
	"$PERFKIT" $q $opts --comm front-0,front-1 --time $begin,45745.533855906 $out "$orders" >/dev/null || exit 1
	says vm orders.tar.zst comm=front-0,front-1 "time=$begin,45745.533855906"
	case $q in
	*cause*) says 'cause=lock' ;;
	*state*) says 'state=blocked' ;;
	timeline\ --threads) says '100 ms from +250 ms of 1.1 s' ;;
	esac
	case $q in svg* | *flame*) says '100 ms of 1.1 s' ;; esac
done
"$PERFKIT" svg $opts --diff --offcpu --comm front-0 "$orders" "$orders" -o out.svg || exit 1
q='a diff' && says 'orders.tar.zst compared with orders.tar.zst' comm=front-0 'waiting on vm'
"$PERFKIT" timeline $opts --no-script --time 45745.78,45745.79 --comm front-0,snapshot -o out.svg "$orders" || exit 1
grep -oE '>[a-z]+ [0-9.]+ [a-z]+</text>' out.svg | grep -vE ' ([0-9](\.[0-9])?|10\.0) ms<| us<' && { echo "a wait is longer than the window"; exit 1; }
# one picture, two names
"$PERFKIT" tail $opts --p50 --flame one.svg --svg two.svg "$orders" >/dev/null &&
	"$PERFKIT" svg $opts --tail --p50 -o out.svg "$orders" && cmp one.svg out.svg &&
	"$PERFKIT" timeline $opts --tail --p50 -o out.svg "$orders" && cmp two.svg out.svg || {
	echo "tail draws other pictures than svg --tail and timeline --tail"; exit 1; }
# a pool's numbered threads as one, wakers too
for k in --offcpu --offwake --wall; do
	"$PERFKIT" svg $opts $k --merge-threads "$orders" -o out.svg || exit 1
	grep -q '<title>front-N (' out.svg && ! grep -q '<title>front-[01] (' out.svg &&
		grep -q 'numbered threads merged' out.svg || { echo "svg $k --merge-threads"; exit 1; }
done
# a CPU that was not recorded is not idle; what is missing says so
"$PERFKIT" timeline $opts --no-script -o out.svg "$SRC/testdata/orders-one-cpu/orders.tar.zst" || exit 1
grep -q '<title>nothing was recorded of this CPU' out.svg && grep -q '<title>[a-z]*: .*CPU 0, +' out.svg || {
	echo "a CPU that was not recorded looks idle, or what is missing has no tooltip"; exit 1; }
exit 0
