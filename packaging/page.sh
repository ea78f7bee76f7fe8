#!/bin/sh
# page.sh WASM OUT - perfkit.html: the program that `make wasm` built, its worker and its page in one
# file, which asks no network for anything.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
wasm=$1
{
	cat <<-'END'
		<!DOCTYPE html>
		<html lang="en">
		<head>
		<meta charset="utf-8">
		<meta name="viewport" content="width=device-width, initial-scale=1">
		<meta http-equiv="Content-Security-Policy" content="default-src 'none'; connect-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; frame-src blob:; form-action 'none'; base-uri 'none'">
		<title>perfkit</title>
		<style>
	END
	# the colours of reports
	sed -n '/^:root/p; /^@media (prefers-color-scheme: dark)/,/^}/{ /^@media/p; /:root/p; /^}/p; }' "$here/../render/html/html.css"
	cat "$here/page/page.css"
	echo '</style></head><body>'
	cat "$here/page/body.html"
	echo '<script type="text/plain" id="worker">'
	cat "$here/npm/host.js" "$wasm/perfkit.js" "$here/page/worker.js"
	echo '</script><script type="text/plain" id="wasm">'
	gzip -9nc "$wasm/perfkit.wasm" | base64 -w0
	echo '</script><script>'
	cat "$here/page/page.js"
	echo '</script></body></html>'
} >"$2.tmp"
mv "$2.tmp" "$2"
