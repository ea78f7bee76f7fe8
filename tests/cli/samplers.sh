# What other jitter samplers write (InfluxDB lines, sysjitter --raw) and HdrHistogram's interval logs:
# made here from the kept gaps, whole, torn, shuffled and on a wrong clock. What they do not tell is
# not invented: intervals where there is no exact place, windows where there is no CPU.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
kept=$SRC/testdata/jitter
file=$kept/gaps.tar.zst
bad() { echo "$*"; exit 1; }
refused()
{
	want=$1 words=$2
	shift 2
	rc=0
	"$PERFKIT" "$@" "$file" 2>err >out || rc=$?
	{ [ $rc = "$want" ] && grep -qF -e "$words" err; } || bad "$*: exit $rc: $(cat err)"
}
gaps() { "$PERFKIT" tail --no-local --by gap --top 0 --json --with "$1" "$file" 2>err; }

# InfluxDB: as the CSV of the same sampler
sed 1d "$kept/sampler.csv" | awk -F, '{ printf "jitter,host=a\\ b,cpu=1 latency=%si %s\n", $2, $1 }' >all.lp
gaps "$kept/sampler.csv,cpu=1" >csv.json
gaps all.lp | cmp - csv.json
gaps "$kept/sampler.lp" | cmp - csv.json
gaps all.lp >again.json
grep -q 'all.lp: [0-9]* gaps on CLOCK_REALTIME (assumed: on no other do they lie in the recording), within 1.0 us; each somewhere in an interval of' err || bad "$(cat err)"
sed 's/host=a/host=a\\,cpu=3/' all.lp >comma.lp # of the host's name
gaps comma.lp | cmp - csv.json
# fields that are strings, with what would end a field or the line
sed 's/latency=/unit="ns, cpu=3 \\" x",latency=/; s/i \([0-9]*\)$/i,by="a \\\\" \1/' all.lp >strings.lp
grep -q 'unit="ns, cpu=3 \\" x",latency=[0-9]*i,by="a \\\\" [0-9]*$' strings.lp || bad strings.lp
gaps strings.lp | cmp - csv.json
sed 's/,cpu=1//; s/latency/jitter/; s/i \([0-9]*\)$/ \1/' all.lp >nocpu.lp
gaps nocpu.lp,cpu=1 | cmp - csv.json
refused 2 'nocpu.lp: its gaps name no CPU' tail -q --no-local --by gap --with nocpu.lp
sort -r all.lp >shuffled.lp
gaps shuffled.lp | cmp - csv.json
{ cat all.lp; echo 'jitter,cpu=1 latency=5'; echo 'jitter,cpu=x latency=5i 1795399427345795288'; echo 'jitter,cpu=1 speed=5 1795399427345795288'; printf 'jitter,cpu=1 late'; } >torn.lp
gaps torn.lp | cmp - csv.json
grep -q 'torn.lp: 4 of .* rows are left out: line [0-9]*: its time is not a number of ns; line [0-9]*: its CPU is not a number; line [0-9]*: no field latency' err || bad "$(cat err)"
refused 3 'its times are on CLOCK_MONOTONIC_RAW, which cannot be matched' tail -q --no-local --by gap --with all.lp,clock=raw
sed 's/i 1795/i 1695/' all.lp >early.lp
refused 3 'are outside of the recording' tail -q --no-local --by gap --with early.lp

