# perfkit.html in a real browser: tests/browser/page.py.
# beside: drives a browser
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
[ -f "$O/perfkit.html" ] || { echo "no $O/perfkit.html here (make page, with emscripten)"; exit 77; }
PYTHONPATH=$SRC/tests/browser python3 "$SRC/tests/browser/page.py" "$PERFKIT" "$SRC" "$O/perfkit.html"
