#!/bin/sh
# File, standard input, bundle and store give one answer: a tenth of what `make same` asks, another
# one each time; the seed is printed.
for tool in python3 cat; do
	command -v $tool >/dev/null 2>&1 || { echo "no $tool here"; exit 77; }
done
seed=${PERFKIT_SAME_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
unset PERFKIT_CORPUS
exec python3 "$SRC/tests/same.py" "$PERFKIT" "$SRC" --tenth "$seed"
