# Reports at four widths, light and dark, on paper and in Firefox: tests/browser/looks.py.
# beside: drives a browser
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
PYTHONPATH=$SRC/tests/browser python3 "$SRC/tests/browser/looks.py" "$PERFKIT" "$SRC"
