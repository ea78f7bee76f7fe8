#!/bin/sh
# docs/schema: every JSON that perfkit prints follows its schema, of all recordings of testdata; a key that is new
# or gone fails. With $OUT, a folder, schemas that these answers follow are written there.
set -u
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
d=$SRC/testdata
bad=0
i=0
for f in "$d"/*/perf.data "$d"/*/*.tar.zst "$d"/against/*.gz "$d"/compare/w*0.1.data.gz; do
	case $f in *.gz) gunzip -c "$f" >"$(basename "$f" .gz)"; f=$(basename "$f" .gz) ;; esac
	i=$((i + 1))
	ask() { name=$1; shift; "$PERFKIT" "$@" -q --no-local "$f" >"$name.$i.json" 2>err; [ -s "$name.$i.json" ] || rm -f "$name.$i.json"; }
	ask brief report --brief --json
	ask doctor doctor --json
	ask tail tail --json --idle --top 20
	ask tail-windows tail --json --by window --top 5
	ask tail-gaps tail --json --by gap --top 5
	ask source source --json
	for by in function thread program site lock waker span cgroup irq disk gap jitter; do
		ask table-$by report --json --by $by
	done
	ask parts report --format json
done
"$PERFKIT" tail --json --budget 2k -q "$d/orders/orders.tar.zst" >tail.cut.json
"$PERFKIT" report --format json --budget 800 -q "$d/orders/orders.tar.zst" >parts.cut.json
set -- --json -q --no-local --symfs "$d/inlined/symfs" --source-dir "$d/inlined"
"$PERFKIT" source "$@" --inlines --asm main "$d/inlined/perf.data" >source.lines.json
"$PERFKIT" source "$@" --inlines --asm power "$d/inlined/perf.data" >source.copies.json
"$PERFKIT" source "$@" --asm inlined.cc "$d/inlined/perf.data" >source.file.json
"$PERFKIT" source "$@" --against "$d/inlined/perf.data" main "$d/inlined/perf.data" >source.against.json
"$PERFKIT" report --against before.data --json -q --no-local longer.data >against-report.1.json
"$PERFKIT" tail --against before.data --json -q --no-local longer.data >against-tail.1.json
for n in 1 2 3 4; do for w in work0 work25; do gunzip -c "$d/compare/$w.$n.data.gz" >$w.$n.data; done; done
"$PERFKIT" compare --format json -q --no-local --fail-on 'new root' work0.*.data -- work25.*.data >compare.1.json
"$PERFKIT" compare --format json -q --no-local before.data -- longer.data >compare.2.json
find . -name '*.json' -size 0 -exec rm {} +
ls ./*.json | sed 's|^\./||; s|\..*||' | sort -u >kinds
if [ -n "${OUT:-}" ]; then
	while read -r kind; do
		python3 "$SRC/tests/tools/schemas.py" make "perfkit: $kind" "$kind".*.json >"$OUT/$kind.json"
	done <kinds
	exit
fi
while read -r kind; do
	[ -s "$SRC/docs/schema/$kind.json" ] || { echo "no docs/schema/$kind.json"; bad=1; continue; }
	python3 "$SRC/tests/tools/schemas.py" check "$SRC/docs/schema/$kind.json" "$kind".*.json || { echo "... docs/schema/$kind.json"; bad=1; }
done <kinds
for s in "$SRC"/docs/schema/*.json; do
	grep -qx "$(basename "$s" .json)" kinds || { echo "nothing checks $s"; bad=1; }
done
# the check fails where it should
sed 's/^{/{"strange":1,/' tail.cut.json >bad.json
python3 "$SRC/tests/tools/schemas.py" check "$SRC/docs/schema/tail.json" bad.json >said && { echo "a strange key passes"; bad=1; }
[ $bad = 0 ]
