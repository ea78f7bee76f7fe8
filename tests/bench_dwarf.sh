#!/bin/sh
# bench_dwarf.sh - unwinding and naming: `--call-graph dwarf,8192` recordings of a deep C++
# program and of a C++ compile, perfkit beside perf script in the same run. Each figure stands
# beside its aim; the aims were set for an idle machine.
#
#	BENCH_DIR, BENCH_QUICK  as in bench.sh
#	BENCH_RATE              samples a second of the two recordings (4999)
set -eu
SRC=$(cd "$(dirname "$0")/.." && pwd)
O=${O:-build}
case $O in /*) ;; *) O=$SRC/$O ;; esac
dir=${BENCH_DIR:-$O/bench}
prog=$O/tests/prog
rate=${BENCH_RATE:-4999}
mkdir -p "$dir"
. "$SRC/tests/benchlib.sh"
command -v perf >/dev/null 2>&1 || { echo "bench: no perf here, nothing to unwind"; exit 0; }
compiler=$(command -v clang++ || command -v g++ || true)
[ -n "$compiler" ] || { echo "bench: no C++ compiler here, nothing to unwind"; exit 0; }

record() # FILE RATE COMMAND...
{
	to=$1 hz=$2
	shift 2
	[ -f "$to" ] || {
		echo "recording $(basename "$to") ..." >&2
		perf record -q -N -m 4096 -e cpu-clock -F "$hz" --call-graph dwarf,8192 -o "$to.tmp" "$@" \
			2>/dev/null >/dev/null || true # the status is the command's
		mv "$to.tmp" "$to"
	}
}

line() # what value aim
{
	printf '  %-46s %14s   %s\n' "$1" "$2" "$3"
}

# perf's $wall and $cpu beside perfkit's: how many times as long, and as much CPU time
ratio() # wall cpu
{
	awk -v a="$wall" -v b="$1" -v c="$cpu" -v d="$2" \
		'BEGIN { printf "%.1f x (CPU time %.1f x)", a / b, c / d }'
}

# What perf would take for the whole of a file, told from the first P and 2 P percent of its time:
# the first P as they were, all others as the second P, which has perf's files open already.
perf_scaled() # FILE P WORDS...
{
	file=$1 p=$2
	shift 2
	measure 1 perf script "$@" --time "0%-$p%" -i "$file"
	wall1=$wall cpu1=$cpu
	measure 1 perf script "$@" --time "0%-$((2 * p))%" -i "$file"
	wall=$(awk -v a="$wall1" -v b="$wall" -v p="$p" 'BEGIN { printf "%.1f", a + (b - a) * (100 - p) / p }')
	cpu=$(awk -v a="$cpu1" -v b="$cpu" -v p="$p" 'BEGIN { printf "%.1f", a + (b - a) * (100 - p) / p }')
}

# one core, samples in memory: the unwinder alone, every table empty at first
unwinding() # FILE aim
{
	"$prog/unwindbench" -n 2 "$1" 2>&1 | awk -v aim="$2" '/^pass/ {
		gsub(",", ""); gsub(";", "")
		printf "  %-46s %11.2f us   %s\n", "unwind, " ($2 == "1:" ? "cold" : "warm") ", per sample of " $5 " frames", $8,
			$2 == "1:" ? "aim " aim " us" : ""
		printf "  %-46s %11.0f ns   %s\n", "  per frame", $12, $2 == "1:" ? "aim 150 ns" : "" }'
}

perfkit_runs() # FILE
{
	measure 3 "$O/perfkit" collapse -q --no-inline -i "$1"
	plain=$wall plain_cpu=$cpu
	line 'perfkit collapse --no-inline' "$wall s" "$(awk -v c="$cpu" -v w="$wall" \
		'BEGIN { printf "%.2f s on the CPUs, %.1f of them busy", c, c / w }')"
	measure 3 "$O/perfkit" collapse -q -i "$1"
	inlined=$wall inlined_cpu=$cpu
	line 'perfkit collapse' "$wall s" "$(awk -v c="$cpu" -v w="$wall" \
		'BEGIN { printf "%.2f s on the CPUs, %.1f of them busy", c, c / w }')"
	line '  memory, of it private' \
		"$(printf '%.0f, %.0f MB' "$peak" "$private")" 'aim 300 MB for 700 MB'
}

beside_perf() # FILE, percent of it that perf unfolds inlines of: all, or a first part
{
	[ -z "${BENCH_QUICK:-}" ] || return 0
	measure 1 perf script --no-inline -i "$1"
	line 'perf script --no-inline' "$wall s" "$(ratio "$plain" "$plain_cpu"), aim 15 x"
	if [ "$2" = all ]; then
		measure 1 perf script -i "$1"
		line 'perf script' "$wall s" "$(ratio "$inlined" "$inlined_cpu"), aim 50 x"
	else
		perf_scaled "$1" "$2"
		line "perf script, scaled from $((2 * $2)) %" "$wall s" "$(ratio "$inlined" "$inlined_cpu"), aim 50 x"
	fi
}

title() # FILE TEXT
{
	echo
	echo "$2: $(($(wc -c <"$1") / 1000000)) MB"
	cat "$1" >/dev/null
}

[ -x "$dir/deep" ] || g++ -std=c++17 -g -O2 -o "$dir/deep" "$SRC/tests/bench_deep.cc"
record "$dir/deep.data" "$rate" timeout -s INT 15 "$dir/deep" 100000000
title "$dir/deep.data" 'a deep C++ program'
unwinding "$dir/deep.data" 3
perfkit_runs "$dir/deep.data"
beside_perf "$dir/deep.data" all
measure 3 "$O/perfkit" collapse -q --srcline -i "$dir/deep.data"
line 'perfkit collapse --srcline' "$wall s" ''
lined=$wall lined_cpu=$cpu
if [ -z "${BENCH_QUICK:-}" ]; then
	perf_scaled "$dir/deep.data" 10 -F +srcline
	line 'perf script -F +srcline, scaled from 20 %' "$wall s" "$(ratio "$lined" "$lined_cpu"), aim 1000 x"
fi
nm --defined-only "$dir/deep" | awk '$2 ~ /[tTwW]/ { print $1 }' >"$dir/addresses"
"$prog/frames_at" -t "$dir/deep" <"$dir/addresses" | awk '{
	for (i = 1; i < NF; i++) if ($(i + 1) ~ /^ms\/MB/) perMB = substr($i, 2)
	for (i = 1; i < NF; i++) if ($i == "repeated") again = $(i + 1)
	printf "  %-46s %11s ms   %s\n", "DWARF read, per MB of .debug_info", perMB, "aim 15 ms"
	printf "  %-46s %11s us   %s\n", "an address looked up again", again, "aim 0.5 us" }'

case $compiler in
*clang++) what='a C++ compile by clang++' ;;
*) what='a C++ compile by g++' ;;
esac
record "$dir/compile.data" "$rate" "$compiler" -std=c++17 -O2 -DCOMPILE_MORE -c -o "$dir/deep.o" \
	"$SRC/tests/bench_deep.cc"
title "$dir/compile.data" "$what"
unwinding "$dir/compile.data" 4
perfkit_runs "$dir/compile.data"
beside_perf "$dir/compile.data" 1
