# The bundled order book, which README and docs show: tail's worst activations beside the program's
# own log, one root for all of them, and nothing missing from the threads that answer orders.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
orders=$SRC/testdata/orders
"$PERFKIT" tail -q --no-local --by activation --comm front-0,front-1 --over 2ms --json \
	"$orders/orders.tar.zst" >tail.json
python3 - tail.json "$orders/truth.txt" <<'PY'
import json, sys
tail = json.load(open(sys.argv[1]))
log = [(thread, int(ns)) for thread, ns in (line.split() for line in open(sys.argv[2]))]
episodes, population = tail["episodes"], tail["population"]
assert not population["open"] and not population["suspect"], population
for front in "front-0", "front-1":
    measured = sorted((ns for thread, ns in log if thread == front), reverse=True)
    ours = sorted((e["duration_ns"] for e in episodes if e["comm"] == front), reverse=True)
    assert len(ours) == len(measured) >= 10, (front, ours, measured)
    # The log is from lock to unlock. An activation begins at the wakeup and ends at the next read.
    for a, b in zip(ours, measured):
        assert 0 < a - b < 200000, (front, a, b)
for e in episodes:
    root = e["root"]
    assert not e["suspect"] and not e["open"] and not e["unknown_ns"], e
    assert (root["comm"], root["function"], root["cause"]) == ("snapshot", "write_pages", "sleep"), root
PY
"$PERFKIT" report -q --no-local "$orders/orders.tar.zst" >report.txt
sed -n '/^thread /,/^$/p' report.txt | sed -n 2,3p | cut -d/ -f1 | sort | tr '\n' ' ' >first
grep -qx 'front-0 front-1 ' first || { cat report.txt; exit 1; }

# The recording misses switches of other threads: not the business of those that answer orders,
# nor of the one that holds the lock. All stacks are whole.
for verb in tail report "timeline -o orders.svg"; do
	for comm in front-0,front-1 snapshot; do
		"$PERFKIT" $verb --no-local --comm $comm "$orders/orders.tar.zst" >/dev/null 2>err
		! grep -v '^perfkit: wrote orders.svg; ' err || { echo "$verb, $comm:"; exit 1; }
	done
done
"$PERFKIT" tail --no-local "$orders/orders.tar.zst" >all 2>err
grep -q '4 context switches are missing' err && ! grep -q 'too short' err || { cat err; exit 1; }
# Asked for nothing in particular, tail begins with the same cause.
grep -A1 '^count  *time' all | grep -qE '^ +10 .* 100 %  snapshot: held the lock, asleep in write_pages\(\)$' ||
	{ cat all; exit 1; }

# Tables are as wide as the terminal: optional columns in wide ones, the root whole in all.
for columns in 20 80 120; do
	COLUMNS=$columns "$PERFKIT" tail -q --no-local --comm front-0,front-1 --top 3 --details 0 \
		"$orders/orders.tar.zst" >"tail-$columns"
	grep -q '^3  .* snapshot: sleep in write_pages()$' "tail-$columns" || { cat "tail-$columns"; exit 1; }
	COLUMNS=$columns "$PERFKIT" report -q --no-local "$orders/orders.tar.zst" >"report-$columns"
done
cmp tail-20 tail-80
grep -q '^thread .* waits      max$' report-80
grep -q '^thread .* waits      p50      p99    p99.9      max$' report-120
