#!/bin/sh
# perf killed with SIGKILL: data.size is 0, there are no feature sections and no build-ids, the last record may be torn. perf script reads such a file after a warning only if it can tell the size; the witness is therefore made from the same bytes with data.size patched in (recipe below), on all whole records.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh ../demo/build.sh
/srv/perfkit/shop 3 & pid=$!
perf record -N -q -m 4 -F 997 -e cpu-clock:u -g -o perf.data -p $pid & perf=$!
sleep 2.2
kill -9 $perf
wait
chmod 644 perf.data
echo --symfs ../demo/symfs >args
python3 patch.py perf.data whole.data
mv perf.data cut.data; mv whole.data perf.data
sh ../witness.sh cut
rm perf.data; mv cut.data perf.data
