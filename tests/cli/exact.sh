#!/bin/sh
# Whole outputs, to the letter: changing a word in a sentence shows here. `make exact` accepts what
# changed.
set -u
mkdir got
sh "$SRC/tests/exact/run.sh" got || exit 1
cases=$(grep -c '^[a-z]' "$SRC/tests/exact/cases")
[ "$(ls got | wc -l)" = "$cases" ] || { echo "not every case printed"; exit 1; }
if ! diff -u -r --exclude=cases --exclude=run.sh "$SRC/tests/exact" got; then
	echo "If that is what it should say: make exact"
	exit 1
fi
echo "$cases outputs"
