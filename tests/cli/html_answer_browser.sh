# The first screen of reports in a real browser: tests/browser/answer.py.
# beside: drives a browser
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
PYTHONPATH=$SRC/tests/browser python3 "$SRC/tests/browser/answer.py" "$PERFKIT" "$SRC"
