#!/bin/sh
# PERFKIT_CORPUS=DIR: every recording of a folder of strangers' recordings (CATALOG.tsv, *.zst,
# *.truth) has the records perf counts in it and folds to what perf and the script say.
[ -n "${PERFKIT_CORPUS:-}" ] || { echo "PERFKIT_CORPUS is not set"; exit 77; }
for tool in python3 zstd; do
	command -v $tool >/dev/null 2>&1 || { echo "no $tool here"; exit 77; }
done
exec python3 "$SRC/tests/corpus.py" "$PERFKIT_CORPUS" "$PERFKIT" "$O/tests/prog/recstat" \
	"$SRC/tests/foldcheck.py"
