#!/bin/sh
# Standard streams that are closed, as a service manager may leave them: the same answers in files,
# and an error where an answer goes nowhere.
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
data=$SRC/testdata/cxx-names/perf.data
[ -f "$data" ] || { echo "no $data"; exit 1; }
"$PERFKIT" collapse -q "$data" >want 2>err || bad "collapse: $(cat err)"
"$PERFKIT" collapse -q "$data" >got 2>err <&- || bad "no stdin: $(cat err)"
cmp -s want got || bad "no stdin: another answer"
"$PERFKIT" collapse -q "$data" >got 2>&- <&- || bad "no stdin, no stderr"
cmp -s want got || bad "no stdin, no stderr: another answer"
"$PERFKIT" svg -q "$data" -o want.svg && "$PERFKIT" svg -q "$data" -o got.svg <&- >&- 2>&- ||
	bad "svg with nothing open"
cmp -s want.svg got.svg || bad "svg with nothing open: another picture"
"$PERFKIT" export -q --to pprof "$data" -o want.pb.gz && "$PERFKIT" export -q --to pprof "$data" -o got.pb.gz <&- >&- 2>&- ||
	bad "export with nothing open"
cmp -s want.pb.gz got.pb.gz || bad "export with nothing open: another profile"
status=0
"$PERFKIT" collapse -q "$data" 2>err >&- <&- || status=$?
[ $status = 1 ] && grep -q "cannot write" err || bad "no stdout: exit $status, $(cat err)"
status=0
"$PERFKIT" collapse -q - >got 2>err <&- || status=$?
[ $status = 1 ] && [ -s err ] || bad "- without stdin: exit $status, $(cat err)"
# what the library opens is not taken for standard input either
[ ! -x "$O/tests/unit/libparse/test_apart" ] || "$O/tests/unit/libparse/test_apart" >out 2>&1 <&- || { bad "test_apart without stdin"; cat out; }
[ $fails = 0 ]
