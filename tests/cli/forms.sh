#!/bin/sh
# --format and --budget of the text verbs: with room enough, text is the same to the letter; with little, no
# answer is after than its budget, JSON is whole, rows are whole, and the end names a command that prints all.
set -u
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
d=$SRC/testdata
bad=0
wrong() { echo "$*"; bad=1; }
gunzip -c "$d/against/before.data.gz" >before.data
gunzip -c "$d/against/longer.data.gz" >after.data
"$PERFKIT" pack -q --no-local "$d/demo/perf.data" --symfs "$d/demo/symfs" -o demo.tar.zst
"$PERFKIT" import -q demo.tar.zst -o demo.db || exit 1
"$PERFKIT" import -q --no-local --symfs "$d/against/symfs" --kallsyms "$d/against/kallsyms" before.data -o run.db || exit 1
cat >commands <<END
report demo.tar.zst
report demo.db
report run.db
report --by function demo.tar.zst
report --by site --idle run.db
report --brief demo.tar.zst
report --stats demo.tar.zst
report --against before.data --no-local after.data
tail run.db
tail --p90 --idle --details 3 run.db
tail --against before.data --no-local after.data
source --no-local $d/inlined/perf.data
doctor --no-local $d/waits/perf.data
compare --no-local before.data -- after.data
END
n=0
while read -r verb words; do
	n=$((n + 1))
	"$PERFKIT" $verb -q $words >$n.plain 2>err
	status=$?
	"$PERFKIT" $verb -q --budget 1M $words >roomy 2>err || [ $? = $status ] || wrong "$verb $words --budget 1M: $(cat err)"
	cat -s $n.plain | cmp - roomy || wrong "$verb $words: other text with a budget of 1M"
	"$PERFKIT" $verb -q --format text $words | cmp -s - $n.plain || wrong "$verb $words --format text is not the text"
	for size in 400 1500 '1000 tokens'; do
		for form in text markdown json; do
			"$PERFKIT" $verb -q --budget "$size" --format $form $words >"$n.$form.$size" 2>err || [ $? = $status ] ||
				wrong "$verb $words --budget $size --format $form: $(cat err)"
		done
	done
	echo "$verb $words" >$n.words
done <commands
python3 - <<'END' || bad=1
import glob, json, sys
bad = 0
for f in glob.glob("*.text.*") + glob.glob("*.markdown.*") + glob.glob("*.json.*"):
    n, form, size = f.split(".")
    try:
        data = open(f, "rb").read()
        assert 0 < len(data) <= (3000 if "tokens" in size else int(size)), len(data)
        text = data.decode()
        if form == "json":
            left = json.loads(text).get("left_out")
            assert left is None or left["command"].startswith("perfkit ") and "--budget" not in left["command"], left
        elif form == "text" and "left out: " in text:
            # rows that are left have the plain table's numbers, though perhaps other names
            plain = {l.split()[-1] for l in open(n + ".plain") if l.strip()}
            kept = [l for l in text.split("left out: ")[0].splitlines() if l.strip()]
            assert sum(l.split()[-1] in plain for l in kept) * 2 >= len(kept), kept
    except (AssertionError, ValueError) as e:
        print(open(n + ".words").read().strip(), form, size, repr(e))
        bad = 1
sys.exit(bad)
END

# the command that the end names prints all of it
"$PERFKIT" report -q demo.tar.zst >plain
"$PERFKIT" report --budget 600 -q demo.tar.zst >out
sed -n 's/.*; all: perfkit //p' out >all
[ -s all ] || wrong "nothing was left out: $(cat out)"
"$PERFKIT" $(cat all) | cmp - plain || wrong "another answer: $(cat all)"

# of a table the first rows stay
"$PERFKIT" report --by thread --top 0 --all -q --no-local "$d/waits/perf.data" | awk 'NR > 1 { print $1 }' >rows
"$PERFKIT" report --by thread --top 0 --all -q --no-local --budget 1500 "$d/waits/perf.data" | sed '/^$/,$d' |
	awk 'NR > 1 && !/hidden/ { print $1 }' >kept
n=$(wc -l <kept)
[ "$n" -ge 3 ] && [ "$n" -lt 30 ] && head -"$n" rows | cmp - kept || wrong "$n rows are left"

refused() { text=$1; shift; "$PERFKIT" "$@" >out 2>err; [ $? = 2 ] && [ ! -s out ] && grep -q -e "$text" err ||
	wrong "$*: $(cat err)"; }
refused 'budget is a size' report --budget 10 demo.db
refused 'budget is a size' report --budget 4q demo.db
refused 'budget is a size' report --budget -4k demo.db
refused 'csv has no' report --by site --csv --budget 4k demo.db
refused 'csv has no' tail --csv --format json demo.db
refused 'budget is for' compare --format junit --budget 4k --fail-on 'new root' demo.db -- demo.db
refused 'not one of text, markdown, json' report --format xml demo.db
[ $bad = 0 ]
