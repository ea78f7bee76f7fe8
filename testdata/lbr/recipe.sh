#!/bin/sh
# Call stacks from branch records (perf record --call-graph lbr), written by lbrgen, since they need an
# Intel processor; what perf says of them is perf's (6.1.192).
set -e
cd "$(dirname "$0")"
[ -f symfs/srv/perfkit/calls ] || sh build.sh
make -C ../.. build/tests/prog/lbrgen
../../build/tests/prog/lbrgen /srv/perfkit/calls 401000 1000 1000 <samples.txt >perf.data
echo --symfs symfs >args
sh ../witness.sh lbr
perf script -G -F ip,sym,dso,brstacksym --symfs symfs -i perf.data | gzip -9n >script-lbr.txt.gz
