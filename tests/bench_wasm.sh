#!/bin/sh
# bench_wasm.sh - perfkit as WebAssembly in node (make npm) beside the native program on one CPU, on
# bench.sh's recording repeated to 100 and 600 MB. The aim: at most 2.5 times its time. BENCH_DIR, BENCH_FILE
# as there; WASM_SIZES, in MB, WASM_RUNS.
set -eu
. "$(dirname "$0")/benchlib.sh"
cli=$O/npm/package/perfkit-cli.js
command -v node >/dev/null 2>&1 && [ -f "$cli" ] || { echo "bench: no WebAssembly here (make npm, with emscripten and node)"; exit 0; }
from=${BENCH_FILE:-$dir/fp200.data}
unset NODE_EXTRA_CA_CERTS # certificates of one machine, which node decodes at each start
[ -f "$from" ] || { echo "bench: no $from"; exit 0; }
one=$(command -v taskset >/dev/null 2>&1 && echo taskset -c "$(taskset -pc $$ | sed 's/.*[:, -]//')") || one=
printf '%-28s %9s %9s %9s %9s %9s\n' 'processor time, s' native wasm ratio 'peak MB' 'wasm MB'
for size in ${WASM_SIZES:-100 600}; do
	file=$dir/wasm$size.data
	[ -f "$file" ] || "$prog/grow" "$from" "$file" "$((size * 1000000))"
	cat "$file" >/dev/null
	for verb in collapse report html; do
		# shellcheck disable=SC2086
		measure ${WASM_RUNS:-3} $one "$O/perfkit" $verb -q --no-local "$file"
		native=$cpu had=$peak
		# shellcheck disable=SC2086
		measure ${WASM_RUNS:-3} $one node "$cli" $verb -q --no-local "$file"
		[ "$status" = 0 ] || echo "wasm $verb: exit $status: $(cat "$dir/stderr")"
		awk -v what="$verb, $size MB" -v n="$native" -v w="$cpu" -v had="$had" -v has="$peak" 'BEGIN {
			printf "%-28s %9.2f %9.2f %9.2f %9.0f %9.0f\n", what, n, w, w / n, had, has }'
	done
done
