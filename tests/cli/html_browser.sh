# Reports in a real browser: tests/browser/html.py.
# beside: drives a browser
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
mkdir seeds && "$O/tests/fuzz/seeds" seeds || { echo "no hostile recording"; exit 1; }
PYTHONPATH=$SRC/tests/browser python3 "$SRC/tests/browser/html.py" "$PERFKIT" "$SRC"
