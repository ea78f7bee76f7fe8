# report --by function: its sums are those of collapse with the same options (--all: collapse has everybody), of file, pipe, bundle and store;
# the report begins with it; --against compares functions by name, and claims nothing where nothing changed.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
demo=$SRC/testdata/demo/demo.tar.zst orders=$SRC/testdata/orders/orders.tar.zst
pk() { "$PERFKIT" "$@"; }
pk import -q --no-local "$demo" -o demo.db
pk import -q --no-local "$orders" -o orders.db
cat >check.py <<'P'
import csv, io, subprocess, sys
perfkit, path, *options = sys.argv[1:]
def run(*args):
    return subprocess.run([perfkit, *args], check=True, capture_output=True, text=True).stdout
local = [] if path.endswith(".db") else ["--no-local"]
off = "--offcpu" in options
stacks = run("collapse", "-q", *local, *options, *(["--unit", "ns"] if off else []), path)
want, total = 0, {}
for line in stacks.splitlines():
    stack, n = line.rsplit(" ", 1)
    want += int(n)
    for f in set(stack.split(";")[1:]):
        total[f] = total.get(f, 0) + int(n)
rows = list(csv.DictReader(io.StringIO(run("report", "-q", "--all", *local, "--by", "function", "--csv", *options, path))))
key = "self_ns" if "self_ns" in rows[0] else "self"
got = sum(int(r[key] or 0) for r in rows)
assert got == want, (options, got, want)
assert abs(sum(float(r["self_percent"]) for r in rows) - 100) < 0.5
# names that no other module has have the totals of their frames
names = [r["function"] for r in rows]
seen = 0
for r in rows:
    if not off and names.count(r["function"]) == 1 and r["function"] in total:
        assert int(r[key.replace("self", "total")]) == total[r["function"]], r
        seen += 1
assert off or seen > 5, seen
P
for f in "$demo" demo.db "$orders" orders.db; do
	case $f in *orders*) event="--event cpu-clock" ;; *) event= ;; esac
	# shellcheck disable=SC2086
	python3 check.py "$PERFKIT" "$f" $event
done
for f in "$orders" orders.db; do
	python3 check.py "$PERFKIT" "$f" --offcpu
	python3 check.py "$PERFKIT" "$f" --offcpu --state blocked --comm front-0
	python3 check.py "$PERFKIT" "$f" --event cpu-clock --comm backtest
done
for by in "" --offcpu; do
	pk report -q --no-local --by function $by "$orders" >file.txt
	pk report -q --by function $by orders.db | cmp - file.txt
	pk report -q --no-local --by function $by - <"$orders" | cmp - file.txt
done
pk report -q --no-local "$SRC/testdata/demo/perf.data" >file.txt
pk report -q --no-local - <"$SRC/testdata/demo/perf.data" | sed '/^recording/,$d' >pipe.txt
sed '/^recording/,$d' file.txt | cmp - pipe.txt

# one screen, and the functions first
for f in "$demo" demo.db "$orders" orders.db; do
	pk report -q --no-local "$f" >report.txt 2>/dev/null || pk report -q "$f" >report.txt
	[ "$(wc -l <report.txt)" -le 24 ] || { echo "$f: $(wc -l <report.txt) lines"; exit 1; }
	head -2 report.txt | grep -q '^CPU time by function: .* samples of cpu-clock' || { cat report.txt; exit 1; }
done
# nothing below 1 % unless asked for
pk report -q --all --no-local --by function "$orders" >some.txt
pk report -q --all --no-local --by function --top 0 "$orders" >all.txt
grep -q 'functions below 1 % (show all with --top 0)' some.txt
[ "$(wc -l <all.txt)" -gt "$(wc -l <some.txt)" ]
[ "$(awk '$(NF - 1) < 1 && /%$/' some.txt | wc -l)" = 0 ]

# a state is of waits, and waits by function need no --by
pk report -q --no-local --by function --offcpu --state blocked "$orders" >file.txt
for o in "--state blocked" "--offcpu --state blocked" "--by function --state blocked"; do
	# shellcheck disable=SC2086
	pk report -q --no-local $o "$orders" | cmp - file.txt
done

# what does not go together
for o in "--by site --offcpu" "--by site --state blocked" "--by function --offcpu --every 1s"; do
	rc=0
	# shellcheck disable=SC2086
	pk report -q --no-local $o "$orders" >out 2>err || rc=$?
	[ $rc = 2 ] || { echo "$o: exit $rc"; cat err; exit 1; }
done

# before and after: the same recording, and one without its largest function's second half
pk report -q --no-local --json --against "$demo" "$demo" >same.json
pk report -q --json --against demo.db demo.db >stored.json
python3 - <<'END'
import json
same, stored = (json.load(open(f))["function"] for f in ("same.json", "stored.json"))
assert len(same) > 5 and not any(r["time"]["change"] for r in same)
assert same == stored
share = sum(r["time"]["before"]["value"] for r in same)
assert abs(share - 1e9) < 1e4, share
END
