# The filters and picks of tail choose the same episodes in collapse --tail, svg --tail, timeline
# --tail, tail --flame and tail --svg: the same number, and to the nanosecond the same time.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
file=$SRC/testdata/orders-one-cpu/orders.tar.zst
"$PERFKIT" import -q "$file" -o orders.db

# same FILE OPTIONS...: every way of asking agrees; collapse is of the whole machine without --all
same()
{
	asked=$1 all=no
	shift
	[ "$1" != --all ] || all=yes
	"$PERFKIT" tail -q --json "$@" "$asked" >tail.json
	python3 -c 'import json
e = json.load(open("tail.json"))["episodes"]
print(sum(x["duration_ns"] for x in e), len(e))' >expected
	read -r ns episodes <expected
	[ "$episodes" -gt 0 ]
	for o; do
		shift
		[ "$o" = --all ] || set -- "$@" "$o"
	done
	"$PERFKIT" collapse -q --tail --unit ns "$@" "$asked" >tail.folded
	[ "$all" = no ] || set -- --all "$@"
	sum=$(awk '{ sum += $NF } END { printf "%d", sum }' tail.folded)
	[ "$sum" = "$ns" ] || { echo "$*: collapse has $sum ns, tail $ns"; exit 1; }
	"$PERFKIT" svg -q --tail "$@" "$asked" -o tail.svg
	"$PERFKIT" tail -q --flame flame.svg --details 0 "$@" "$asked" >/dev/null
	for picture in tail.svg flame.svg; do
		grep -qx "total $ns" $picture || { echo "$*: $picture is not of $ns ns"; exit 1; }
	done
	"$PERFKIT" timeline -q --tail --no-script "$@" "$asked" -o timeline.svg
	"$PERFKIT" tail -q --svg episodes.svg --details 0 "$@" "$asked" >/dev/null
	drawn=$episodes
	[ "$drawn" -le 10 ] || drawn=10
	for picture in timeline.svg episodes.svg; do
		n=$(grep -o '>#[0-9][0-9]*  ' $picture | sort -u | wc -l)
		[ "$n" = "$drawn" ] || { echo "$*: $picture has $n panels, not $drawn"; exit 1; }
	done
}
for f in "$file" orders.db; do
	same "$f" --by activation --comm front-0,front-1 --over 2ms
	same "$f" --comm front-0 --p99
	same "$f" --comm front-0,front-1 --cause lock --top 7
	same "$f" --all --by activation --pct 97.5 --idle
	same "$f" --all --state runnable --top 9 --time ,7184.2 --force
done

# episodes one by one in time: the picture's panels are tail's worst, in order
"$PERFKIT" tail -q --comm front-0 --top 3 --csv "$file" | sed 1d | cut -d, -f3 >tids
"$PERFKIT" timeline -q --tail --no-script --comm front-0 --top 3 "$file" -o three.svg
[ "$(wc -l <tids)" = 3 ]
grep -o '>#[0-9]*  *[^,]*,' three.svg | sed 's/.*\///; s/,//' | cmp - tids

# an id names one episode, in a recording and its store alike, whichever filters leave it; part of one will do
python3 - "$PERFKIT" "$file" <<'END'
import json, subprocess, sys
perfkit, bundle = sys.argv[1:]
def ask(*args, rc=0):
    p = subprocess.run([perfkit, "tail", "-q", "--json", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.returncode == rc, (args, p)
    return json.loads(p.stdout)["episodes"] if rc == 0 else p.stderr.decode()
for by in "wait", "activation":
    v = ask("--by", by, "--top", "4", "--rows", "0", bundle)
    assert len({e["id"] for e in v}) == 4 and v[0]["id"].startswith("%s:%d+" % (by, v[0]["tid"])), v[0]["id"]
    assert [e["id"] for e in ask("--by", by, "--top", "4", "--rows", "0", "orders.db")] == [e["id"] for e in v]
    for e in v:
        for where in (bundle,), ("--comm", e["comm"], "orders.db"), ("--all", "--tid", str(e["tid"]), bundle):
            got = ask("--episode", e["id"], *where)
            assert [(x["id"], x["duration_ns"]) for x in got] == [(e["id"], e["duration_ns"])], (e["id"], where, got)
    whole = v[0]
    short = "%d+%.6f" % (whole["tid"], whole["start_ns"] // 1000 / 1e6)
    assert [e["id"] for e in ask("--by", by, "--episode", short, bundle)] == [whole["id"]], short
    inside = "%s:%d+%d.%09d" % ((by, whole["tid"]) + divmod(whole["start_ns"] + whole["duration_ns"] // 2, 10**9))
    assert [e["id"] for e in ask("--episode", inside, bundle)] == [whole["id"]], inside
w = ask("--by", "wait", "--top", "1", bundle)[0]
origin = int(json.loads(subprocess.check_output([perfkit, "tail", "-q", "--json", bundle]))["recording"]["origin_ns"])
at = origin + w["start_ns"] + w["duration_ns"] // 2
cut = ask("--episode", w["id"], "--time", "%d.%09d," % divmod(at, 10**9), bundle)
assert [e["id"] for e in cut] == [w["id"]] and cut[0]["duration_ns"] < w["duration_ns"], cut
assert "no wait is wait:1+0.5" in ask("--episode", "wait:1+0.5", bundle, rc=3)
for bad in "8859", "wait:8859", "lunch:1+2", "1+2+3", "1+2.0000000001", "wait:-1+2", "":
    assert "--episode takes" in ask("--episode", bad, bundle, rc=2), bad
END
"$PERFKIT" timeline -q --tail --no-script --episode "$("$PERFKIT" tail -q --json --top 1 orders.db |
	sed -n 's/.*"rank":1,"id":"\([^"]*\)".*/\1/p')" orders.db -o one.svg
[ "$(grep -o '>#[0-9][0-9]*  ' one.svg | sort -u | wc -l)" = 1 ]

usage()
{
	rc=0
	"$PERFKIT" "$@" "$file" >/dev/null 2>err || rc=$?
	[ $rc = 2 ] || { echo "$*: exit $rc"; cat err; exit 1; }
}
# --top 0 is all of them, as --rows 0 is
[ "$("$PERFKIT" tail -q --comm front-0 --top 0 --csv "$file" | wc -l)" = \
	"$("$PERFKIT" tail -q --comm front-0 --over 0ns --csv "$file" | wc -l)" ]

usage collapse --top 3
usage collapse --top 0
usage collapse --tail --offcpu
usage collapse --tail --by lunch
usage timeline --cause lock -o x.svg
usage timeline --tail --cpus -o x.svg
usage svg --tail --p99 --top 3 -o x.svg
rc=0
"$PERFKIT" collapse --tail "$SRC/testdata/demo/perf.data" 2>err >out || rc=$?
[ $rc = 3 ]
grep -q "record with: perfkit record tail$" err
