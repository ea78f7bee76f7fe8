# The scripts of pictures and reports, as the build embeds them: they parse, and eslint, where npm
# has it, finds nothing (tests/lib/eslint.config.cjs has the rules).
cd "$O/render" || exit 1
for js in flame.js timeline.js html.js; do
	[ -s $js ] || { echo "$js was not built"; exit 1; }
	! grep -qE '^[[:blank:]]' $js || { echo "$js has blanks in front of lines"; exit 1; }
	! grep -q '^//' $js || { echo "$js has lines of comment"; exit 1; }
done
command -v node >/dev/null || { echo "node is not installed"; exit 77; }
for js in flame.js timeline.js html.js; do
	node --check $js || exit 1
done
lint=$(command -v eslint || echo "$(npm root -g 2>/dev/null)/eslint/bin/eslint.js")
[ -e "$lint" ] || { echo "eslint is not installed: the scripts parse, no more is known"; exit 77; }
exec node "$lint" --no-color -c "$SRC/tests/lib/eslint.config.cjs" flame.js timeline.js html.js
