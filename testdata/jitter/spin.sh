#!/bin/sh
# perfkit record jitter on CPU 0, with a control on CPU 1, while tests/truth/hog.c takes CPU 0 for 8 ms
# now and then; bursts.txt says when. The bundle holds the gaps.
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs that had other work, too; run as root with
# perfkit in /srv/perfkit.
set -e
cd "$(dirname "$0")"
here=$PWD
gcc -std=gnu11 -D_GNU_SOURCE -O1 -pthread -Wno-unused-function -o /srv/perfkit/hog ../../tests/truth/hog.c
cd /srv/perfkit
(sleep 1 && ./hog "$here/bursts.txt" --rounds 11) &
./perfkit record jitter -c 0 --control 1 -d 2 -o spin.tar.zst
wait
mkdir spin && tar --zstd -xf spin.tar.zst -C spin perf.data perf.data.gaps
python3 "$here/../bystanders.py" spin/perf.data -- hog front hogmain spinner-0 spinner-1 perfkit
./perfkit pack spin/perf.data --no-local --buildid-dir "" -q -o "$here/spin.tar.zst"
rm -rf spin spin.tar.zst
