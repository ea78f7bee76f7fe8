# perfkit svg: options, sources, errors; every picture is well-formed XML.
set -e
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
xml() { python3 -c 'import sys, xml.dom.minidom; [xml.dom.minidom.parse(p) for p in sys.argv[1:]]' "$@"; }
fails()  # status command...
{
	want=$1 got=0
	shift
	"$@" >out 2>err </dev/null || got=$?
	[ $got = "$want" ] || { echo "exit $got, not $want: $*"; cat err; exit 1; }
}
has() { grep -qF -- "$2" "$1" || { echo "$1 lacks: $2"; exit 1; }; }
lacks() { ! grep -qF -- "$2" "$1" || { echo "$1 has: $2"; exit 1; }; }

printf 'a;b;c 3\na;d 1\n' >x.folded
"$PERFKIT" svg x.folded -o file.svg
"$PERFKIT" svg x.folded >stdout.svg
"$PERFKIT" svg - <x.folded >stdin.svg
cmp file.svg stdout.svg
cmp file.svg stdin.svg
xml file.svg
has file.svg 'c (3 samples, 75.00%)'
has file.svg 'all (4 samples, 100%)'
lacks file.svg 'http://www.w3.org/1999/xlink'

# The scripts parse, where something here can say so.
"$PERFKIT" timeline -q --no-local "$SRC/testdata/sched/perf.data" -o line.svg
for picture in file line; do
	sed -n '/^<script/,/^]]>/p' $picture.svg | sed '1d;$d' >$picture.js
	[ -s $picture.js ] || { echo "$picture.svg has no script"; exit 1; }
	! command -v node >/dev/null || node --check $picture.js
	! grep -q '^[[:blank:]]*//' $picture.js || { echo "$picture.svg has comments in its script"; exit 1; }
done

# Text comes out as text, wherever it is given.
evil='<script>]]>&"'"'"
"$PERFKIT" svg x.folded -o evil.svg --title "$evil" --subtitle "$evil" --countname "$evil" \
	--nametype "$evil" --fonttype "$evil"
printf '%s;%s 1\n\377\376;\001\033[2J 2\n' "$evil" "$evil" | "$PERFKIT" svg - -o names.svg
head -c 100000 /dev/urandom | tr '\000' ' ' | sed 's/$/ 7/' | "$PERFKIT" svg -q - -o random.svg
xml evil.svg names.svg random.svg

# Every palette, every switch.
for p in hot mem io wakeup chain java js perl red green blue aqua yellow purple orange kind dso cause; do
	"$PERFKIT" svg x.folded --color=$p -o p.svg
	xml p.svg
done
"$PERFKIT" svg x.folded --no-script -o still.svg
lacks still.svg '<script'
"$PERFKIT" svg x.folded --countname us -o time.svg
has time.svg 'all (4.0 us, 100%)'
"$PERFKIT" svg x.folded --factor 1000000 -o factor.svg
has factor.svg 'all (4,000,000 samples, 100%)'
"$PERFKIT" svg x.folded --total 8 -o total.svg
has total.svg 'all (8 samples, 100%)'
has total.svg 'a (4 samples, 50.00%)'
"$PERFKIT" svg x.folded --random --seed 1 -o r1.svg
"$PERFKIT" svg x.folded --random --seed 1 -o r1again.svg
"$PERFKIT" svg x.folded --random --seed 2 -o r2.svg
cmp r1.svg r1again.svg
! cmp -s r1.svg r2.svg || exit 1
long=$(printf '%0300d' 7)
# what is too long for a line goes on in the next one
for id in title subtitle; do
	"$PERFKIT" svg x.folded --$id "$long" -o long.svg
	xml long.svg
	sed -n "s/.*<text id=\"$id\"\([^\n]*\)<\/text>.*/\1/p" long.svg | grep -o '>[0-9]*</tspan' | tr -dc '0-9\n' >lines
	[ "$(tr -d '\n' <lines)" = "$long" ] || { echo "$id: $(cat lines)"; exit 1; }
	[ "$(wc -L <lines)" -gt 90 ] && [ "$(wc -L <lines)" -lt 170 ] || { echo "$id: lines of $(wc -L <lines)"; exit 1; }
