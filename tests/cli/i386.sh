# Stack copies of a 32-bit program on x86-64 are unwound by its own .eh_frame: every sample has its
# function, nearly all have its callers up to the C library, whose file is not there.
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
gzip -dc "$SRC/testdata/i386/perf.data.gz" >perf.data
"$PERFKIT" collapse -q --no-local --symfs "$SRC/testdata/i386/symfs" perf.data >out || bad "exit $?"
cat out
total() { awk "$1"' { n += $NF } END { printf "%d", n / 1e6 }' out; }
all=$(total 1) whole=$(total '/^narrow;\[libc.so.6\];main;serve[^;]*;parse /')
[ "$all" -gt 200 ] && [ $((whole * 100)) -ge $((all * 90)) ] || bad "whole: $whole of $all ms"
grep -q '^narrow [0-9]' out && bad "a sample has no function"
# without the program's file, the sampled address stays
"$PERFKIT" collapse -q --no-local perf.data >out
grep -q '^narrow;.*\[narrow\] ' out || bad "no file: $(cat out)"
[ $fails = 0 ]
