# collapse --offcpu and svg --offcpu keep run-queue delay apart from blocked time: below [runnable], in no
# cause's colour, with the sums of --state to the nanosecond; from file and store alike.
set -eu
orders=$SRC/testdata/orders/orders.tar.zst
pk() { "$PERFKIT" "$@"; }
sum() { awk '{ s += $NF } END { printf "%.0f\n", s }' "$@"; }
pk import -q --no-local "$orders" -o orders.db
for f in "--no-local $orders" orders.db; do
	# shellcheck disable=SC2086
	pk collapse -q --offcpu --unit ns $f >all.folded
	for state in runnable blocked unknown; do
		# shellcheck disable=SC2086
		pk collapse -q --offcpu --unit ns --state $state $f >$state.folded
	done
	[ "$(grep '^[^;]*;\[runnable\]' all.folded | sum)" = "$(sum runnable.folded)" ]
	[ "$(grep -v '^[^;]*;\[runnable\]' all.folded | sum)" = "$(cat blocked.folded unknown.folded | sum)" ]
	! grep -v '^[^;]*;\[runnable\]' runnable.folded || exit 1
	! grep '\[runnable\]' blocked.folded unknown.folded || exit 1
	[ "$(sum runnable.folded)" -gt 0 ]
	cp all.folded "all-$(echo "$f" | wc -w)"
done
cmp all-1 all-2

# the picture: of each box with the name of a cause, whether it is above [runnable]
pk svg -q --all --no-local --no-script --offcpu --minwidth 0 "$orders" -o off.svg
grep -q 'blocked 3.9 s, runnable (run-queue delay) 103 ms, state unknown 1.5 s' off.svg
python3 - "$(sum runnable.folded)" "$(sum blocked.folded)" <<'END'
import re, sys
text = open("off.svg").read()
legend = re.findall(r'fill="(#[0-9a-f]{6})"/><text x="17" y="10">([^<]*)<', text)
colors = {t.split()[0]: c for c, t in legend}
assert {"runnable", "sleep", "pipe", "lock"} <= set(colors), legend
assert len({colors[n] for n in ("runnable", "sleep", "pipe", "lock")}) == 4, legend
assert "runnable 103 ms" in [t for _, t in legend], legend

# what the legend says adds up to --state: run-queue delay, and the causes to blocked time
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
said = {False: 0, True: 0}
rounded = {False: 0, True: 0}
for _, words in legend:
    got = re.fullmatch(r"(.*) ([0-9.]+) (s|ms|us|ns)", words)
    if got:
        kind = got[1] == "runnable"
        said[kind] += float(got[2]) * UNITS[got[3]]
        rounded[kind] += UNITS[got[3]] * (0.051 if "." in got[2] else 0.51)
for kind, ns in ((True, int(sys.argv[1])), (False, int(sys.argv[2]))):
    assert abs(said[kind] - ns) <= rounded[kind], (kind, said, ns, legend)
END
