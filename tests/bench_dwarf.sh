#!/bin/sh
# bench_dwarf.sh - unwinding and naming: `--call-graph dwarf,8192` recordings of a deep C++
# program and of a C++ compile, perfkit beside perf script in the same run. Each figure stands
# beside its aim; the aims were set for an idle machine.
#
#	BENCH_DIR, BENCH_QUICK  as in bench.sh
#	BENCH_RATE              samples a second (4399: a compile of 90,000 samples, 760 MB)
#	BENCH_COLD=1            also with nothing in the page cache; as root, and everything else
#	                        on the machine begins with an empty one, too
set -eu
. "$(dirname "$0")/benchlib.sh"
rate=${BENCH_RATE:-4399}
need_perf 'nothing to unwind'
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

# Run perf, for LIMIT seconds at most, and print it beside perfkit's time; AIM may be empty.
perf_line() # LIMIT AIM perfkit's-wall WORDS...
{
	limit=$1 aim=$2 ours=$3
	shift 3
	[ -z "${BENCH_QUICK:-}" ] || return 0
	measure 1 timeout "$limit" perf script "$@"
	over=
	case $status in
	0) ;;
	124) over='over ' ;;
	*) over='failed after ' ;;
	esac
	what=$(echo "perf script $*" | sed 's/ *-i .*//')
	line "$what" "$over$wall s" "$(awk -v o="$over" -v a="$wall" -v b="$ours" -v aim="$aim" \
		'BEGIN { printf "%s%.1f x%s", o, a / b, aim == "" ? "" : ", aim " aim " x" }')"
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
	plain=$wall
	line 'perfkit collapse --no-inline' "$wall s" "$(awk -v c="$cpu" -v w="$wall" \
		'BEGIN { printf "%.2f s on the CPUs, %.1f of them busy", c, c / w }')"
	measure 3 "$O/perfkit" collapse -q -i "$1"
	inlined=$wall
	line 'perfkit collapse' "$wall s" "$(awk -v c="$cpu" -v w="$wall" \
		'BEGIN { printf "%.2f s on the CPUs, %.1f of them busy", c, c / w }')"
	line '  memory, of it private' \
		"$(printf '%.0f, %.0f MB' "$peak" "$private")" 'aim 300 MB for 700 MB'
}

# Both tools once, each after the page cache was emptied.
cold() # FILE
{
	[ -n "${BENCH_COLD:-}" ] && [ -w /proc/sys/vm/drop_caches ] || return 0
	sync
	echo 3 >/proc/sys/vm/drop_caches
	measure 1 "$O/perfkit" collapse -q --no-inline -i "$1"
	line 'cold cache: perfkit collapse --no-inline' "$wall s" ''
	ours=$wall
	echo 3 >/proc/sys/vm/drop_caches
	measure 1 timeout 300 perf script --no-inline -i "$1"
	line 'cold cache: perf script --no-inline' "$wall s" \
		"$(awk -v a="$wall" -v b="$ours" 'BEGIN { printf "%.1f x", a / b }')"
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
perf_line 300 15 "$plain" --no-inline -i "$dir/deep.data"
perf_line 300 50 "$inlined" -i "$dir/deep.data"
cold "$dir/deep.data"
record "$dir/line.data" 999 "$dir/deep" 100000
title "$dir/line.data" 'the same, fewer samples, with source lines'
# perf keeps the lines of an address together with its inlined frames; without those it asks
# addr2line again for every frame of every sample.
measure 3 "$O/perfkit" collapse -q --no-inline --srcline -i "$dir/line.data"
line 'perfkit collapse --no-inline --srcline' "$wall s" ''
perf_line 400 1000 "$wall" --no-inline -F +srcline -i "$dir/line.data"
measure 3 "$O/perfkit" collapse -q --srcline -i "$dir/line.data"
line 'perfkit collapse --srcline' "$wall s" ''
perf_line 300 '' "$wall" -F +srcline -i "$dir/line.data"
nm --defined-only "$dir/deep" | awk '$2 ~ /[tTwW]/ { print $1 }' >"$dir/addresses"
"$prog/frames_at" -t "$dir/deep" <"$dir/addresses" | awk '{
	for (i = 1; i < NF; i++) if ($(i + 1) ~ /^ms\/MB/) perMB = substr($i, 2)
	for (i = 1; i < NF; i++) if ($i == "repeated") again = $(i + 1)
	printf "  %-46s %11s ms   %s\n", "DWARF read, per MB of .debug_info", perMB, "aim 15 ms"
	printf "  %-46s %11s us   %s\n", "an address looked up again", again, "aim 0.5 us" }'

case $compiler in
*clang++) compiled='a C++ compile by clang++' ;;
*) compiled='a C++ compile by g++' ;;
esac
compile() # NAME RATE
{
	record "$dir/$1.data" "$2" "$compiler" -std=c++17 -O2 -DCOMPILE_MORE -c -o "$dir/deep.o" \
		"$SRC/tests/bench_deep.cc"
	title "$dir/$1.data" "$compiled"
	unwinding "$dir/$1.data" 4
	perfkit_runs "$dir/$1.data"
	perf_line 300 15 "$plain" --no-inline -i "$dir/$1.data"
	cold "$dir/$1.data"
	# perf asks addr2line about every frame of the compiler: hours
	perf_line 120 50 "$inlined" -i "$dir/$1.data"
}
compile compile-small $((rate / 9))
compile compile "$rate"
