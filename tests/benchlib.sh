# benchlib.sh - measuring commands, for bench.sh and bench_dwarf.sh. Wants $prog and $dir.

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
