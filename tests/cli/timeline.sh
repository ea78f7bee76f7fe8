# perfkit timeline: same picture from a recording and its store, filters, refusals.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
well_formed() { python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
data=$SRC/testdata/sched/perf.data

"$PERFKIT" timeline --all -o "$tmp/a.svg" "$data" 2>"$tmp/err" || fail "timeline: $(cat "$tmp/err")"
well_formed "$tmp/a.svg" || fail "not well-formed"
for what in 'CPU 0' 'ping<' 'pong<' '(--system)' wakeup; do
	grep -qF "$what" "$tmp/a.svg" || fail "no $what in the picture"
done
grep -q 'http' "$tmp/a.svg" && grep -o 'https*://[^"]*' "$tmp/a.svg" | grep -qv 'www.w3.org' &&
	fail "it fetches something"

"$PERFKIT" import -o "$tmp/a.db" "$data" 2>/dev/null || fail "import"
"$PERFKIT" timeline --all -o "$tmp/b.svg" "$tmp/a.db" || fail "timeline of a store"
cmp "$tmp/a.svg" "$tmp/b.svg" || fail "a store gives another picture"
"$PERFKIT" timeline --all "$data" >"$tmp/c.svg" 2>/dev/null || fail "to stdout"
cmp "$tmp/a.svg" "$tmp/c.svg" || fail "stdout gives another picture"

"$PERFKIT" timeline --comm pong --threads --no-script -o "$tmp/d.svg" "$data" 2>/dev/null || fail "--comm"
well_formed "$tmp/d.svg" || fail "not well-formed without a script"
grep -q 'pong<' "$tmp/d.svg" || fail "--comm pong without pong"
grep -q 'ping<\|CPU 0<\|<script' "$tmp/d.svg" && fail "--comm, --threads, --no-script leave too much"
"$PERFKIT" timeline --top 1 -o "$tmp/e.svg" "$data" 2>/dev/null
grep -q '1 less active thread' "$tmp/e.svg" || fail "--top does not count what it leaves out"
"$PERFKIT" timeline --cpus --cpu 0 -o "$tmp/f.svg" "$data" 2>/dev/null
grep -q 'CPU 0<' "$tmp/f.svg" && ! grep -q 'CPU 1<\|ping<' "$tmp/f.svg" || fail "--cpus --cpu 0"

"$PERFKIT" timeline --time 0,0.000001 -o "$tmp/g.svg" "$data" 2>"$tmp/err"
[ $? = 3 ] && grep -q 'nothing was recorded' "$tmp/err" || fail "an empty window: $(cat "$tmp/err")"
[ -e "$tmp/g.svg" ] && fail "a refusal leaves a file"
"$PERFKIT" timeline -o "$tmp/g.svg" "$SRC/testdata/demo/perf.data" 2>"$tmp/err"
[ $? = 3 ] && grep -q 'record with: perfkit record' "$tmp/err" || fail "no switches: $(cat "$tmp/err")"
"$PERFKIT" timeline -q --all --top 0 -o "$tmp/h.svg" "$SRC/testdata/orders-one-cpu/orders.tar.zst"
grep -q 'process unknown, thread ' "$tmp/h.svg" && ! grep -q 'process -1' "$tmp/h.svg" ||
	fail "a process that was not recorded"
orders=$SRC/testdata/orders/orders.tar.zst
"$PERFKIT" timeline -q --comm front-0 --threads --no-script -o "$tmp/h.svg" "$orders"
grep -q '>pipe?<' "$tmp/h.svg" || fail "a wait for work or for an answer is not marked"
"$PERFKIT" timeline -q --comm front-0 --threads --no-script --no-unclear -o "$tmp/h.svg" "$orders"
grep -q '>unclear<' "$tmp/h.svg" && grep -q 'without unclear waits' "$tmp/h.svg" &&
	! grep -q '>pipe?' "$tmp/h.svg" || fail "--no-unclear"
"$PERFKIT" timeline --cpus --threads -o "$tmp/g.svg" "$data" 2>/dev/null
[ $? = 2 ] || fail "--cpus --threads"
exit 0
