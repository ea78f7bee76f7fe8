# The header that writes label histories, compiled here: every label and its time, what is lost, and
# nothing without a file.
# beside: compiles and runs a program whose threads and times are its own
set -eu
command -v g++ >/dev/null || { echo "g++ is not installed"; exit 77; }
printf '#include <thread>\n' | g++ -std=c++17 -x c++ -fsyntax-only - 2>/dev/null || { echo "no C++17"; exit 77; }
g++ -std=c++17 -O2 -Wall -Wextra -Werror -fno-omit-frame-pointer -pthread -I"$SRC" \
	-o labelled "$SRC/tests/truth/labelled.cc"
DYNAMIC_LABELS=labels.txt ./labelled truth.csv 31
awk '
	FNR == NR && FNR > 1 { split($0, c, ","); begin[c[4]] = c[1]; table[c[4]] = c[5] }
	FNR == NR { next }
	$1 == "bind" && $4 == "query" { bound[$5] = $3; n++ }
	$1 == "bind" && $4 == "table" { tables++ }
	END {
		for (q in begin)
			if (!(q in bound) || bound[q] > begin[q]) { print "query " q ": bound at " bound[q]; exit 1 }
		if (n != 31 || tables != 31) { print n " queries, " tables " tables"; exit 1 }
	}' truth.csv labels.txt
[ "$(grep -c '^tramp ' labels.txt)" = 256 ]
./labelled --cost >cost
grep -q 'through a label' cost
mkdir none
cd none
../labelled ../again.csv 3
[ -z "$(ls)" ]
