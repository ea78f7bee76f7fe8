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

# A recording holds parts of programs' memory: what is made of it is its owner's, too.
umask 022
"$PERFKIT" pack -q --no-local perf.data -o mode.tar.zst && "$PERFKIT" unpack mode.tar.zst >/dev/null
[ "$(stat -c %a mode.tar.zst mode mode/perf.data mode/MANIFEST | paste -sd' ')" = "600 700 600 600" ] ||
	wrong "others may read it: $(stat -c '%a %n' mode.tar.zst mode mode/*)"

# Others' files stay out where only some are asked for; the recording does not change.
bundle=$SRC/testdata/orders/orders.tar.zst
files() { "$PERFKIT" unpack -f part.tar.zst -C part >/dev/null && sed -n 's/^file [0-9]* [^ ]* //p' part/MANIFEST; }
"$PERFKIT" pack --no-local "$bundle" -o part.tar.zst 2>/dev/null >said || wrong "pack of a bundle: exit $?"
files | grep -v '/kallsyms$' >all.files
cp part/perf.data whole.data
grep -q '^largest files' said || wrong "no summary of the largest files: $(cat said)"
[ "$(wc -l <all.files)" -gt 1 ] || wrong "the bundle has no files"
for only in '--min-share 100' '--pid 999999' '--comm nobody'; do
	rm -rf part
	# shellcheck disable=SC2086
	"$PERFKIT" pack --no-local $only "$bundle" -o part.tar.zst 2>/dev/null >said || wrong "$only: exit $?"
	[ "$(files | grep -v '/kallsyms$' | paste -sd' ')" = perf.data ] || wrong "$only: $(files)"
	cmp -s part/perf.data whole.data || wrong "$only: the recording was changed"
done
rm -rf part
"$PERFKIT" pack -q --no-local --comm snapshot "$bundle" -o part.tar.zst 2>/dev/null
grep -q '/elf$' all.files && { files | grep -q '/elf$' || wrong "--comm snapshot: $(files)"; }
"$PERFKIT" pack --no-local --min-share 100 "$bundle" -o part.tar.zst 2>/dev/null | grep -q '^left out: [1-9]' ||
	wrong "--min-share does not say what it left out"
"$PERFKIT" import -q --no-local -f perf.data -o run.db
"$PERFKIT" pack run.db 2>err
[ $? = 1 ] && grep -q 'is a store' err || wrong "pack of a store: $(cat err)"
exit $bad
