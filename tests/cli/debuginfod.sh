# Files by build-id from a debuginfod server: one of python's http.server here, with one file.
command -v python3 >/dev/null || { echo "python3 is not here"; exit 77; }
command -v readelf >/dev/null || { echo "readelf is not here (binutils)"; exit 77; }
ldconfig -p | grep -q libdebuginfod.so.1 || { echo "libdebuginfod is not here"; exit 77; }
dsofind=$O/tests/prog/dsofind
id=$(readelf -n "$PERFKIT" 2>/dev/null | sed -n 's/.*Build ID: //p')
[ -n "$id" ] || { echo "this build has no build-ids"; exit 77; }

mkdir -p "www/buildid/$id" www/buildid/00112233 cache
cp "$PERFKIT" "www/buildid/$id/executable"
cp "$PERFKIT" www/buildid/00112233/executable # a server that lies
python3 - >port <<'PY' &
import functools, http.server
h = functools.partial(http.server.SimpleHTTPRequestHandler, directory='www')
h.func.log_message = lambda *a: None
s = http.server.HTTPServer(('127.0.0.1', 0), h)
print(s.server_port, flush=True)
s.serve_forever()
PY
server=$!
trap 'kill $server' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s port ] && break; sleep 0.3; done
[ -s port ] || { echo "no local server can be started"; exit 77; }
export DEBUGINFOD_CACHE_PATH="$PWD/cache" no_proxy=127.0.0.1
find_it() { "$dsofind" --no-local --buildid-dir '' --debuginfod /opt/app/bin/x "$1" | head -2; }

unset DEBUGINFOD_URLS
find_it "$id" >off
export DEBUGINFOD_URLS="http://127.0.0.1:$(cat port)"
"$dsofind" --no-local --buildid-dir '' /opt/app/bin/x "$id" >notasked
[ -z "$(ls cache)" ] || { echo "asked without --debuginfod"; exit 1; }
find_it "$id" >on
find_it 00112233 >lie
cat off notasked on lie
[ "$(head -1 off)" = "not found" ] && [ "$(head -1 notasked)" = "not found" ] &&
	[ "$(head -1 on)" = found ] && grep -q "^runtime 8 $PWD/cache/" on &&
	[ "$(head -1 lie)" = "build-id mismatch" ] || exit 1

# A verb says what it fetches and from where: one line a file, or one that is redrawn.
# (The recording is a bundle without files: what this machine has is not asked then.)
"$PERFKIT" pack -q --no-local --buildid-dir '' "$SRC/testdata/dwarf/perf.data" -o bare.tar.zst
recording=$PWD/bare.tar.zst
binary=$(find "$SRC/testdata/dwarf/symfs" -name nofp)
id=$(readelf -n "$binary" | sed -n 's/.*Build ID: //p')
mkdir -p "www/buildid/$id"
cp "$binary" "www/buildid/$id/executable"
host=127.0.0.1:$(cat port)
ask() { "$PERFKIT" collapse --buildid-dir /nonexistent "$@" "$recording"; }
DEBUGINFOD_URLS='' ask >named 2>err
grep -q ';descend' named && { echo "named without any file"; exit 1; }
ask >named 2>err || { echo "collapse: exit $?"; exit 1; }
grep -q ';descend' named || { echo "not named from the server"; cat err; exit 1; }
grep -qF "perfkit: fetched executable of /srv/perfkit/nofp from $host, 0.0 MB" err ||
	{ echo "not said:"; cat err; exit 1; }
ask 2>err >/dev/null
grep -q fetched err && { echo "fetched again from the cache"; exit 1; }
rm -rf cache && mkdir cache
ask --no-local >named 2>/dev/null
grep -q ';descend' named && { echo "--no-local asked a server"; exit 1; }
ask -q 2>err >/dev/null
[ ! -s err ] || { echo "-q: $(cat err)"; exit 1; }

