#!/bin/sh
# Files that are there but cannot be opened or mapped: short of memory or descriptors, a verb ends
# with status 1 and names the file and the reason; what may not be read is a finding that names
# both. Never an answer that lacks names in silence.
set -u
nm -D "$PERFKIT" | grep -q '__[a-z]*san_init' && { echo "a sanitizer maps more than is allowed here"; exit 77; }
bad=0
demo=$SRC/testdata/demo
rec=$demo/perf.data
export HOME=$PWD
cp -r "$demo/symfs" s && chmod -R u+w s || exit 1
shop=s/srv/perfkit/shop

expect()  # what status regex
{
	[ "$rc" = "$2" ] || { echo "$1: status $rc, not $2: $(head -3 err)"; bad=1; }
	grep -q "$3" err || { echo "$1: says $(head -3 err)"; bad=1; }
	[ ! -s out ] || { echo "$1: an answer of $(wc -l <out) lines beside"; bad=1; }
}

# The program is larger than memory may become: the rest of the file is a hole.
cp $shop whole
truncate -s 4G $shop
for verb in collapse report doctor "svg --no-script" "export --to pprof" "import -o x.db"; do
	(ulimit -v 2000000; exec "$PERFKIT" $verb --no-local --symfs s "$rec") >out 2>err </dev/null
	rc=$?
	expect "$verb without memory" 1 "shop: Cannot allocate memory"
done
[ ! -e x.db ] || { echo "import left a store"; bad=1; }
cp whole $shop

# As many descriptors as the program itself takes, then one more, until there are enough. Below
# the first, not even the C library starts (status 127). A recording takes one at a time; unpacking a
# bundle takes more.
bundle=$SRC/testdata/orders/orders.tar.zst
"$PERFKIT" collapse --no-local "$bundle" >want 2>/dev/null || { echo "collapse"; exit 1; }
for verb in collapse "tail --force" report; do
	said=0 n=3 rc=1
	while [ $n -lt 12 ] && [ $rc != 0 ]; do
		sh -c 'ulimit -n $1 && shift && exec "$@"' sh $n \
			"$PERFKIT" $verb -q --no-local "$bundle" >out 2>err </dev/null
		rc=$?
		case $rc in
		0 | 127) ;;
		1) expect "$verb with $n descriptors" 1 "Too many open files"; said=1 ;;
		*) echo "$verb with $n descriptors: status $rc: $(head -3 err)"; bad=1 ;;
		esac
		[ $rc = 0 ] && [ "$verb" = collapse ] && ! cmp -s want out &&
			{ echo "collapse with $n descriptors: another answer"; bad=1; }
		n=$((n + 1))
	done
	[ $said = 1 ] || { echo "$verb was never short of descriptors"; bad=1; }
done

# What this user may not read.
as=
if [ "$(id -u)" = 0 ]; then
	command -v setpriv >/dev/null || { echo "left out: files without permission (setpriv)"; exit $bad; }
	as="setpriv --reuid 65534 --regid 65534 --clear-groups"
	chmod 755 . && cp "$PERFKIT" perfkit && cp "$rec" perf.data && chmod 644 perf.data
	$as ./perfkit --version >/dev/null 2>&1 ||
		{ echo "left out: files without permission (no other user gets here)"; exit $bad; }
	PERFKIT=./perfkit rec=perf.data
fi
chmod 0 $shop
$as "$PERFKIT" doctor -v --no-local --symfs s "$rec" >out 2>err
tr -s '\n ' ' ' <out | grep -q "shop: unreadable (s/srv/perfkit/shop: Permission denied)" || { echo "doctor of an unreadable program: $(grep shop out)"; bad=1; }
$as "$PERFKIT" report -v --no-local --symfs s "$rec" >out 2>err
tr -s '\n ' ' ' <out | grep -q "shop: unreadable (s/srv/perfkit/shop: Permission denied)" ||
	{ echo "report of an unreadable program: $(grep shop out)"; bad=1; }
exit $bad
