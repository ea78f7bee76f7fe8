# readers.sh - sourced by tests of exported tables: $reader is a python3 that may have the modules
# of tests/readers.txt.
reader=$O/readers/bin/python3
[ -x "$reader" ] || reader=$(command -v python3) || { echo "no python3 here"; exit 77; }
has() { "$reader" -c "import $1" 2>/dev/null; }
