#!/bin/sh
# Texts of a recording never reach a terminal as they are: no verb prints a control character
# that a comm, path, host, command line or event brought along, and a line stays one line.
"$O/tests/prog/hostile" >perf.data || { echo "no recording"; exit 1; }
cp perf.data "$(printf 'a\033[2Jb.data')"
failed=0
check()  # what
{
	for f in out err; do
		LC_ALL=C tr -d '\n\t -~\200-\377' <$f >left
		[ -s left ] && { echo "$1: control characters on $f:"; od -c left | head -3; failed=1; }
		LC_ALL=C grep -q "$(printf '\302\233')" $f && { echo "$1: CSI on $f"; failed=1; }
	done
	return 0
}
try()
{
	"$PERFKIT" "$@" >out 2>err </dev/null
	[ -s out ] || [ -s err ] || { echo "$*: nothing printed"; failed=1; }
	check "$*"
}
named=$(printf 'a\033[2Jb.data')
try collapse perf.data
[ "$(wc -l <out)" = 1 ] || { echo "collapse: $(wc -l <out) lines"; failed=1; }
try collapse --addrs --tid-name perf.data
try collapse -e nothing perf.data
try collapse --offcpu perf.data
try collapse --offcpu --force perf.data
try report perf.data
try report --stats perf.data
try report "$named"
try doctor perf.data
try doctor --for tail "$named"
try doctor --json perf.data
try tail perf.data
try tail --force perf.data
try timeline perf.data
try html perf.data
try import perf.data -o run.db
try report run.db
try svg perf.data
try svg "$named.none"
try pack perf.data -o run.pk
try unpack "$named"
try "$named"
try svg --color "$named" perf.data
head -c 900 perf.data >"$named.cut"
try collapse "$named.cut"

# threads that wait, and whose names know markup and tables too: every kind of answer, from the
# recording and from a store, against that about threads with plain names
mkdir seeds
"$O/tests/fuzz/seeds" seeds || { echo "no recording"; exit 1; }
cp seeds/perfdata/story plain.data
cp seeds/perfdata/story-nasty nasty.data
force="--force --idle --system"
for name in plain nasty; do
	try import $name.data -o $name.db
	for input in $name.data $name.db; do
		try report $input
		for by in --offcpu --offwake; do
			# shellcheck disable=SC2086
			try collapse $by $force $input
			[ "$(LC_ALL=C grep -c ' [0-9]*$' out)" = "$(wc -l <out)" ] ||
				{ echo "collapse $by: lines without a count"; failed=1; }
			# shellcheck disable=SC2086
			try svg $by $force $input
			cp out "$input$by.svg"
		done
		try svg --wall --force $input
		cp out $input-wall.svg
		try timeline --force --system $input
		cp out $input-timeline.svg
		# shellcheck disable=SC2086
		try tail $force --open --top 5 $input
		# shellcheck disable=SC2086
		try tail $force --open --top 5 --json $input
		cp out $input.json
		try report --brief $input
		cp out $input.md
		# shellcheck disable=SC2086
		try tail $force --open --top 5 --csv $input
		cp out $input.csv
	done
done
command -v python3 >/dev/null && { python3 - <<'END' || failed=1; }
import csv, glob, json, re, xml.etree.ElementTree as xml
def elements(f):
    return [(x.tag, sorted(x.attrib)) for x in xml.parse(f).iter()]
pictures = glob.glob("plain.*.svg")
assert len(pictures) == 8, pictures
for f in pictures:
    assert elements(f) == elements(f.replace("plain", "nasty")), "%s: names make elements" % f
for f in glob.glob("*.md"):
    text = open(f).read()
    assert "`" in text, text
    assert not re.search(r"[][<>&*|@!`]", re.sub(r"`[^`\n]+`|```\n[^`]*```\n", "", text)), (f, text)
for f in glob.glob("*.json"):
    json.load(open(f))
for f in glob.glob("*.csv"):
    rows = list(csv.reader(open(f, newline="")))
    assert len(rows) > 1 and len({len(r) for r in rows}) == 1, (f, [len(r) for r in rows])
END
# each text of a store in turn
command -v python3 >/dev/null && { python3 - "$PERFKIT" <<'END' || failed=1; }
import re, shutil, sqlite3, subprocess, sys
db = sqlite3.connect("nasty.db")
columns = [(t, c[1]) for t, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
           for c in db.execute("PRAGMA table_info(%s)" % t) if c[2] == "TEXT"]
assert len(columns) > 30, columns
bad = 0
for table, column in columns:
    shutil.copy("nasty.db", "spoilt.db")
    with sqlite3.connect("spoilt.db") as db:
        db.execute("UPDATE %s SET %s = %s || ? || hex(randomblob(4))" % (table, column, column), ("\x1b[2J\x07\x9b\r",))
    for verb in ("doctor", "report --brief", "tail --force --idle"):
        p = subprocess.run([sys.argv[1], *verb.split(), "spoilt.db"], capture_output=True)
        if re.search(rb"[\0-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", p.stdout + p.stderr):
            print(verb, "prints the controls of", table, column)
            bad = 1
sys.exit(bad)
END
printf 'a\033[2J;b\n' | "$PERFKIT" svg - -o x.svg >out 2>err
check "svg of folded text"
exit $failed
