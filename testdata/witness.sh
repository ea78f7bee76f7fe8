#!/bin/sh
# witness.sh NAME - store what perf says about testdata/NAME/perf.data: script.txt.gz and the
# folded stacks. Needs the perf that made the recording and FlameGraph's stackcollapse-perf.pl
# ($STACKCOLLAPSE, not part of this project); tests only read the stored answers.
#
#	script.txt.gz          perf script
#	folded-script.txt.gz   perf script | stackcollapse-perf.pl, as it comes
#	folded.txt.gz          the same through normalise.py: what is right
#	folded-OPTION.txt.gz   with --all, --kernel, --jit, --addrs, --pid, --tid
#	folded-inline.txt.gz      perf script's default, where it has inlined functions
#	folded-event-NAME.txt.gz  each further event; their names are in `events`
#
# NAME/args holds the options both perf script and perfkit collapse get, paths relative to
# NAME. The build-id cache of whoever runs this is kept out, so that only what lies beside the
# recording names anything.
set -e
: "${STACKCOLLAPSE:?path of stackcollapse-perf.pl}"
cd "$(dirname "$0")/$1"
args=$(cat args)
none=$(mktemp -d)
trap 'rm -rf "$none"' EXIT
with_inlined()
{
	perf --buildid-dir "$none" script $args -i perf.data "$@" 2>>"$none/err"
}
script()
{
	with_inlined --no-inline "$@"
}
fold()  # options... ; the marks normalise.py leaves are undone
{
	"$STACKCOLLAPSE" "$@" 2>/dev/null | sed 's/\xe2\x80\x8b//; s/\xe2\x88\x95/\//g; s,/00;,/0;,; s/4294967295/-1/g'
}
rm -f folded*.txt.gz
script >"$none/script"
gzip -9n <"$none/script" >script.txt.gz
"$STACKCOLLAPSE" <"$none/script" 2>/dev/null | gzip -9n >folded-script.txt.gz
python3 ../normalise.py <"$none/script" >"$none/right"
fold <"$none/right" | gzip -9n >folded.txt.gz
for o in all kernel jit addrs; do
	fold --$o <"$none/right" | gzip -9n >folded-$o.txt.gz
done
with_inlined | python3 ../normalise.py | fold >"$none/inline"
gzip -dc folded.txt.gz | cmp -s - "$none/inline" || gzip -9n <"$none/inline" >folded-inline.txt.gz
script -F comm,pid,tid,time,period,event,ip,sym,symoff,dso | python3 ../normalise.py >"$none/right"
fold --pid <"$none/right" | gzip -9n >folded-pid.txt.gz
fold --tid <"$none/right" | gzip -9n >folded-tid.txt.gz
for e in $(perf evlist -i perf.data 2>/dev/null | grep -v '^#\|^dummy'); do
	python3 ../normalise.py "$e" <"$none/script" | fold >"$none/event"
	gzip -dc folded.txt.gz | cmp -s - "$none/event" && continue
	[ -s "$none/event" ] || continue
	gzip -9n <"$none/event" >"folded-event-$(echo "$e" | tr : _).txt.gz"
	echo "$e" >>"$none/events"
done
rm -f events
[ -f "$none/events" ] && mv "$none/events" events
gzip -dc folded.txt.gz | awk '{n += $NF; l++} END {print l " stacks, weight " n}'
