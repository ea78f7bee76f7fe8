#!/bin/sh
# readers.sh DIR [all] - install what reads exports in tests (readers.txt) below DIR, by pip and npm; with `all`, what
# is marked so, too.
# readers.sh size [all] - say what would come; readers.sh names [all] - its names.
# Where one of the two is missing, or has no network, what it would bring is left out by name.
set -u
list=$(dirname "$0")/readers.txt which=${2:-}
rows() { sed 's/#.*//; /^$/d' "$list" | awk -F: -v which="$which" '$5 == "" || $5 == which'; }
of() { rows | awk -F: -v from="$1" '$2 == from { print $1 }' | paste -sd' ' -; }
case $1 in
size) rows | awk -F: '{ a += $3; b += $4 } END { printf "%d MB to fetch, %d MB on the disk\n", a, b }'; exit ;;
names) rows | cut -d: -f1 | paste -sd' ' -; exit ;;
esac
seconds=100
[ "$which" != all ] || seconds=900
dir=$1 log=$1/log
mkdir -p "$dir" && : >"$log" || exit 1
left_out() { echo "left out: $*"; tail -1 "$log"; }
# shellcheck disable=SC2046
{ [ -x "$dir/bin/pip" ] || python3 -m venv "$dir"; } >>"$log" 2>&1 &&
	timeout $seconds "$dir/bin/pip" install -q --retries 1 --timeout 10 --disable-pip-version-check $(of pip) >>"$log" 2>&1 ||
	left_out "$(of pip) (python3-venv and PyPI bring them)"
# shellcheck disable=SC2046
if command -v npm >/dev/null; then
	timeout 60 npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error $(of npm) >>"$log" 2>&1 ||
		left_out "$(of npm) (from npm)"
else
	left_out "$(of npm): no npm here"
fi
