#!/bin/sh
# Answers that need no witness, since the workload is its own truth: which function may appear
# under which comm, and the same recording in another container giving the same bytes.
failed=0
fold()
{
	timeout 60 "$PERFKIT" collapse -q --no-inline --no-local --buildid-dir "$PWD" "$@"
}
never()  # what pattern file
{
	if grep -q "$2" "$3"; then
		echo "$1:"
		grep "$2" "$3" | head -3
		failed=1
	fi
}
some()  # what pattern file
{
	grep -q "$2" "$3" || { echo "$1: nothing like $2"; failed=1; }
}

# Two programs at equal addresses, exec after fork, comm changes.
d=$SRC/testdata/exec-storm
fold --symfs "$d/symfs" -i "$d/perf.data" >storm || exit 1
some 'red runs' '^red;.*;main;red_outer;red_inner ' storm
some 'blue runs' '^blue;.*;main;blue_outer;blue_inner ' storm
some 'green runs' '^green;.*;main;green_child;spin_ms ' storm
never 'a blue function in red' '^red;.*blue_' storm
never 'a red function in blue' '^blue;.*red_' storm
never 'a child function under another comm' '^\(red\|blue\|storm\);.*green_child' storm

# Two libraries at one address, one after the other.
d=$SRC/testdata/dlclose
fold --symfs "$d/symfs" -i "$d/perf.data" >turn || exit 1
some 'left runs' '^left;.*;run;left_outer;left_inner ' turn
some 'right runs' '^right;.*;run;right_outer;right_inner ' turn
never 'a right function in left' '^left;.*right_' turn
never 'a left function in right' '^right;.*left_' turn

# C++ names whole, and a call that never returns blamed on its caller.
d=$SRC/testdata/cxx-names
fold --symfs "$d/symfs" -i "$d/perf.data" >names || exit 1
some 'template arguments' ';std::function<void (int)>::operator();' names
some 'an anonymous namespace' ';(anonymous namespace)::Adder::operator() ' names
some 'an operator' ';(anonymous namespace)::Box<unsigned int>::operator< ' names
some 'the caller' ';main;calls_what_never_returns;spin_and_exit ' names
never 'a function that never runs' 'never_runs' names

# The sum of the weights is that of the samples' periods, whatever names there are.
sum()
{
	awk '{ n += $NF } END { printf "%.0f\n", n }'
}
a=$(fold -i "$SRC/testdata/demo/perf.data" | sum)
b=$(fold --symfs "$SRC/testdata/demo/symfs" -i "$SRC/testdata/demo/perf.data" | sum)
[ "$a" = "$b" ] && [ "$a" -gt 0 ] || { echo "weights: $a without names, $b with"; failed=1; }

# A pipe-mode recording from stdin, from a pipe and by name.
d=$SRC/testdata/pipe
fold --symfs "$SRC/testdata/demo/symfs" -i "$d/perf.data" >named || exit 1
fold --symfs "$SRC/testdata/demo/symfs" - <"$d/perf.data" >stdin || failed=1
# shellcheck disable=SC2002
cat "$d/perf.data" | fold --symfs "$SRC/testdata/demo/symfs" - >piped || failed=1
cmp named stdin || failed=1
cmp named piped || failed=1

# The same samples in every container the writer makes, and twice the same bytes.
pwgen=$O/tests/prog/pwgen
"$pwgen" plain >plain.data || exit 1
fold -i plain.data >plain || exit 1
[ -s plain ] || { echo "plain: nothing"; failed=1; }
for c in $("$pwgen" -l); do
	"$pwgen" "$c" >c.data || exit 1
	fold -i c.data >got || { echo "$c: fails"; failed=1; }
	cmp -s plain got || { echo "$c differs:"; diff plain got; failed=1; }
done
fold -i plain.data | cmp -s plain - || { echo "not deterministic"; failed=1; }
exit $failed
