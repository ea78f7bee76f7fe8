# svg --color ipc: widths are cycles, colours and tooltips the quotient of what report counts of both events;
# grey where no instructions were counted.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
group=$SRC/testdata/group-read
set -- -q --no-local --symfs "$group/symfs" --kallsyms "$group/kallsyms"

cat >make.py <<'PY'
# Write the recording FROM, of a group of counters that are read together, as one of cycles and instructions:
# the code of each 64 bytes has an IPC of its own, from 1/8 to 8, or (none) no instructions.
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
size, attrs, _, data, length = struct.unpack_from("<5Q", b, 16)
for i in 0, 1:
    struct.pack_into("<I", b, attrs + i * size, 0)      # PERF_TYPE_HARDWARE
    struct.pack_into("<Q", b, attrs + i * size + 8, i)  # cycles, instructions
sample_type, read_format = struct.unpack_from("<QQ", b, attrs + 24)
assert read_format & 8 and not read_format & 3, read_format  # PERF_FORMAT_GROUP
total, at = 0, data
while at < data + length:
    kind, _, n = struct.unpack_from("<IHH", b, at)
    if kind == 9:
        p = at + 8
        skip = lambda mask: 8 * bin(sample_type & mask).count("1")
        p += skip(1 << 16)
        ip = struct.unpack_from("<Q", b, p)[0]
        p += skip(0x1 | 0x2 | 0x4 | 0x8 | 0x40 | 0x200 | 0x80)
        period = struct.unpack_from("<Q", b, p)[0]
        p += skip(0x100)
        nr = struct.unpack_from("<Q", b, p)[0]
        ipc = 2.0 ** ((ip >> 6) * 2654435761 % 2 ** 32 / 2 ** 32 * 6 - 3)
        total += 0 if (ip >> 6) % 7 == 0 else int(period * ipc)
        step = 24 if read_format & 16 else 16  # PERF_FORMAT_LOST
        struct.pack_into("<Q", b, p + 8 + step, total)
    at += n
open(sys.argv[2], "wb").write(b)
PY
python3 make.py "$group/perf.data" ipc.data
"$PERFKIT" svg "$@" --color ipc --width 50000 --minwidth 0 ipc.data -o ipc.svg

cat >check.py <<'PY'
import json, math, re, subprocess, sys
perfkit, *names = sys.argv[1:]

def totals(event, key):
    out = subprocess.run([perfkit, "report", *names, "--json", "--by", "function", "--top", "0", "--event", event,
                          "ipc.data"], stdout=subprocess.PIPE, check=True).stdout
    return {r["function"]: r[key] for r in json.loads(out)["rows"]}

cycles, instructions = totals("cpu-clock", "total_ns"), totals("page-faults", "total")
svg = open("ipc.svg").read()
boxes = re.findall(r"<g><title>([^ <]+) \(([^<]*?)\)(?:&#10;[^<]*)?</title><rect[^>]*fill=\"#(\w+)\"", svg)
assert "4 or more" in svg and "no counter" in svg

def colour(ipc):
    if not ipc:
        return "c8c8c8"
    t = min(max(math.floor(math.log2(ipc) * 4 + 0.5), -8), 8) / 8
    mid, end = bytes.fromhex("f3e6a2"), bytes.fromhex("e4553a" if t < 0 else "2f6fe6")
    return "".join("%02x" % int(a + (b - a) * abs(t) + 0.5) for a, b in zip(mid, end))

seen, once = [n for n, _, _ in boxes], 0
for name, text, fill in boxes:
    if seen.count(name) > 1 or name not in cycles:
        continue  # several nodes of a function
    n = instructions.get(name, 0)
    said = re.search(r"; ([0-9.]+) instructions per cycle, ([0-9,]+) instructions$", text)
    if said:
        assert int(said[2].replace(",", "")) == n and said[1] == "%.2f" % (n / cycles[name]), (name, text, n)
    else:
        assert n == 0, (name, text, n)
    assert fill == colour(n / cycles[name]), (name, fill, n / cycles[name])
    once += 1
assert once > 20 and len({f for _, _, f in boxes}) > 10, once
assert any(f == "c8c8c8" for _, _, f in boxes)
PY
python3 check.py "$PERFKIT" "$@"

refused()
{
	want=$1
	shift
	rc=0
	"$PERFKIT" svg -q --no-local --color ipc -o no.svg "$@" 2>err || rc=$?
	[ $rc = "$want" ] && [ "$(wc -l <err)" -eq 1 ] || { echo "$*: status $rc"; cat err; exit 1; }
}
refused 3 "$group/perf.data" # counts neither cycles nor instructions
grep -q "perf record -e '{cycles,instructions}:S'" err
refused 2 --offcpu ipc.data
refused 2 --event page-faults ipc.data
refused 2 --flamechart ipc.data
refused 2 --diff ipc.data ipc.data
echo 'main;f 1' >f.folded
refused 2 f.folded
"$PERFKIT" import -q --no-local ipc.data -o run.db
refused 3 run.db
