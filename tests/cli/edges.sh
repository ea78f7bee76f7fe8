#!/bin/sh
# Recordings at the edge of the format: tracing data inside its record (older simpleperf), one sample.
set -u
failed=0
wrong() { echo "$*"; failed=1; }
cp "$SRC/testdata/demo/perf.data" plain.data
python3 - <<'EOP' || exit 1
import struct
data = bytearray(open("plain.data", "rb").read())
# struct perf_file_header: data.offset and data.size at 40; the feature sections follow the data
at, size = struct.unpack_from("<QQ", data, 40)
record = struct.pack("<IHHI", 66, 0, 12 + 104, 100) + bytes(104)
features = at + size
for k in range(bin(int.from_bytes(data[72:104], "little")).count("1")):
    where = struct.unpack_from("<Q", data, features + 16 * k)[0]
    struct.pack_into("<Q", data, features + 16 * k, where + len(record))
struct.pack_into("<Q", data, 48, size + len(record))
open("inside.data", "wb").write(data[:at] + record + data[at:])
EOP
for f in plain inside; do
	"$PERFKIT" collapse --no-local $f.data >$f.folded 2>$f.err || wrong "$f: $(cat $f.err)"
done
cmp -s plain.folded inside.folded || wrong "tracing data inside its record: $(wc -l <inside.folded) stacks, not $(wc -l <plain.folded)"
"$PERFKIT" report -v --no-local inside.data 2>&1 | grep 'below 8' && wrong "a record that is none"

# All there is has one time: a page all the same.
cp "$SRC/testdata/sched/perf.data" sched.data
python3 - <<'EOP' || exit 1
import struct
data = bytearray(open("sched.data", "rb").read())
at, size = struct.unpack_from("<QQ", data, 40)
end, seen = at + size, 0
while at < end:  # all of the kernel's records but one sample become such of a type that no program knows
    kind, _, n = struct.unpack_from("<IHH", data, at)
    seen += kind == 9
    if kind < 64 and (kind != 9 or seen > 1):
        struct.pack_into("<I", data, at, 200)
    at += n
open("one.data", "wb").write(data)
EOP
"$PERFKIT" html -q --no-local -o one.html one.data 2>err || wrong "html of one sample: $(cat err)"
grep -q '</html>' one.html || wrong "no page"
exit $failed
