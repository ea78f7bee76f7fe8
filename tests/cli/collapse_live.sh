#!/bin/sh
# A recording made now, of a program built now, folds to what perf script says of it: kernel,
# libc and the program, symbols from wherever this machine has them.
# live: records now, on this machine
command -v perf >/dev/null 2>&1 || { echo "no perf here"; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo "no python3 here"; exit 77; }
${CC:-cc} -O1 -fno-omit-frame-pointer -fno-inline -pthread -w -o shop \
	"$SRC/testdata/demo/shop.c" || { echo "no compiler here"; exit 77; }
perf record -N -q -F 997 -e cpu-clock -g -o perf.data ./shop 1 >/dev/null 2>perf.err ||
	{ echo "perf cannot record here: $(head -1 perf.err)"; exit 77; }
perf script --no-inline -i perf.data 2>/dev/null | python3 "$SRC/tests/foldscript.py" >want
perf script --no-inline -i perf.data 2>/dev/null | gzip >script.gz
[ -s want ] || { echo "perf script says nothing here"; exit 77; }
grep -q ';convolve_row ' want || { echo "perf found no names"; exit 77; }
timeout 60 "$PERFKIT" collapse -q --no-inline -i perf.data >got || { echo "perfkit fails"; exit 1; }
cmp -s want got || python3 "$SRC/tests/foldcheck.py" --script script.gz want got
