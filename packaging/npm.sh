#!/bin/sh
# npm.sh WASM OUT VERSION - the npm package from what `make wasm` built, as OUT/perfkit-VERSION.tgz. No
# install script, no dependencies.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
wasm=$1 out=$2 version=$3
rm -rf "$out/package"
mkdir -p "$out/package"
cp "$here/npm/host.js" "$here/npm/perfkit-cli.js" "$wasm/perfkit.js" "$wasm/perfkit.wasm" "$here/../LICENSE" "$out/package/"
cp "$here/../docs/laptops.md" "$out/package/README.md"
{
	echo "perfkit.wasm contains, beside perfkit and emscripten's C library (MIT):"
	sed -n 's/^\([^# ]*\) \([^ ]*\) [^ ]* [^ ]* \(.*\)/\1 \2 (\3)/p' "$here/wasm_libs.txt"
} >"$out/package/LIBRARIES"
chmod 755 "$out/package/perfkit-cli.js"
cat >"$out/package/package.json" <<END
{
  "name": "perfkit",
  "version": "$version",
  "description": "Reads what perf record wrote, offline: where CPU time and waiting went, and why the slowest moments were slow",
  "license": "$(sed -n '1s/ .*//p' "$here/../LICENSE")",
  "bin": { "perfkit": "perfkit-cli.js" },
  "files": ["*.js", "perfkit.wasm", "LIBRARIES", "LICENSE", "README.md"],
  "engines": { "node": ">=18" }
}
END
tar czf "$out/perfkit-$version.tgz" --sort=name --owner=0 --group=0 --numeric-owner -C "$out" package
