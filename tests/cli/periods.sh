#!/bin/sh
# A period that no counter can have is a damaged sample, said and left out; sums that pass 2^63 are
# an error of every verb, never a number that wrapped. Recording, pipe and store say the same.
cat >make.py <<'END'
import struct, sys
SAMPLE = 1 | 2 | 4 | 256  # IP TID TIME PERIOD
def attr():
    a = struct.pack("<IIQQQQQ", 1, 112, 0, 1, SAMPLE, 0, 1 << 18)  # cpu-clock, sample_id_all
    return a + bytes(112 - len(a))
def record(kind, body):
    return struct.pack("<IHH", kind, 2, 8 + len(body)) + body
data = record(3, struct.pack("<II", 70, 70) + b"app\0\0\0\0\0" + struct.pack("<IIQ", 70, 70, 1))
for i, period in enumerate(map(int, sys.argv[1:])):
    data += record(9, struct.pack("<QIIQQ", 0x1000, 70, 70, 2 + i, period))
at = 104 + 112 + 16
sys.stdout.buffer.write(b"PERFILE2" + struct.pack("<12Q", 104, 128, 104, 128, at, len(data), 0, 0, 0, 0, 0, 0)
                        + attr() + bytes(16) + data)
END
most=72057594037927935 # 2^56 - 1
failed=0
fail()
{
	echo "$*"
	cat out err
	failed=1
}

python3 make.py 5 "$most" 18446744073709551615 7 >one.data
for how in one.data - one.db; do
	case $how in
	*.db) "$PERFKIT" import one.data -o one.db >out 2>&1 || fail "import: $?" ;;
	esac
	"$PERFKIT" collapse "$how" <one.data >out 2>err || fail "collapse $how: $?"
	[ "$(sed 's/.* //' out)" = $((most + 12)) ] || fail "collapse $how: another sum"
done
"$PERFKIT" collapse one.data 2>&1 >/dev/null | grep -q 'is not a period' || fail 'not said'
"$PERFKIT" report one.data >out 2>err || fail "report: $?"

# 128 of them are 2^63 - 128: the most; with one more it is 129 * 2^56
many=$(i=0; while [ $i -lt 128 ]; do echo "$most"; i=$((i + 1)); done)
# shellcheck disable=SC2086
python3 make.py $many >most.data
# shellcheck disable=SC2086
python3 make.py $many "$most" >more.data
[ "$("$PERFKIT" collapse -q most.data 2>/dev/null | sed 's/.* //')" = $((most * 128)) ] || fail 'collapse: the most'
for verb in collapse svg report html import 'export --to pprof' timeline; do
	to='-o x'
	[ "$verb" != report ] || to=
	# shellcheck disable=SC2086
	"$PERFKIT" $verb more.data $to >out 2>err && fail "$verb: no error"
	grep -q 'add up to more than 2^63' err || fail "$verb: another error"
	[ -e x ] && fail "$verb: wrote it all the same"
done
exit $failed
