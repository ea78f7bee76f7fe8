# benchlib.sh - what bench.sh, bench_dwarf.sh and bench_sched.sh begin with, and measuring.
# To be read in (`.`) from one of them; sets SRC, O, dir (where recordings are kept) and prog.
SRC=$(cd "$(dirname "$0")/.." && pwd)
O=${O:-build}
case $O in /*) ;; *) O=$SRC/$O ;; esac
dir=${BENCH_DIR:-$O/bench}
prog=$O/tests/prog
mkdir -p "$dir"

# WHAT-FOR: ends the bench, well, where there is no perf
need_perf()
{
	command -v perf >/dev/null 2>&1 || { echo "bench: no perf here: $1"; exit 0; }
}

# measure RUNS COMMAND...: sets wall, cpu (s), peak, private (MB) and status: the best of RUNS
measure()
{
	runs=$1 rows=
	shift
	while [ "$runs" -gt 0 ]; do
		"$prog/measure" "$@" 3>"$dir/row" >/dev/null 2>"$dir/stderr" || true
		rows=$(printf '%s\n%s\n' "$rows" "$(cat "$dir/row")")
		runs=$((runs - 1))
	done
	set -- $(echo "$rows" | awk 'NF { print $1, $2, $3 / 1024, $4 / 1024, $5 }' | sort -n | head -1)
	wall=$1 cpu=$2 peak=$3 private=$4 status=$5
}
