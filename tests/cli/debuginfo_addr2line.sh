#!/bin/sh
# Inlined frames and lines of perfkit's own binary, as this compiler made it, against
# addr2line -i at some 1500 addresses: the same depth and the same line numbers.
#
# Left out: addresses only one side knows a line for (start files, hand-written symbols), and
# file names (binutils 2.40 takes some from the wrong DWARF 5 table).
set -eu
command -v addr2line >/dev/null || { echo "no addr2line"; exit 77; }
command -v readelf >/dev/null || { echo "no readelf"; exit 77; }

readelf -SW "$PERFKIT" |
	sed -n 's/.*\] \.text *[A-Z]* *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\).*/\1 \2/p' >text
read -r lo size <text
step=$((0x$size / 1500 + 1))
i=0
while [ $i -lt $((0x$size)) ]; do
	printf '0x%x\n' $((0x$lo + i))
	i=$((i + step))
done >addrs

# One line an address: the line numbers of its frames, innermost first.
"$O/tests/prog/frames_at" "$PERFKIT" <addrs |
	awk '/^$/ { print s; s = ""; n = 0; next } n++ % 2 { sub(/.*:/, ""); s = s " " $0 }' >ours
addr2line -aif -e "$PERFKIT" <addrs | sed 's/ (discriminator.*//' |
	awk '/^0x/ { if (NR > 1) print s; s = ""; n = 0; next }
	     n++ % 2 { sub(/.*:/, ""); sub(/\?/, "0"); s = s " " $0 }
	     END { print s }' >theirs
paste -d: ours theirs | awk -F: '
	$1 == " 0" || $2 == " 0" { next }
	{ n++ }
	$1 != $2 { bad++; print NR ":" $1 " instead of" $2 }
	END { print n + 0, "compared,", bad + 0, "differ"; exit !(n > 500 && bad * 200 <= n) }'
