#!/bin/sh
# run.sh O SECONDS NAME... - run fuzz targets one after the other with libFuzzer, each for so long.
# O is a build folder made by `make fuzz`. What is found lands in O/found/NAME, the corpus that
# grows in O/corpus/NAME. A target that finds something stops; the exit status is then 1.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=$1 seconds=$2
shift 2
rm -rf "$O/seeds"
sh tests/fuzz/seeds.sh "$O" "$O/seeds" || exit 1
bad=0
for name; do
	mkdir -p "$O/corpus/$name" "$O/found/$name" "$O/seeds/$name"
	dict=tests/fuzz/dict/$name
	found=tests/fuzz/found/$name
	[ -d "$found" ] || found=
	# no input may take 10 s, 2 GB, or one block of 256 MB
	# shellcheck disable=SC2086
	"$O/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-malloc_limit_mb=256 -max_len="${MAX_LEN:-32768}" -print_final_stats=1 \
		-artifact_prefix="$O/found/$name/" $([ -f "$dict" ] && echo "-dict=$dict") \
		"$O/corpus/$name" "$O/seeds/$name" $found >"$O/found/$name.log" 2>&1
	rc=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$O/found/$name.log")
	cover=$(grep -o 'cov: [0-9]* ft: [0-9]*' "$O/found/$name.log" | tail -1)
	printf '%-12s %10s executions, %s' "$name" "${runs:-?}" "$cover"
	[ $rc = 0 ] || { printf '  FOUND: see %s' "$O/found/$name.log"; bad=1; }
	echo
done
exit $bad
