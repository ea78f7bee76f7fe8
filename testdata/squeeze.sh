#!/bin/sh
# squeeze.sh BUNDLE...: compress bundles as far as zstd can, which `perfkit pack` has no time for.
set -e
for bundle; do
	zstd -dcq "$bundle" >"$bundle.tar"
	zstd -q -f --ultra -22 --zstd=wlog=23 --check --rm "$bundle.tar" -o "$bundle"
done
