#!/bin/sh
# Bounds hold together, too: what is nested, repeated or asked for ends soon, in little memory, with
# one line that says what would be too much, and leaves nothing behind.
set -u
for tool in python3 zstd; do
	command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
python3 "$SRC/tests/tools/bombs.py" . || exit 1
export HOME=$PWD TMPDIR=$PWD/tmp
mkdir tmp
waits=$SRC/testdata/waits/perf.data
bad=0
wrong()
{
	echo "$*: $(head -c 300 err)"
	bad=1
}
# A sanitizer has its own address space, and takes ten times as long.
limit=700000 slow=
nm -D "$PERFKIT" | grep -q "__[a-z]*san_init" && limit=unlimited slow=0

status()  # wanted status, line, command...
{
	want=$1 line=$2
	shift 2
	(ulimit -v $limit; exec timeout 60$slow "$@") >out 2>err <"${input:-/dev/null}"
	rc=$?
	[ $rc = "$want" ] || wrong "exit $rc, not $want: $*"
	[ -z "$line" ] || grep -q -e "$line" err || wrong "$* does not say '$line'"
}

# --- one inside the other -------------------------------------------------------------------
for verb in collapse report doctor svg 'tail --p90' 'timeline -o x.svg' 'export --to pprof' 'import -o x.db' 'collapse --offcpu'; do
	status 3 'nested.data.zst: inflates to more than' "$PERFKIT" $verb -q nested.data.zst
	[ ! -s out ] || wrong "$verb: an answer beside"
	[ ! -e x.svg ] && [ ! -e x.db ] || wrong "$verb leaves $(ls x.*)"
done
for input in nested.data.zst again.zst; do
	[ -e $input ] || zstd -dqc nested.data.zst | zstd -qc --no-check >$input
	for verb in collapse tail; do
		status 3 'stdin: inflates to more than' "$PERFKIT" $verb -q -
	done
done
input=

# --- memory ---------------------------------------------------------------------------------
awk 'BEGIN { for (i = 0; i < 400000; i++) printf "ffffffff%08x T function_number_%d\n", 2164260864 + i * 16, i }' >symbols
for verb in collapse 'tail --p90' 'import -o x.db' 'svg --no-script'; do
	[ $limit != unlimited ] || break # nothing bounds a sanitizer's own memory
	verb="$verb --no-local --kallsyms symbols"
	status 3 'more than 16 MB of memory would be needed (--max-memory' "$PERFKIT" $verb -q --max-memory 16M "$waits"
	[ "$(wc -l <err)" = 1 ] || wrong "$verb says it twice"
	[ ! -e x.db ] || wrong "$verb leaves a store"
	status 0 '' "$PERFKIT" $verb -q --max-memory 16M --force "$waits"
	rm -f x.db
done
for size in x 1 -5G 2X 15M 99999999999G ''; do
	status 2 '--max-memory is a size such as' "$PERFKIT" collapse --max-memory "$size" "$waits"
done

# --- names and outputs ------------------------------------------------------------------------
mkdir o
status 0 '' "$PERFKIT" collapse -q -o folded long.tar.zst
[ "$(wc -l <folded)" = 100 ] || wrong "long names merged: $(wc -l <folded) stacks"
tr ' ;' '\n\n' <folded | head -3000 | awk 'length > 4096 { exit 1 }' || wrong "a name of more than 4 KB"
for verb in collapse svg 'svg --no-script'; do
	status 3 'o/x: would be larger than 64 MB (--max-memory' "$PERFKIT" $verb -q --max-memory 64M -o o/x long.tar.zst
	[ -z "$(ls -A o)" ] || wrong "$verb leaves $(ls -A o)"
done
status 3 'stdout: would be larger than 64 MB' "$PERFKIT" collapse -q --max-memory 64M long.tar.zst
[ "$(wc -c <out)" -le 67108864 ] || wrong "stdout got $(wc -c <out) bytes"
rm -f folded

# What a side file names is cut, too: 30 KB here stand for 40 MB of one key, one label and one name.
python3 - key.csv.gz <<'E2'
import gzip, sys
span, long = "13454395803981,13454395828087,18889,%s,%s\n", "A" * 20000000
with gzip.open(sys.argv[1], "wt") as f:
    f.write("start_ns,end_ns,tid,key,route\n" + span % ("0-0", "/pay") + span % (long, "/x") + span % ("0-1", long))
