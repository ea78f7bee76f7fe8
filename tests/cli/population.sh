#!/bin/sh
# Who is meant if no option says: the command that was recorded, and its children; the same in every
# verb, from the file, a pipe, a bundle and a store. Others are named as causes. --all is everybody.
bad=0
wrong() { echo "$*"; bad=1; }
data=$SRC/testdata/waits/perf.data # recorded with -a; `waits` is process 1293
gunzip -c "$SRC/testdata/truth/hog/perf.data.gz" >hog.data
of='(waits, which was recorded; --all for the whole machine)'

# every verb: the same answer as for its process, but for the head; and all threads with --all
for ask in "tail --json --top 9" "report --by thread" "report --by site" "svg --offcpu" "svg --wall" \
	"svg --chain" svg "timeline --threads" "export --to pprof -o -" "export --to speedscope --offcpu -o -"; do
	for how in "" "--pid 1293" --all; do
		"$PERFKIT" $ask -q --no-local $how "$data" >"out$how" 2>err || wrong "$ask $how: $(cat err)"
		sed -i -e 's/only: [^<]*//; s/Only [^.]*\.//; s/cpu-clock[^<]* on vm[^<]*//' "out$how"
	done
	case $ask in
	svg | export*pprof*) ;; # the samples' time is everybody's
	*) cmp -s out "out--pid 1293" || wrong "$ask is not about process 1293" ;;
	esac
	cmp -s out out--all && wrong "$ask: --all changes nothing"
done

# the head says so; a filter of threads takes its place, another joins it
"$PERFKIT" tail -q --no-local "$data" | tr -s ' \n' ' ' | grep -qF "population: waits of 10 threads in 1 process $of" ||
	wrong "tail does not say who was recorded"
"$PERFKIT" tail -q --no-local -p 1293 -t 1306 "$data" | grep -qF '(pid=1293 tid=1306)' || wrong "-p, -t"
"$PERFKIT" tail -q --no-local --cpu 0 "$data" | tr -s ' \n' ' ' | grep -qF '(cpu=0 of waits, which was recorded; --all' ||
	wrong "--cpu alone"
"$PERFKIT" tail -q --no-local --comm 'other*' "$data" | grep -qF '(comm=other*)' || wrong "--comm"
"$PERFKIT" svg -q --no-local "$data" | grep -qF 'only: waits, which was recorded; --all for the whole machine' ||
	wrong "svg does not say who was recorded"
# no command answers for fewer samples than another without a word, -q or not
sum() { awk '{ n += $NF } END { printf "%.0f\n", n }'; }
"$PERFKIT" collapse --no-local "$data" 2>err >folded
grep -qx 'perfkit: of all programs; svg, report and others are of what was recorded for, unless --all' err || wrong "collapse: $(cat err)"
total=$(sum <folded)
[ "$("$PERFKIT" svg -q folded | sed -n 's/^total //p')" = "$total" ] || wrong "svg of folded text"
[ "$("$PERFKIT" svg -q --all --no-local "$data" 2>err | sed -n 's/^total //p')" = "$total" ] || wrong "svg --all"
grep programs err && wrong "--all leaves nothing out"
others() {
	echo $(($("$PERFKIT" collapse -q --weight samples --no-local "$@" "$data" 2>err | sum) - $("$PERFKIT" collapse -q --weight samples --no-local --pid 1293 "$@" "$data" 2>err | sum)))
}
"$PERFKIT" import -q --no-local -f -o run.db "$data"
for f in "$data" run.db; do
	for verb in "svg -o x" source "export --to pprof -o x" "export --to speedscope -o x"; do
		case $verb in export*) left=$(others --all-events) ;; *) left=$(others) ;; esac
		"$PERFKIT" $verb -q "$f" 2>said >out
		tr -d , <said >err
		grep -q "^perfkit: of waits which was recorded; left out $left samples of other programs (--all)$" err ||
			wrong "$verb $f: $(cat err), $left left out"
	done
done
for f in "$data" run.db; do
	for verb in "svg --offcpu -o x" "svg --wall -o x" "html -f -o x" "export --to pprof --offcpu -f -o x"; do
		"$PERFKIT" $verb -q "$f" 2>err >out
		grep -q '^perfkit: of waits, which was recorded; left out [1-9][0-9]* threads of other programs (--all)$' err || wrong "$verb $f: $(cat err)"
	done
done
# the whole machine: whose the worst are, and how to ask about one of them
"$PERFKIT" tail -q --no-local --all --top 20 "$data" >all
grep -q '^worst  *time  *longest  *program  *option$' all && grep -q '^ *13 .* waits  *--pid 1293$' all || wrong "programs: $(cat all)"
[ "$(head -1 all | tr -s ' ')" = 'worst time longest program option' ] || wrong "programs come later: $(head -1 all)"
"$PERFKIT" tail -q --no-local --top 20 "$data" | grep -q '^worst .* program' && wrong "programs of one"
"$PERFKIT" html -q --no-local --all --top 20 "$data" -o page.html
grep -q '<p id="also">Of the worst, [0-9]* .* of [^ ]* (--' page.html || wrong "html does not name the programs"

