#!/bin/sh
# Line coverage of the libraries, from what gcov counted below $O: a line a folder and, with
# -v, a line a file. Lines of headers count with the folder that includes them nowhere.
set -u
: "${O:=build-cov}"
verbose=no
[ "${1:-}" = -v ] && verbose=yes
find "$O" -name '*.gcda' | grep -q . || { echo "no .gcda below $O: make coverage" >&2; exit 1; }
for lib in base libparse libsym libtime render cmd; do
	for c in "$lib"/*.c "$lib"/*/*.c; do
		gcda=$O/${c%.c}.gcda
		if [ -e "$gcda" ]; then
			gcov -n -o "$O/$lib" "$O/${c%.c}.o" 2>/dev/null
		else # never run: its lines count all the same
			gcov -n -o "$O/$lib" "$O/${c%.c}.gcno" 2>/dev/null
		fi | awk -v want="File '$c'" '
			/^File / { mine = $0 == want }
			mine && /^Lines executed:/ { sub(/.*:/, ""); sub(/%/, ""); print $1, $3; exit }' |
			while read -r share lines; do echo "$lib $c $share $lines"; done
	done
done | awk -v verbose=$verbose '
	{ hit[$1] += $3 * $4 / 100; all[$1] += $4; if (!($1 in at)) { at[$1] = ++n; name[n] = $1 } }
	verbose == "yes" { printf "  %5.1f %% of %5d  %s\n", $3, $4, $2 }
	END {
		for (i = 1; i <= n; i++)
			printf "%-9s %5.1f %% of %d lines\n", name[i], 100 * hit[name[i]] / all[name[i]], all[name[i]]
	}'