E2
for verb in 'tail --by span' 'tail --by span --json' timeline html 'export --to firefox' \
	'export --to perfetto' 'report --by span'; do
	status 0 '' "$PERFKIT" $verb -q -f --with key.csv.gz --max-memory 1G "$SRC/testdata/requests/serve.tar.zst"
	[ "$(wc -c <out)" -lt 4000000 ] || wrong "$verb repeats long keys: $(wc -c <out) bytes"
done

# Expressions are matched with cut names: glibc's matcher takes the square of their length.
python3 - "$SRC/testdata/labels/labelled.tar.zst" <<'E2' || bad=1
import os, sqlite3, subprocess, sys
subprocess.run([os.environ["PERFKIT"], "import", "-q", "-f", "-o", "names.db", sys.argv[1]], check=True)
c = sqlite3.connect("names.db")
for (i,) in c.execute("SELECT id FROM symbols").fetchall():
    c.execute("UPDATE symbols SET name = ? WHERE id = ?", ("a" * 65000 + "%04d" % i, i))
c.commit()
E2
status 0 '' timeout 30$slow "$PERFKIT" tail -q -f --p50 --idle-frame '(a|aa)*c' --work-frame '(a|aa|aaa){1,300}c' names.db

# Nor does work grow with the square of the events: each of these took minutes for so many.
for verb in doctor 'import -f -o x.db' 'export -f --to pprof -o x.gz' 'html -o x.html'; do
	status 0 '' timeout 40$slow "$PERFKIT" $verb --no-local events.data
done
rm -f x.db x.gz x.html
# Nor of the threads, here of a process whose first one was not seen.
python3 - <<'E2'
from struct import pack
def record(kind, body):
    return pack("<IHH", kind, 2, 8 + len(body)) + body
data = []
for i in range(2, 300000):
    data.append(record(9, pack("<QIIQQ", 0x400000, 1, i, i, 1000)))
data = b"".join(data)
with open("threads.data", "wb") as f:
    f.write(b"PERFILE2" + pack("<QQQQQQQQ", 104, 144, 104, 144, 248, len(data), 0, 0) + bytes(32))
    f.write(pack("<IIQQQQQ", 1, 128, 0, 1000, 0x107, 0, 1 << 13) + bytes(80) + pack("<QQ", 0, 0) + data)
E2
bound=$limit limit=unlimited # each thread of perfkit's has an arena
for verb in report doctor 'export --to firefox -o x.gz' 'html -o x.html' 'import -o x.db'; do
	status 0 '' timeout 20$slow "$PERFKIT" $verb -q --no-local threads.data
done
rm -f x.db x.gz x.html threads.data && limit=$bound

# No file may become larger than this; SIGXFSZ would end the program without a word.
for verb in collapse 'svg --wall' 'timeline' 'import'; do
	(ulimit -f 8; exec "$PERFKIT" $verb -q --no-local -o o/x "$waits") >out 2>err </dev/null
	rc=$?
	[ $rc = 1 ] || wrong "$verb at the largest file: exit $rc"
	grep -q 'File too large\|disk I/O error' err || wrong "$verb at the largest file"
	[ -z "$(ls -A o tmp)" ] || [ "$(ls -A o tmp | grep -v ':$' | grep -c .)" = 0 ] || wrong "$verb leaves $(ls -A o tmp)"
done

# The last tenth of what is free on a disk stays free.
if [ "$(id -u)" = 0 ] && mkdir disk && mount -t tmpfs -o size=60m perfkit-test disk 2>/dev/null; then
	trap 'umount "$HOME/disk" 2>/dev/null' EXIT
	status 1 'disk/x: stopped, to leave a tenth of the free disk space' "$PERFKIT" collapse -q -o disk/x long.tar.zst
	[ -z "$(ls -A disk)" ] || wrong "left on the disk: $(ls -A disk)"
	umount disk
	trap - EXIT
else
	echo "left out: a small disk (needs root and mount)"
fi

# --- what users give --------------------------------------------------------------------------
status 2 'repetitions expand to more than' "$PERFKIT" collapse --offcpu --idle-frame '((a{1,1000}){1,1000})' "$waits"
status 2 'back references' "$PERFKIT" collapse --offcpu --work-frame '(a)\1' "$waits"
for file in /dev/zero /proc/kmsg .; do
	status 1 "$file: not a regular file" "$PERFKIT" collapse --offcpu --causes $file "$waits"
done
head -c 1100000 /dev/zero >long.rules
status 1 'long.rules: larger than 1 MiB' "$PERFKIT" collapse --offcpu --causes long.rules "$waits"
for option in '-C ,' '--tid ,,,' '--state ,' '--pid ,'; do
	status 2 'the list is empty: --' "$PERFKIT" collapse --offcpu $option "$waits"
done
exit $bad