# report, too: with the sums of their threads, on one screen; of one program its threads
"$PERFKIT" report -q --no-local --all "$data" >all
sed -n 2p all | grep -q '^program  *running .* option$' && grep -q '^waits .* --pid 1293$' all || wrong "report, programs: $(cat all)"
[ "$(wc -l <all)" -le 24 ] || wrong "report has $(wc -l <all) lines"
"$PERFKIT" report -q --no-local "$data" | grep -q '^thread .*running' || wrong "report, threads of one program"
sums() {
	"$PERFKIT" report -q --no-local --all --by "$1" --csv "$data" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ run += $at["run_ns"]; off += $at["blocked_ns"] + $at["runnable_ns"] } END { printf "%.0f %.0f\n", run, off }'
}
[ "$(sums program)" = "$(sums thread)" ] || wrong "programs: $(sums program), threads: $(sums thread)"
# names that were not found are those of who is meant
for how in "" "--pid 1293"; do
	"$PERFKIT" report -q -v --no-local $how "$data" | sed -n '/^names:/,$p' >"names$how"
done
cmp -s names "names--pid 1293" && [ -s names ] || wrong "names of others: $(cat names)"
# a link of a chain is one line, and nothing below 5 % is told
"$PERFKIT" tail -q --no-local --details 3 hog.data >hog.txt
awk 'length > 80 && /woken by|lock held by|behind/' hog.txt | grep . && wrong "a link of two lines"

# who had the CPU is named, whoever it was
"$PERFKIT" tail -q --no-local --top 0 hog.data >hog.txt
grep -qF '(hog, which was recorded;' hog.txt || wrong "hog: $(head -5 hog.txt)"
"$PERFKIT" report -q --no-local --by thread --json "$data" | grep -q other && wrong "a thread of another program is a row"
"$PERFKIT" tail -q --no-local --top 0 --details 500 "$data" | grep -q 'on its CPU  other' || wrong "no bystander is named"

# collapse is of everybody, as perf's scripts print it
"$PERFKIT" collapse -q --no-local "$data" | grep -q '^other' || wrong "collapse leaves somebody out"

# html opens with tail's sentence
for f in "$data" hog.data; do
	first=$("$PERFKIT" tail -q --no-local "$f" | sed '/^$/q' | tr '\n' ' ')
	"$PERFKIT" html -q --no-local "$f" -o page.html
	grep -qF "<p id=\"answer\">${first%  }" page.html || wrong "html says: $(grep -o '<p id="answer">[^<]*' page.html), tail: $first"
done

# a pipe, a bundle and a store answer alike
for f in "$data" hog.data; do
	cp "$f" perf.data
	"$PERFKIT" import -q --no-local perf.data -o run.db
	for ask in "tail --top 7" "report --by thread" svg "svg --offcpu" timeline "export --to speedscope -o -"; do
		"$PERFKIT" $ask -q --no-local perf.data >file 2>/dev/null
		"$PERFKIT" $ask -q run.db 2>/dev/null | cmp -s - file || wrong "$ask: the store of $f answers otherwise"
		"$PERFKIT" $ask -q --no-local - <perf.data 2>/dev/null | sed 's/stdin/perf.data/g; s/ in -/ in perf.data/' >pipe
		sed 's/ in -/ in perf.data/' file | cmp -s - pipe || wrong "$ask: $f through a pipe answers otherwise"
	done
done
orders=$SRC/testdata/orders/orders.tar.zst
"$PERFKIT" import -q --no-local "$orders" -o orders.db
"$PERFKIT" tail -q --no-local "$orders" >file
"$PERFKIT" tail -q orders.db | cmp -s - file && grep -q '(orders, which was recorded;' file || wrong "the bundle and its store"

# options that are not there: the nearest that is meant, by letter or name
"$PERFKIT" tail -P 1 "$data" 2>&1 | grep -qF "did you mean '-p'?" || wrong "-P"
"$PERFKIT" tail -pid 1 "$data" 2>&1 | grep -qF "did you mean '--pid'?" || wrong "-pid"
"$PERFKIT" svg -x "$data" 2>&1 | grep -q 'did you mean' && wrong "-x is near nothing"

# pictures and pages say what was written; quiet and stdout do not
"$PERFKIT" svg --no-local "$SRC/testdata/demo/perf.data" -o a.svg 2>&1 | grep -qx 'perfkit: wrote a.svg; open it in a browser' || wrong "svg does not say what it wrote"
"$PERFKIT" svg -q --no-local "$SRC/testdata/demo/perf.data" -o a.svg 2>&1 | grep wrote && wrong "-q says what it wrote"
# without perf: what installs it
mkdir -p nothing
PATH=$PWD/nothing "$PERFKIT" record cpu -o x.data -- true 2>&1 | grep -q 'perf: No such file or directory; it is not installed: .*perf' || wrong "no package is named"
exit $bad