done

# --cp keeps a name's colour.
echo 'c->rgb(1,2,3)' >palette.map
"$PERFKIT" svg x.folded --cp -o cp.svg
has cp.svg '#010203'
has palette.map 'c->rgb(1,2,3)'
has palette.map 'a->rgb('
"$PERFKIT" svg x.folded --cp --color=blue -o cp2.svg
cmp cp.svg cp2.svg 2>/dev/null || grep -o 'fill="#[0-9a-f]*" rx' cp.svg >f1
grep -o 'fill="#[0-9a-f]*" rx' cp2.svg >f2
cmp f1 f2

# Differences: equal totals; each node's change; what vanished.
printf 'a;b 100\na;c 60\ng;h 40\n' >before.folded
printf 'a;b 30\na;c 20\n' >after.folded
"$PERFKIT" svg --diff before.folded after.folded -o diff.svg
xml diff.svg
has diff.svg 'after.folded compared with before.folded'
has diff.svg 'b (30 samples, 60.00%; +10.00 points; before 25 samples, scaled from 100 samples)'
has diff.svg 'c (20 samples, 40.00%; +10.00 points; before 15 samples, scaled from 60 samples)'
has diff.svg 'a (50 samples, 100%; +20.00 points; before 40 samples, scaled from 160 samples)'
has diff.svg 'h (0 samples, 0.00%; -20.00 points; before 10 samples, scaled from 40 samples)'
"$PERFKIT" svg --diff before.folded after.folded --normalize none --no-vanished -o raw.svg
has raw.svg 'b (30 samples, 60.00%; -140.00 points; before 100 samples)'
lacks raw.svg 'only before'
# several runs: means, and each run; with two and two, no change can be told from chance
printf 'a;b 200\na;c 60\n' >before2.folded
"$PERFKIT" svg --no-script --normalize none --diff before.folded before2.folded -- after.folded -o runs.svg
has runs.svg 'b (30 samples, 60.00%; -240.00 points; before 150 samples; chance may explain it; runs before: 100 samples, 200 samples; after: 30 samples)'
has runs.svg 'too few runs'
has runs.svg '1 runs after compared with 2 before: means'
has raw.svg 'Total 50 samples, before 200 samples'
# two builds: what compilers append, template arguments, the version in the program's name
printf 'app-1.2;main;parse.constprop.0;mix 60\napp-1.2;main;sum<int> 40\n' >old.folded
printf 'app-1.3;main;parse;mix.part.0 59\napp-1.3;main;parse.cold;mix 1\napp-1.3;main;sum<long> 40\n' >new.folded
"$PERFKIT" svg --no-script --diff old.folded new.folded -o builds.svg
[ "$(grep -o '[+-][0-9.]* points' builds.svg | sort -u)" = '+0.00 points' ] || { echo "two builds differ"; exit 1; }
lacks builds.svg 'only before'
has builds.svg 'parse (60 samples'

# Lines that are no stacks are counted; a file of nothing else is refused.
printf 'a;b 1\nrubbish\n' | "$PERFKIT" svg - -o skip.svg 2>err
has err 'skipped 1 line without a count, first: rubbish'
# --strict: what was warned of is told in the status, even where -q silences it
printf 'a;b 1\nrubbish\n' >skip.folded
fails 3 "$PERFKIT" svg --strict -q skip.folded -o skip.svg
fails 3 "$PERFKIT" svg --strict -q --diff skip.folded x.folded -o skip.svg
fails 0 "$PERFKIT" svg --strict x.folded -o skip.svg
for k in '' --flamechart; do
	fails 3 "$PERFKIT" svg $k --strict -q --no-local "$SRC/testdata/cut/perf.data" -o skip.svg
	fails 0 "$PERFKIT" svg $k --no-local "$SRC/testdata/cut/perf.data" -o skip.svg
