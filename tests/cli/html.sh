# html: one self-contained page, its policy, what it carries, what it refuses.
orders=$SRC/testdata/orders/orders.tar.zst demo=$SRC/testdata/demo/perf.data
wrong() { echo "$*"; exit 1; }
"$PERFKIT" html -q --all --no-local -o o.html "$orders" || exit 1
"$PERFKIT" html -q --all --no-local "$orders" >stdout.html || exit 1
cmp o.html stdout.html || exit 1

# Nothing is fetched: no address but names of XML, no element that loads.
grep -o 'https\{0,1\}://[^"'\'' )<]*' o.html | sort -u | grep -v '^http://www.w3.org/\(2000/svg\|1999/xhtml\)$' &&
	wrong "the page names an address"
grep -Eq '<(img|link|iframe|object|embed|audio|video)|@import|url\(http' o.html && wrong "the page loads something"

# The policy allows the one script, by its hash, and none in an attribute.
grep -q "default-src 'none'" o.html || wrong "no policy"
[ "$(grep -c '<script>' o.html)" = 1 ] || wrong "more than one script"
if command -v python3 >/dev/null; then
	python3 - <<'PY' || exit 1
import base64, hashlib, json, re, zlib
page = open("o.html", encoding="utf-8").read()
script = re.search(r"<script>(.*?)</script>", page, re.S).group(1)
want = "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
assert "'%s'" % want in page, "the policy has another hash than the script"
assert "unsafe-inline'; worker-src blob:; script-src 'sha256-" in page and "unsafe-eval" not in page
def blob(name):
    text = re.search(r'<script type="text/plain" id="%s">([^<]*)</script>' % name, page).group(1)
    return zlib.decompress(base64.b64decode(text))
head = json.loads(blob("head"))
columns = blob("columns")
assert sum(c[1] * c[2] for c in head["columns"]) == len(columns), "the head does not fit the columns"
by = {c[0]: c[1] for c in head["columns"]}
assert by["wait.row"] > 2000 and by["run.ns"] > 2000 and by["life.wait"] == by["wait.row"] + by["run.ns"], by
assert head["median"]["stack"] and head["median"]["duration_ns"] < 1e6, head["median"]
graphs = [(g["kind"], g["episode"]) for g in head["graphs"]]
assert graphs[:3] == [("offwake", 0), ("chain", 0), ("tail", 0)] and ("chain", 20) in graphs, graphs
assert by["node.v0"] == sum(g["nodes"] for g in head["graphs"])
assert len(head["tail"]["episodes"]) == len(head["texts"]) == len(head["roots"]) == 20
assert head["texts"][2].lstrip().startswith("#3  front-"), head["texts"][2]
assert blob("timeline").startswith(b"<?xml") and b"<script" not in blob("timeline")
assert b'<g class="plot" id="plot0">\n</g>' in blob("timeline"), "what the script draws is there twice"
assert b'<rect class="run"' in blob("timeline"), "no legend"
for i in range(head["pictures"]):
    assert b"class=\"timeline\"" in blob("episode%d" % (i + 1))
PY
fi

# tail writes the report of its own question, and names the place of what it explains.
"$PERFKIT" tail -q --no-local --by activation --comm front-0 --top 3 --details 2 --html tail.html "$orders" >tail.txt || exit 1
[ "$(grep -c '^    report: tail.html#ep=[12]$' tail.txt)" = 2 ] || wrong "no links: $(grep report tail.txt)"
"$PERFKIT" html -q --no-local --by activation --comm front-0 --top 3 -o same.html "$orders" || exit 1
cmp tail.html same.html || wrong "tail --html is not html"

# Text comes out as text, wherever it is given.
evil='</title><script>alert(1)</script>'
"$PERFKIT" html -q --no-local --title "$evil" -o evil.html "$demo" || exit 1
grep -q 'alert(1)</script>' evil.html && wrong "a title is markup"

# What was not recorded is said, and nothing is drawn of it.
grep -q 'id="timeline"' evil.html && wrong "a timeline without context switches"

# The filters stand in the head.
"$PERFKIT" html -q --no-local --comm front-0 -o front.html "$orders" && grep -q 'filters: comm=front-0' front.html ||
	wrong "the filter is not said"

# Above --max-size short things are summed up, and program and page say so; what is too large even
# so is not written.
most=$(($(wc -c <o.html) * 99 / 100)) mb=$(awk "BEGIN { print $(($(wc -c <o.html) * 99 / 100)) / 1048576 }")
"$PERFKIT" html --all --no-local --max-size "$mb" -o thin.html "$orders" 2>err || wrong "thinned: $(cat err)"
grep -q 'to stay below 0[.0-9]* MB (--max-size), everything shorter than 10*[0.]* [um]s is only summed up' err || wrong "not said: $(cat err)"
[ "$(wc -c <thin.html)" -le $((most + 10)) ] || wrong "thinned to $(wc -c <thin.html) bytes"
"$PERFKIT" html -q --all --no-local --max-size 0.1 -o big.html "$orders" 2>err && wrong "a report above --max-size was written"
[ ! -e big.html ] && grep -q 'exceed --max-size 0.1 MB' err || wrong "--max-size: $(cat err)"
"$PERFKIT" html -o o.html --top 3 --p99 "$orders" 2>err && wrong "--top and --p99 together"

# Of each kind of recording in testdata a page shows a report.
for file in "$SRC"/testdata/*/*.data "$SRC"/testdata/*/*.data.gz "$SRC"/testdata/*/*.tar.zst "$SRC"/testdata/truth/quota/*.data.gz; do
	folder=${file#"$SRC/testdata/"} folder=${folder%/*}
	grep -q "\"$folder/" "$SRC/tests/browser/report_picture.py" || wrong "make pictures draws no report of testdata/$folder"
done
sed -n 's/^    ("\([a-z-]*\)", "[^"]*", .*/kind-\1.webp/p; s/^    ("\(report[^"]*\)".*/\1/p' "$SRC/tests/browser/report_picture.py" >names
[ "$(wc -l <names)" -gt 40 ] || wrong "few pictures"
while read -r name; do
	[ -s "$SRC/docs/pictures/$name" ] || wrong "make pictures has not drawn $name"
	[ "$name" = report.png ] || grep -q "($name)\|pictures/$name" "$SRC/docs/pictures/README.md" "$SRC/docs/html.md" || wrong "docs/pictures/README.md does not show $name"
done <names
[ "$(find "$SRC/docs/pictures" -name 'kind-*' | wc -l)" = "$(grep -c ^kind names)" ] || wrong "a picture of no kind"
exit 0
