#!/bin/sh
# Names of functions that a hostile perf map brings (quotes, markup, bytes that are no UTF-8, control
# characters, texts that turn the reading, escapes that are none, very long ones) are the same names in every
# export: nothing is lost, joined or run.
. "$SRC/tests/lib/readers.sh"
bad=0
wrong() { echo "$*"; bad=1; }
cp -r "$SRC/testdata/perf-map/symfs" . && python3 - <<'END' || wrong "no map"
import pathlib, re
names = [b'say("hi", \'x\')', b"a\\b\\u0041\\n;c", b"bad\xff\xc0\xafutf8\x80", b"</script><img src=x onerror=alert(1)>", b"tab\there\x1b[2Jclear\x07",
         b"nul\\0\\x00%00&#0;", b"rtl\xe2\x80\xae\xe2\x80\xa8sep\xc2\x85", b'{"a":[1,2]}, = $(reboot) `id`', b"L" * 10000, b"L" * 9999 + b"M",
         b"  two  blanks  "]
path, = pathlib.Path("symfs").rglob("perf-*.map")
n = iter(range(10 ** 6))
path.write_bytes(re.sub(rb"(?m)^(\w+ \w+ ).*$", lambda m: m[1] + (lambda k: names[k % len(names)] + b" %d" % k)(next(n)), path.read_bytes()))
END
for f in pprof speedscope firefox perfetto; do
	"$PERFKIT" export -q --no-local --force --to $f --symfs symfs "$SRC/testdata/perf-map/perf.data" -o run.$f 2>err || wrong "$f: $(cat err)"
done
"$PERFKIT" export -q --no-local --to parquet --symfs symfs "$SRC/testdata/perf-map/perf.data" -o tables 2>err || wrong "parquet: $(cat err)"
"$reader" - "$SRC/tests" <<'END' || wrong "names are others"
import json, re, sys
sys.path.insert(0, sys.argv[1])
from exportcheck import Firefox, Perfetto, Pprof
p, f = Pprof("run.pprof"), Firefox("run.firefox").d["shared"]
found = {"pprof": {p.text[x[2][0]] for x in p.functions.values()},
         "speedscope": {x["name"] for x in json.load(open("run.speedscope"))["shared"]["frames"]},
         "firefox": {f["stringArray"][int(i)] for i in f["funcTable"]["name"]},
         "perfetto": set(Perfetto("run.perfetto").names.values())}
try:
    import duckdb
    found["parquet"] = {x for x, in duckdb.connect().execute(
        "SELECT DISTINCT symbol FROM 'tables/frames/*/*/*.parquet' WHERE symbol IS NOT NULL").fetchall()}
except ImportError:
    print("left out: no duckdb here (make readers)")
# JSON and Parquet can hold any character; the others show those that would hide or turn the reading
plain = ['say("hi", \'x\')', "a\\b\\u0041\\n;c", "bad\\xff\\xc0\\xafutf8\\x80", "</script><img src=x onerror=alert(1)>", "tab\there\x1b[2Jclear\x07",
         "nul\\0\\x00%00&#0;", "rtl\u202e\u2028sep\x85", '{"a":[1,2]}, = $(reboot) `id`', None, None, "  two  blanks  "]
shown = list(plain)
shown[4], shown[6] = "tab\u2409here\u241b[2Jclear\u2407", "rtl\\u{202e}\\u{2028}sep\\u{0085}"
ran = {int(m[1]) for x in found["pprof"] for m in [re.search(r" (\d+)$", x)] if m and len(x) < 100 and not x.startswith("JS:")}
assert len({k % 11 for k in ran}) == 9, ran
for form, names in found.items():
    table = shown if form in ("pprof", "perfetto") else plain
    names = {x.replace("\\xFF\\xC0\\xAF", "\\xff\\xc0\\xaf") for x in names if not re.fullmatch(r"\[[\w.-]+\]", x)}
    want = {"%s %d" % (table[k % 11], k) for k in ran}
    long = {x for x in names if x.startswith("LLL")}
    assert names - long == want, (form, names - long ^ want)
    assert len(long) >= 2 and all(len(x) <= 4096 for x in long) and long == {x for x in found["pprof"] if x.startswith("LLL")}, (form, long)
END
exit $bad
