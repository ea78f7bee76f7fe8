# Flame graphs in a real browser: tests/browser/flame.py.
# beside: drives a browser
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
PYTHONPATH=$SRC/tests/browser python3 "$SRC/tests/browser/flame.py" "$PERFKIT" "$O/tests/prog/flameapi"
