# Each pattern of frames.rules and causes.rules names a function that there is.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
python3 "$SRC/tests/rules/check.py" "$O/tests/prog/plainname"
# A misspelt one does not.
mkdir -p copy/tests copy/libsym/name copy/libtime/causes
cp -r "$SRC/tests/rules" copy/tests
cp "$SRC/libtime/causes/causes.rules" copy/libtime/causes
sed 's/uv__io_poll/uv_io_poll/' "$SRC/libsym/name/frames.rules" >copy/libsym/name/frames.rules
if python3 copy/tests/rules/check.py "$O/tests/prog/plainname" >out; then
	cat out
	exit 1
fi
grep -q 'frames.rules:[0-9]*: uv_io_poll: no such function' out