done
for k in --offcpu --wall --chain '--tail --p50'; do
	fails 3 "$PERFKIT" svg $k --strict -q --no-local "$SRC/testdata/sched/perf.data" -o skip.svg
done
printf 'a;b 0\n' >nothing.folded
fails 3 "$PERFKIT" svg nothing.folded -o none.svg
has err 'no stack has any weight'
echo rubbish >rubbish.folded
fails 3 "$PERFKIT" svg rubbish.folded -o none.svg
[ ! -e none.svg ]
printf 'a;\000b 1\n' >binary
fails 1 "$PERFKIT" svg binary -o none.svg
has err 'neither perf.data, store nor folded stacks'
cat binary | "$PERFKIT" svg - -o none.svg 2>err && exit 1
has err 'neither perf.data, store nor folded stacks'
[ ! -e none.svg ]
for f in x.folded ./x.folded; do
	fails 3 "$PERFKIT" svg --diff after.folded x.folded -o $f
	has err "$f: is the input; not replaced"
	has x.folded 'a;b;c 3'
done
fails 1 "$PERFKIT" svg absent.folded -o none.svg
fails 1 "$PERFKIT" svg x.folded -o absent/none.svg
fails 2 "$PERFKIT" svg x.folded --color=puce -o none.svg
fails 2 "$PERFKIT" svg x.folded --minwidth=wide -o none.svg
fails 2 "$PERFKIT" svg x.folded --width=0 -o none.svg
has err '--width is from 200 to 100000'
fails 2 "$PERFKIT" svg x.folded --fontwidth=nan -o none.svg
has err '--fontwidth is from 0.1 to 3'
fails 2 "$PERFKIT" svg --diff x.folded -o none.svg
fails 2 "$PERFKIT" svg --diff x.folded -- -o none.svg
fails 2 "$PERFKIT" svg --diff x.folded x.folded x.folded -o none.svg
fails 2 "$PERFKIT" svg x.folded --bgcolors=puce -o none.svg
fails 2 "$PERFKIT" svg x.folded --notes='<b>' -o none.svg
[ ! -e none.svg ]

# What only a recording or a store can be asked is refused of folded text.
for o in --comm=a -ecycles --pid=1 --tid=1 -C0 --time=1,2 --split=tid --simplify --merge-threads --recording=1 \
	--symfs=. --no-inline --no-demangle --max-stack=3; do
	fails 2 "$PERFKIT" svg x.folded $o -o none.svg
	has err 'is folded text; --'
	fails 2 "$PERFKIT" svg --diff before.folded after.folded $o -o none.svg
done
[ ! -e none.svg ]

# A stream is looked at once, and read by whoever is asked.
for o in --flamechart ''; do
	"$PERFKIT" svg $o x.folded -o file.svg
	"$PERFKIT" svg $o - <x.folded -o redirected.svg
	cat x.folded | "$PERFKIT" svg $o - -o piped.svg
	cmp file.svg redirected.svg
	cmp file.svg piped.svg
done
for o in --offcpu --flamechart; do
	printf 'no\0text' >x.none
	fails 1 "$PERFKIT" svg $o x.none
	sed 's/x.none/-/' err >want
	rc=0
	cat x.none | "$PERFKIT" svg $o - 2>err || rc=$?
	[ $rc = 1 ]
	cmp want err
done

