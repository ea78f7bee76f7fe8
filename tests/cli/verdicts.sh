# A wait site's verdict does not depend on how long was recorded: that of the whole recording is that of its
# first half and quarter, for sites with enough waits. Only line 5, "inside work", needs to see work first.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
n=0
for f in "$SRC"/testdata/orders/*.tar.zst "$SRC"/testdata/requests/*.tar.zst "$SRC"/testdata/truth/*/perf.data.gz \
	"$SRC/testdata/waits/perf.data" "$SRC/testdata/sched/perf.data"; do
	n=$((n + 1))
	case $f in
	*.tar.zst) "$PERFKIT" unpack "$f" -C "$n" >/dev/null 2>err || { cat err; exit 1; } ;;
	*.gz) mkdir "$n" && gzip -dc "$f" >"$n/perf.data" ;;
	*) mkdir "$n" && cp "$f" "$n" ;;
	esac
done
PERFKIT=$PERFKIT PYTHONPATH=$SRC/tests/requests python3 - <<'PY'
import collections, glob, os, sqlite3, subprocess, sys
import matrix

ENOUGH = 4
flips = compared = 0


def store(data):
    out = data + ".db"
    subprocess.run([os.environ["PERFKIT"], "import", "-q", "-f", "--no-local", data, "-o", out], check=True,
                   stderr=subprocess.DEVNULL)
    return sqlite3.connect(out)


def verdicts(db):
    """{what is known of a site: its verdict}, of those that nothing else is called like"""
    found = collections.defaultdict(list)
    for *key, waits, verdict, reason in db.execute(
            "SELECT s.program, s.role, s.cause, y.name, s.waits, s.verdict, s.reason FROM sites s "
            "LEFT JOIN frames f ON f.id = s.frame_id "
            "LEFT JOIN symbols y ON y.id = f.symbol_id WHERE s.id > 0"):
        found[tuple(key)].append((waits, verdict, reason))
    return {k: v[0] for k, v in found.items() if len(v) == 1}


for data in sorted(glob.glob("*/**/perf.data", recursive=True)):
    whole = verdicts(store(data))
    for parts in (2, 4):
        piece = "%s.%d" % (data, parts)
        matrix.cut(data, piece, parts)
        for key, (waits, verdict, reason) in verdicts(store(piece)).items():
            other = whole.get(key)
            if waits < ENOUGH or not other:
                continue
            compared += 1
            if other[1] != verdict and ("idle" in (other[1], verdict) or
                                        "inside work" not in (other[2], reason)):
                flips += 1
                print("%s, 1/%d: %s: %s (%s), whole %s (%s)" % (data, parts, key, verdict, reason, *other[1:]))
print("%d verdicts compared, %d differ" % (compared, flips))
sys.exit(flips > 0 or compared < 10)
PY
