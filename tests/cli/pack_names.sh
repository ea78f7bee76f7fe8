#!/bin/sh
# pack and unpack by their default names, in one folder; what neither replaces nor takes.
bad=0
wrong() { echo "$*"; bad=1; }
demo=$SRC/testdata/demo/perf.data
cp "$demo" perf.data
"$PERFKIT" pack -q --no-local perf.data || wrong "pack: exit $?"
"$PERFKIT" unpack perf.data.tar.zst >said || wrong "unpack beside the recording: exit $?"
grep -q '^perf.data.unpacked: 2 files' said || wrong "unpack says: $(cat said)"
"$PERFKIT" collapse -q perf.data.unpacked >unpacked.folded || wrong "the folder: exit $?"
"$PERFKIT" collapse -q --no-local perf.data | cmp -s - unpacked.folded || wrong "the folder answers otherwise"
mv perf.data.tar.zst run.tar.zst
"$PERFKIT" unpack run.tar.zst | grep -q '^run: 2 files' || wrong "unpack run.tar.zst does not make run"
rm -f run.tar.zst
"$PERFKIT" pack -q --no-local - <perf.data || wrong "pack -: exit $?"
[ -s perf.data.tar.zst ] || wrong "pack - wrote $(ls)"
for f in perf.data ./perf.data; do
	"$PERFKIT" pack -q --no-local perf.data -o $f 2>err
	[ $? = 3 ] && grep -q 'is the recording itself' err || wrong "pack onto its recording: $(cat err)"
done
cmp -s "$demo" perf.data || wrong "a recording was changed"
"$PERFKIT" import -q --no-local -f perf.data -o run.db
"$PERFKIT" pack run.db 2>err
[ $? = 1 ] && grep -q 'is a store' err || wrong "pack of a store: $(cat err)"
exit $bad
