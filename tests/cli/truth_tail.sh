# Planted causes: `perfkit tail` must name each as its group of rank 1: of the recordings kept in
# testdata/truth here, and live, with other names, other locks, louder innocents, frame pointers and
# DWARF by planted.py. Frame pointers lose the caller of a libc function without any: then the next
# one counts.
# live: records now, on this machine
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
check=$SRC/tests/truth/check_tail.py
failed=0

# plain PROGRAM: what was planted, as check_tail.py wants it; by other names: with -alt
plain()
{
	case $1 in
	hold) echo "snapshot running write_snapshot|take_snapshot|snapshots|burn_ns|cpu_ns" ;;
	hold-asleep) echo "snapshot sleep write_snapshot|take_snapshot" ;;
	hold-arena) echo "snapshot - -" ;;
	hold-alt) echo "ckpt running dump_tables|checkpoint|snapshots|burn_ns|cpu_ns" ;;
	hog) echo "hog running compute_index|hogs|burn_ns|cpu_ns" ;;
	hog-alt) echo "indexer running rebuild|hogs|burn_ns|cpu_ns" ;;
	chain) echo "back sleep slow_disk|backs" ;;
	chain-alt) echo "store sleep stalled_volume|backs" ;;
	pool) echo "worker sleep slow_job|run_job" ;;
	pool-alt) echo "pooled sleep cold_report|execute" ;;
	coldmap) echo "front fault -" ;;
	queue) echo "worker sleep lookup_row|workers" ;;
	queue-alt) echo "executor sleep scan_index|workers" ;;
	forkjoin) echo "slowpart running slow_part|parts|burn_ns|cpu_ns" ;;
	forkjoin-alt) echo "bigshard running large_shard|parts|burn_ns|cpu_ns" ;;
	periodic) echo "hog running compute_index|hogs|burn_ns|cpu_ns" ;;
	esac
}

# whose waits are looked at, and how many of the worst: about as many as were planted
of()
{
	case $1 in
	pool-alt) echo "--comm pooled --top $2" ;;
	# with frame pointers nothing tells a job's sleep from a pause: one word settles it
	pool*) echo "--comm worker --top $2 --work-frame ^(slow_job|run_job)\$" ;;
	periodic*) echo "--comm ticker --top $2" ;;
	coldmap) echo "--comm front --top $2 --time $(awk '/^fault/ { if (!a) a = $3; b = $4 }
		END { printf "%.6f,%.6f", a / 1e9, b / 1e9 }' "$3")" ;;
	*-alt) echo "--comm api --top $2" ;;
	*) echo "--comm front --top $2" ;;
	esac
}

# judge NAME PLANTED TOP FILE LOG [OPTIONS]
judge()
{
	name=$1 planted=$2 top=$3 file=$4 log=$5
	shift 5
	# shellcheck disable=SC2046
	"$PERFKIT" tail -q --json "$@" $(of "$planted" "$top" "$log") "$file" >tail.json 2>err || {
		cat err
		return 1
	}
	# shellcheck disable=SC2046
	python3 "$check" tail.json "$name" $(plain "$planted")
}

for x in hold:4 hog:4 chain:5 pool:2 coldmap:60 queue:3 forkjoin:5 periodic:3; do
	prog=${x%:*} d=$SRC/testdata/truth/${x%:*}
	[ -f "$d/perf.data.gz" ] || continue
	gunzip -c "$d/perf.data.gz" >kept.data
	judge "kept $prog" "$prog" "${x#*:}" kept.data "$d/log.txt" --no-local --symfs "$d/symfs" \
		--kallsyms "$d/kallsyms" || failed=$((failed + 1))
done
[ $failed = 0 ] || exit 1

rc=0
python3 "$SRC/tests/truth/planted.py" --brief >said 2>&1 || rc=$?
cat said
[ $rc != 77 ] || { echo "the kept recordings agree; $(tail -1 said)"; exit 77; }
exit $rc
