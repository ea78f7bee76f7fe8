#!/bin/sh
# Data files of a directory that lie side by side in memory (an old layout of addresses maps upward)
# are read each from its own file.
command -v setarch >/dev/null 2>&1 && setarch "$(uname -m)" -L true 2>/dev/null ||
	{ echo "no setarch --addr-compat-layout here"; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo "no python3 here"; exit 77; }
# 1.5 MB each: more than a worker takes at once, less than what the kernel aligns to large pages
python3 - "$SRC/testdata/dwarf/perf.data" <<'E2' || exit 1
import os, struct, sys

image = open(sys.argv[1], "rb").read()
at, size = struct.unpack_from("<QQ", image, 40)
samples, end = [], at + size
while at < end:
    kind, _, n = struct.unpack_from("<IHH", image, at)
    if kind == 9:
        samples.append(image[at : at + n])
    at += n
os.mkdir("rec")
open("rec/data", "wb").write(image)
finished_round = struct.pack("<IHH", 68, 0, 8)
for i in range(3):
    data = b"".join((samples[i * 50 :] + samples * 8)[:1200])
    data += finished_round * (-len(data) % 4096 // 8)
    open("rec/data.%d" % i, "wb").write(data)
E2
"$PERFKIT" collapse -q --no-local rec >want || exit 1
setarch "$(uname -m)" -L "$PERFKIT" collapse -q --no-local rec >got || { echo "exit $?"; exit 1; }
[ -s want ] && cmp want got
