# perf record --off-cpu: the sums of the kernel are what the program measured around its waits; samples at no
# time do not come first, and the store knows as much.
set -eu
gunzip -c "$SRC/testdata/off-cpu/perf.data.gz" >off.data
"$PERFKIT" import -q --no-local off.data -o off.db
for q in "collapse" "collapse --all-events" "collapse --offcpu --unit ns --idle" "report" "export --to pprof" "svg"; do
	"$PERFKIT" $q -q --no-local off.data >file.out
	"$PERFKIT" $q -q off.db >store.out
	[ "$q" != report ] || sed -i 1d file.out store.out # the input's name
	cmp store.out file.out || { echo "$q: the store's answer is another"; exit 1; }
done
"$PERFKIT" collapse -q --no-local off.data | grep -q '^burner;' || { echo "the samples of the clock are not the first event's"; exit 1; }
"$PERFKIT" collapse -q --no-local --offcpu --unit ns --idle off.data |
	awk '{ sub(";.*", "", $1); got[$1] += $NF } END { for (c in got) print c, got[c] }' | sort >got
awk 'NR > 1 { for (i = 1; i < NF; i++) if ($i == "total_ns") want[$1] += $(i + 1) } END { for (c in want) print c, want[c] }' \
	"$SRC/testdata/off-cpu/truth.txt" | sort >want
join want got >both
[ "$(wc -l <both)" = "$(wc -l <want)" ] || { cat want got; exit 1; }
# the program's figures have its run-queue delay in them, and the time of two clock reads
awk '{ if ($3 > $2 || $3 < 0.98 * $2) { print $1 ": " $3 " ns off, measured " $2; bad = 1 } } END { exit bad }' both
