# perfkit as WebAssembly in node: the same answers, status, standard input, files and names.
# Needs what `make npm` builds, which takes emscripten and some minutes; make does not build it by itself.
set -e
command -v node >/dev/null 2>&1 || { echo "no node here"; exit 77; }
node "$SRC/tests/lib/block_files.cjs" "$SRC"
package=$O/npm/package
[ -f "$package/perfkit.wasm" ] || { echo "no $package/perfkit.wasm here (make npm, with emscripten)"; exit 77; }
wasm() { node "$package/perfkit-cli.js" "$@"; }
demo=$SRC/testdata/demo/perf.data orders=$SRC/testdata/orders/orders.tar.zst

# small enough to be sent, and true about what is inside
[ "$(gzip -9c "$package/perfkit.wasm" | wc -c)" -le 1500000 ]
wasm --version >version
grep -q "^libtraceevent $(sed -n 's/^libtraceevent [0-9]*:*\([0-9.]*\).*/\1/p' "$SRC/packaging/wasm_libs.txt")\$" version
grep -q '^sandbox       that of WebAssembly$' version

same() # verb and options - stdout, stderr and status are those of the native program
{
	"$PERFKIT" "$@" >want 2>want.err && status=0 || status=$?
	wasm "$@" >got 2>got.err && now=0 || now=$?
	[ $now = $status ] || { echo "$*: status $now, want $status"; cat got.err; exit 1; }
	cmp want got
	cmp want.err got.err
}
for of in "$demo" "$orders"; do
	same report --no-local "$of"
	same svg --no-local "$of"
	same doctor --no-local "$of"
	same export --no-local --to pprof "$of"
done
same html --no-local "$demo"
# the page of a program that has lines and code lacks its instructions alone
"$PERFKIT" html --no-local "$orders" | grep -v -e 'id="columns"' -e 'id="source-data"' >want
wasm html --no-local "$orders" >page
grep -v -e 'id="columns"' -e 'id="source-data"' page | cmp - want
same tail --no-local --by activation --over 2ms "$orders"
same report --no-local --format json "$orders"
same tail --no-local --budget 4000 "$orders"
same report nowhere.data
same report --wrong
same help tail

# a recording is read in pieces: neither its size nor where it stands costs memory or 32 bits
node -e '
	const fs = require("fs"), b = fs.readFileSync(process.argv[1]), fd = fs.openSync("far.data", "w");
	const data = Number(b.readBigUInt64LE(40)), at = 2 ** 32 + 4096;
	b.writeBigUInt64LE(BigInt(at), 40);
	fs.writeSync(fd, b, 0, b.length, 0);
	fs.writeSync(fd, b, data, b.length - data, at);' "$demo"
same collapse --no-local far.data
rm far.data
"$O/tests/prog/grow" "$demo" large.data 100000000
same report --no-local --max-memory 64M large.data

# nor does what is unpacked, whose blocks leave memory; a pipe, too
zstd -q large.data
same report --no-local --max-memory 64M large.data.zst
"$PERFKIT" report --no-local - <large.data.zst >want
cat large.data.zst | wasm report --no-local --max-memory 64M - | cmp - want
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'perfkit-*' -newer large.data.zst)" ]
rm large.data large.data.zst

# standard input, a file that is written, and names in other scripts
mkdir links
ln -s links/../b.data links.data && ln -s "$demo" b.data
same collapse --no-local links.data
mkdir 'Ordner für 記録'
cp "$orders" 'Ordner für 記録/ö.tar.zst'
(cd 'Ordner für 記録' && "$PERFKIT" svg -q --no-local ö.tar.zst >../want && wasm svg -q --no-local ö.tar.zst -o é.svg)
cmp want 'Ordner für 記録/é.svg'
[ "$(ls 'Ordner für 記録' | wc -l)" = 2 ]
"$PERFKIT" collapse --no-local "$demo" >want
wasm collapse --no-local - <"$demo" | cmp - want
cat "$demo" | wasm collapse --no-local - | cmp - want
wasm import -q --no-local "$orders" -o run.db
wasm report run.db >got
"$PERFKIT" report run.db | cmp - got
"$PERFKIT" import -q --no-local "$orders" -o native.db
python3 - run.db native.db <<'END'
import sqlite3, sys
was, now = (list(sqlite3.connect(f).iterdump()) for f in sys.argv[1:])
assert len(was) > 1000 and was == now
END

# lines that end as Windows ends them
"$PERFKIT" collapse --no-local "$demo" | sed 's/$/\r/' >crlf.folded
same svg crlf.folded
printf 'start_ns,end_ns,tid,key\r\n45745720000000,45745730000000,,a\r\n' >spans.csv
same tail --no-local --with spans.csv --by span --csv --force "$orders"

# Ctrl-C ends it at once, also while it waits for standard input, and leaves nothing
mkdir left
TMPDIR=$PWD/left python3 - "$package/perfkit-cli.js" "$demo" <<'END'
import signal, subprocess, sys, time
p = subprocess.Popen(["node", sys.argv[1], "svg", "-o", "left/out", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdin.write(open(sys.argv[2], "rb").read()[:5000])
p.stdin.flush()
time.sleep(1)
p.send_signal(signal.SIGINT)
assert p.wait(20) == -signal.SIGINT, p.returncode
END
[ -z "$(ls -A left)" ]

# what a shell of Windows leaves to the program
touch a1.data a2.data b.txt
node -e 'const {expand, inside} = require(process.argv[1]); console.log(expand("a?.data").concat(expand("*.none"), inside("C:\\x\\y z.data")).join(" "))' \
	"$package/perfkit-cli.js" >got
echo 'a1.data a2.data *.none /C:/x/y z.data' | cmp - got

# what it cannot is one sentence; what does not fit, too
for verb in record watch fleet mcp; do
	wasm $verb cpu >got 2>err && exit 1
	[ "$(wc -l <err)" = 1 ]
	grep -q 'needs Linux, and this is WebAssembly' err
	[ ! -s got ]
done
wasm report --no-local --max-memory 16M "$orders" >got 2>err && exit 1 || [ $? = 3 ]
grep -q 'of memory would be needed' err