# sysjitter: a start that is not told, a frequency that is roughly known
python3 - "$kept/gaps.txt" <<'END'
import sys
rows = [tuple(map(int, x.split()[2:])) for x in open(sys.argv[1]) if x.startswith("gap ")]
start, last = 37568390000000, 0
head = "#      Timestamp      delta   <== interruption =>\n#         (nsec)     (usec)   (cycles)     (nsec)\n"
short = "#      Timestamp   <== interruption =>\n#         (nsec)   (cycles)     (nsec)\n"
with open("raw.1", "w") as f, open("sorted.1", "w") as g, open("torn.1", "w") as t:
    f.write(head), g.write(short), t.write(head)
    lines = []
    for a, b in rows:
        ts, n = b - start, b - a
        drift = ts * (1 + 2e-4)  # as 200 ppm make it
        lines.append((n, "%16d %10d %10d\n" % (drift, n * 2, n)))
        f.write("%16d %10d %10d %10d\n" % (drift, (ts - last) // 1000, n * 2, n))
        t.write("%16d %10d %10d %10d\n" % (drift, (ts - last) // 1000, n * 2, n))
        last = ts
    g.writelines(x for _, x in sorted(lines, reverse=True))
    t.write("        12 3 4 5 6\n     1 2 3 999999\n     12 3\n")
END
refused 3 'raw.1: its times count from its own start, which the file does not contain: give ,offset=NS' tail -q --no-local --by gap --with raw.1,cpu=1
refused 2 'raw.1: its gaps name no CPU' tail -q --no-local --by gap --with raw.1,offset=37568390000000
gaps raw.1,cpu=1,offset=37568390000000 >raw.json
grep -q 'each somewhere in an interval of' err || bad "$(cat err)"
gaps sorted.1,cpu=1,offset=37568390000000 | cmp - raw.json
gaps torn.1,cpu=1,offset=37568390000000 | cmp - raw.json
grep -q 'torn.1: 3 of .* rows are left out: line [0-9]*: it has more columns' err || bad "$(cat err)"
gaps "$kept/gaps.txt" >exact.json
python3 - <<'END'
import json
exact, rough = (json.load(open(f))["episodes"] for f in ("exact.json", "raw.json"))
assert sorted(e["duration_ns"] for e in exact) == sorted(e["duration_ns"] for e in rough)
placed = [e for e in rough if e["placed"]]
assert len(placed) >= 5, len(placed)
# where one was found, it is a true gap of that length; a length alone can mislead of short ones
wrong = [e for e in placed if not any(x["start_ns"] <= e["end_ns"] and e["start_ns"] <= x["end_ns"] and
                                      abs(x["duration_ns"] - e["duration_ns"]) < 2000 for x in exact)]
assert len(wrong) * 10 < len(placed) and all(e["duration_ns"] < 20_000 for e in wrong), wrong
END

# jHiccup: an interval and its worst, and no more: windows
read -r wall <<END
$(sed -n 2p "$kept/sampler.csv" | cut -d, -f1)
END
base=$((wall / 1000000000)).$(printf %03d $((wall / 1000000 % 1000)))
{
	echo '#[Logged with jHiccup version 2.0.10]'
	echo '#[Histogram log format version 1.3]'
	echo "#[StartTime: $base (seconds since epoch), Mon Nov 23 00:00:00 UTC 2026]"
	echo '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
	echo '0.010,0.050,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GB'
	echo 'Tag=control,0.060,0.050,0.881,HISTFAAAAEV42pNpmSzMwMCgyAAB'
	echo '0.110,0.050,9.1,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GB'
} >jvm.hlog
windows() { "$PERFKIT" tail --no-local --comm spinner --by window --top 0 --json --with "$1" "$file" 2>err; }
windows jvm.hlog >windows.json
grep -q 'jvm.hlog: 3 spans on CLOCK_REALTIME, within 1.0 us' err || bad "$(cat err)"
python3 - "$base" <<'END'
import json, sys
e = json.load(open("windows.json"))["episodes"]
assert len(e) == 3 and all(x["duration_ns"] == 50_000_000 for x in e), e
assert [sorted(x["start_ns"] for x in e)[i + 1] - sorted(x["start_ns"] for x in e)[i] for i in (0, 1)] == [50_000_000] * 2
END
"$PERFKIT" tail -q --no-local --comm spinner --by window --where tag=control --json --with jvm.hlog "$file" |
	grep -q '"count":1,' || bad "the tag is no label"
refused 3 'no gaps' tail -q --no-local --by gap --with jvm.hlog
{ cat jvm.hlog; echo '0.160,0.050'; echo 'Tag=x'; printf '0.160,0.050,1,HI'; } >torn.hlog
windows torn.hlog | cmp - windows.json
grep -q 'torn.hlog: 3 of 6 rows are left out' err || bad "$(cat err)"
sed "s/^#.StartTime.*/#[BaseTime: $base (seconds since epoch)]/" jvm.hlog >based.hlog
windows based.hlog | cmp - windows.json
sed "s/StartTime: [0-9.]*/StartTime: 1441812279.474/" jvm.hlog >other.hlog
windows other.hlog >out && bad "windows outside of the recording"
grep -q 'other.hlog: its times .* are outside of the recording' err || bad "$(cat err)"
{ sed -n 1,4p jvm.hlog; echo "$base,0.050,2.769,HISTFAAAAEV42"; } >absolute.hlog
windows absolute.hlog | grep -q '"duration_ns":50000000' || bad "absolute times: $(cat err)"

# gaps as CSV are those of JSON
gaps "$kept/gaps.txt" >all.json
"$PERFKIT" tail -q --no-local --by gap --top 0 --csv --with "$kept/gaps.txt" "$file" >all.csv
origin=$("$PERFKIT" tail -q --no-local --by wait --json --top 1 "$file" |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["recording"]["origin_ns"])')
python3 - "$origin" <<'END'
import csv, json, sys
origin, want = int(sys.argv[1]), []
for e in json.load(open("all.json"))["episodes"]:
    for p in e["parts"]:
        want.append((e["rank"], e["cpu"], e["start_ns"] + origin, e["end_ns"] + origin, e["duration_ns"], int(e["open"]),
                     p["by"], p.get("comm") or p.get("vector") or "", p.get("tid", ""), p["ns"]))
got = [(int(r["rank"]), int(r["cpu"]), int(r["start_ns"]), int(r["end_ns"]), int(r["duration_ns"]), int(r["open"]), r["by"],
        r["name"], int(r["tid"]) if r["tid"] else "", int(r["part_ns"])) for r in csv.DictReader(open("all.csv"))]
assert got == want and got, (got[:3], want[:3])
END
exit 0
