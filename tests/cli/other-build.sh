#!/bin/sh
# A file of another build is no file: stacks are unwound as far past it as without any. (Frame
# pointers lead through both; what the file says leads nowhere.)
gzip -dc "$SRC/testdata/doctor/lost-records.data.gz" >perf.data || exit 1
other=$SRC/testdata/demo/symfs/srv/perfkit/shop
"$PERFKIT" report -q -v --no-local perf.data |
	sed -n 's|^ *[0-9.]* %  *\(/[^ ]*\): not found$|\1|p' >paths
while read -r path; do
	mkdir -p "symfs${path%/*}" && cp "$other" "symfs$path" || exit 1
done <paths
[ -s paths ] || { echo "no file is missing"; exit 1; }
"$PERFKIT" collapse -q --force --no-local perf.data >without || exit 1
"$PERFKIT" collapse -q --force --no-local --symfs symfs perf.data >with || exit 1
cmp without with || exit 1
"$PERFKIT" report -q -v --no-local --symfs symfs perf.data | grep -q 'build-id mismatch' || {
	echo "no file was met and left alone"
	exit 1
}
echo "$(wc -l <paths) files of another build, $(wc -l <with) stacks"
