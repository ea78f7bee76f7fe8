#!/bin/sh
# PERFKIT_CORPUS=DIR: every recording of a folder of strangers' recordings through every verb,
# from file, pipe, bundle, folder and store: tests/corpus_verbs.py. Under sanitizers:
# PERFKIT_CORPUS=DIR make asan T=corpus_verbs
[ -n "${PERFKIT_CORPUS:-}" ] || { echo "PERFKIT_CORPUS is not set"; exit 77; }
for tool in python3 zstd; do
	command -v $tool >/dev/null 2>&1 || { echo "no $tool here"; exit 77; }
done
exec python3 "$SRC/tests/corpus_verbs.py" "$PERFKIT_CORPUS" "$PERFKIT"