# `source` shows the text that the server has for this program, below its path as compiled; a text that
# is here comes first; --no-local asks nobody
symfs=$SRC/testdata/inlined/symfs
id=$(readelf -n "$symfs/srv/perfkit/inlined" | sed -n 's/.*Build ID: //p')
mkdir -p "www/buildid/$id/source"
sed 's/r \* base/r * served/' "$SRC/testdata/inlined/inlined.cc" >"www/buildid/$id/source/inlined.cc"
lines() { "$PERFKIT" source --symfs "$symfs" power "$SRC/testdata/inlined/perf.data" "$@" >lines 2>err; }
lines && grep -q '38 .*r = r \* served' lines && grep -q '^./inlined.cc (not checked' lines &&
	grep -qF "perfkit: fetched source of /inlined.cc from $host" err || { echo "no source from the server"; cat lines err; exit 1; }
lines --source-dir "$SRC/testdata/inlined" && grep -q '38 .*r = r \* base' lines || { echo "not the text that is here"; exit 1; }
rm -rf cache && mkdir cache
lines --no-local && grep -q 'its text is not below' lines && [ -z "$(ls cache)" ] || { echo "--no-local asked for source"; exit 1; }
if command -v script >/dev/null; then
	rm -rf cache && mkdir cache
	script -qec "'$PERFKIT' collapse --buildid-dir /nonexistent '$recording' 2>&1 >/dev/null" \
		tty >/dev/null
	grep -qF "fetching executable of /srv/perfkit/nofp from $host" tty ||
		{ echo "no progress line on a terminal:"; cat -v tty; exit 1; }
fi

# A server that redirects to a file of this machine, announces more than any file has, sends without
# an end, hardly anything, or little that unpacks to much: no name, and not asked for the other files.
cat >hostile.py <<'PY'
import http.server, socketserver, time, zlib
class Hostile(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mode, path = open("mode").read().split()
        print(self.path, file=open("asked", "a"))
        self.send_response(302 if mode == "link" else 200)
        self.send_header("Location", path) if mode == "link" else None
        self.send_header("Content-Length", str(1 << 40)) if mode == "large" else None
        self.send_header("Content-Encoding", "gzip") if mode == "bomb" else None
        self.end_headers()
        piece = b"x" * (1 << 20 if mode == "large" else 1)
        try:
            if mode == "bomb": # blocks of a megabyte that begin anew
                z = zlib.compressobj(9, zlib.DEFLATED, 31)
                self.wfile.write(z.compress(b"x") + z.flush(zlib.Z_FULL_FLUSH))
                piece = z.compress(b"x" * (1 << 20)) + z.flush(zlib.Z_FULL_FLUSH)
            while mode != "link":
                self.wfile.write(piece)
                time.sleep(0 if mode == "large" else 0.01 if mode == "bomb" else 0.1)
        except OSError:
            pass
    def log_message(self, *a):
        pass
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
s = Server(("127.0.0.1", 0), Hostile)
print(s.server_port, flush=True)
s.serve_forever()
PY
python3 hostile.py >port2 &
server="$server $!"
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s port2 ] && break; sleep 0.3; done
export DEBUGINFOD_URLS="http://127.0.0.1:$(cat port2)" DEBUGINFOD_TIMEOUT=1
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # of dprintf(3) in libdebuginfod
for mode in link large slow bomb; do
	[ $mode != bomb ] || export DEBUGINFOD_TIMEOUT=60 DEBUGINFOD_MAXSIZE=50000000
	rm -rf cache asked && mkdir cache
	echo "$mode file://$binary" >mode
	timeout 60 "$PERFKIT" collapse --buildid-dir /nonexistent "$recording" >named 2>err || { echo "$mode: status $?, $(cat err)"; exit 1; }
	grep -q ';descend' named && { echo "$mode: named"; exit 1; }
	[ "$(find cache -type f -size +20000k)" = '' ] || { echo "$mode: $(ls -lR cache)"; exit 1; }
	[ $mode = link ] || grep -q "127.0.0.1:$(cat port2) is too slow or sends too much; not asked any more" err || { echo "$mode: $(cat err)"; exit 1; }
	[ $mode = link ] || ! grep -q debuginfo asked || { echo "$mode: asked again: $(cat asked)"; exit 1; }
done
exit 0
