#!/bin/sh
# Texts of a recording never reach a terminal as they are: no verb prints a control character
# that a comm, path, host, command line or event brought along, and a line stays one line.
"$O/tests/prog/hostile" >perf.data || { echo "no recording"; exit 1; }
cp perf.data "$(printf 'a\033[2Jb.data')"
failed=0
check()  # what
{
	for f in out err; do
		LC_ALL=C tr -d '\n\t -~\200-\377' <$f >left
		[ -s left ] && { echo "$1: control characters on $f:"; od -c left | head -3; failed=1; }
		LC_ALL=C grep -q "$(printf '\302\233')" $f && { echo "$1: CSI on $f"; failed=1; }
	done
	return 0
}
try()
{
	"$PERFKIT" "$@" >out 2>err </dev/null
	[ -s out ] || [ -s err ] || { echo "$*: nothing printed"; failed=1; }
	check "$*"
}
named=$(printf 'a\033[2Jb.data')
try collapse perf.data
[ "$(wc -l <out)" = 1 ] || { echo "collapse: $(wc -l <out) lines"; failed=1; }
try collapse --addrs --tid-name perf.data
try collapse -e nothing perf.data
try collapse --offcpu perf.data
try collapse --offcpu --force perf.data
try report perf.data
try report --stats perf.data
try report "$named"
try doctor perf.data
try doctor --for tail "$named"
try doctor --json perf.data
try tail perf.data
try tail --force perf.data
try timeline perf.data
try import perf.data -o run.db
try report run.db
try svg perf.data
try svg "$named.none"
try pack perf.data -o run.pk
try unpack "$named"
try "$named"
try svg --color "$named" perf.data
head -c 900 perf.data >"$named.cut"
try collapse "$named.cut"
printf 'a\033[2J;b\n' | "$PERFKIT" svg - -o x.svg >out 2>err
check "svg of folded text"
exit $failed