# One event is drawn, and what is not is said: in a picture of a recording and of its store.
events=$SRC/testdata/events/perf.data
"$PERFKIT" import -q --no-local "$events" -o events.db
for f in "$events" events.db; do
	fails 0 "$PERFKIT" svg --no-local -e cpu-clock -e context-switches "$f" -o two.svg
	has err 'drawing cpu-clock; left out 340 samples of other events (--event draws another'
	has two.svg '<title>CPU Flame Graph</title>'
	fails 0 "$PERFKIT" svg --no-local -e context-switches "$f" -o event.svg
	lacks err 'left out'
	has event.svg '<title>Event Flame Graph</title>'
	fails 0 "$PERFKIT" svg --no-local --flamechart "$f" -o chart.svg
	has err 'drawing cpu-clock; left out 358 samples of other events'
	has chart.svg '>cpu-clock on vm · perf.data · 2.0 s<'
	fails 2 "$PERFKIT" svg --no-local --flamechart -e cpu-clock,page-faults "$f" -o none.svg
	fails 3 "$PERFKIT" svg --no-local --flamechart --comm nosuch "$f" -o none.svg
	fails 0 "$PERFKIT" collapse --no-local --all-events "$f"
	has err 'periods of different events are added up'
	fails 0 "$PERFKIT" collapse --no-local --all-events --weight samples "$f"
	lacks err 'unlike'
done
# what --off-cpu recorded is time, as a clock's periods are
LC_ALL=C sed 's/page-faults/offcpu-time/g' "$events" >offcpu.data
fails 0 "$PERFKIT" svg --no-local -e offcpu-time offcpu.data -o offtime.svg
has offtime.svg '<title>Off-CPU Time Flame Graph</title>'
lacks offtime.svg ' events, 100%'
fails 0 "$PERFKIT" collapse --no-local -e cpu-clock -e offcpu-time offcpu.data
lacks err 'unlike'
fails 0 "$PERFKIT" svg --no-local --split event "$events" -o all.svg
lacks err 'left out'
# samples of tracepoints are told as such, with a hint at the waits that they are about
sched=$SRC/testdata/sched/perf.data
fails 0 "$PERFKIT" svg --no-local "$sched" -o tracepoint.svg
has tracepoint.svg '<title>Tracepoint Flame Graph</title>'
has err '--offcpu, --wall and --tail draw waiting'
fails 3 "$PERFKIT" svg --no-local --flamechart "$sched" -o none.svg
has err 'other tracepoints are shown as waits (--offcpu)'
[ ! -e none.svg ]

# What spoils an event is said where that event is shown.
probe=$SRC/testdata/uprobe/perf.data
for verb in 'svg -o probe.svg' 'collapse -o probe.folded'; do
	# shellcheck disable=SC2086
	"$PERFKIT" $verb --no-local "$probe" 2>err
	lacks err 'search_products was sampled'
	# shellcheck disable=SC2086
	"$PERFKIT" $verb --no-local --event perfkit_test:search_products "$probe" 2>err
	has err 'search_products was sampled'
done

# A function's own name stays whole where its box is narrow, and in the table that a text is.
long='exchange::OrderBookIndex<std::pair<long, std::vector<int, std::allocator<int> > >, Policy>::insert_order'
printf 'book;main;%s 50\nbook;main;other 100\n' "$long" >long.folded
"$PERFKIT" svg -q long.folded -o long.svg
has long.svg '>exchange::OrderBookIndex&lt;…&gt;::insert_order<'
"$PERFKIT" svg -q --width 400 long.folded -o long.svg
has long.svg '…insert_order<'
lacks long.svg '>exchange::OrderBookIndex&lt;…&gt;::insert_order<'

# Plumbing is folded by the rules of --causes, too.
orders=$SRC/testdata/orders/orders.tar.zst
echo 'plumbing match_order' >own.rules
for verb in 'svg --offcpu -o plumbing.svg' 'tail --flame plumbing.svg'; do
	# shellcheck disable=SC2086
	"$PERFKIT" $verb -q --no-local -f "$orders" >/dev/null
	! grep -q 'match_order.*with the frames of the runtime' plumbing.svg || { echo "$verb folds a function"; exit 1; }
	# shellcheck disable=SC2086
	"$PERFKIT" $verb -q --no-local -f --causes own.rules "$orders" >/dev/null
	grep -q 'match_order.*with the frames of the runtime' plumbing.svg || { echo "$verb does not fold by --causes"; exit 1; }
done
