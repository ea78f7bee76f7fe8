#!/bin/sh
# A Python program (traced.py) traced by viztracer 1.1 (pip install viztracer), with the scheduler's events
# of the same time (the frames of Python stay unnamed): trace.json.gz is what viztracer wrote, traced.csv the program's own log.
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs, Python 3.11; run as root with perfkit's build on
# PATH. Of several attempts one was kept in which no switch of the program's threads is missing.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
cp traced.py /srv/perfkit/
tmp=$(mktemp -d)
perf record -N -q -a -m 4096 -k CLOCK_MONOTONIC -g \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-o "$tmp/traced.data" -- chrt -f 50 python3 -m viztracer --quiet --ignore_c_function --ignore_frozen \
	--output_file "$tmp/trace.json" -- /srv/perfkit/traced.py traced.csv
gzip -9n <"$tmp/trace.json" >trace.json.gz
python3 ../bystanders.py "$tmp/traced.data" -- python3 orders audit viztracer chrt bash
python3 ../kallsyms.py "$tmp/traced.data" >"$tmp/kallsyms"
perfkit pack "$tmp/traced.data" --no-local --buildid-dir "" --kallsyms "$tmp/kallsyms" -q -o traced.tar.zst
rm -rf "$tmp"
