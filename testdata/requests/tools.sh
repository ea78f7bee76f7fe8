#!/bin/sh
# Three small programs at once, each traced by a tool of its own, with the scheduler's events: a C program
# (ledger.c) by uftrace 0.13 and by LLVM's XRay 14, and a Python service (otel.py) with OpenTelemetry's
# SDK (pip install opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-json-file==0.66b1), whose
# python is in $PYTHON. uftrace.json.gz, xray.json.gz and python.jsonl.gz are what the tools wrote.
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root with perfkit's build on PATH.
set -e
cd "$(dirname "$0")"
here=$PWD
mkdir -p /srv/perfkit
gcc -D_GNU_SOURCE -O1 -fno-inline -fno-omit-frame-pointer -pg -pthread -Wl,--build-id -o /srv/perfkit/ledger ledger.c
clang -D_GNU_SOURCE -O1 -fno-inline -fno-omit-frame-pointer -fxray-instrument -fxray-instruction-threshold=1 \
	-pthread -Wl,--build-id -o /srv/perfkit/xledger ledger.c
cp otel.py /srv/perfkit/
tmp=$(mktemp -d)
cd "$tmp"
mkfifo go
chrt -f 50 "$PYTHON" /srv/perfkit/otel.py python.jsonl <go &
exec 3>go
sleep 2
cat >all.sh <<END
echo >&3
uftrace record -d uf /srv/perfkit/ledger &
XRAY_OPTIONS='patch_premain=true xray_mode=xray-basic xray_logfile_base=xray.' /srv/perfkit/xledger &
wait
sleep 0.1
END
perf record -N -q -a -m 4096 -k CLOCK_MONOTONIC \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-o tools.data -- chrt -f 50 sh all.sh
wait
uftrace dump -d uf --chrome | gzip -9n >"$here/uftrace.json.gz"
llvm-xray convert --symbolize --instr_map=/srv/perfkit/xledger --output-format=trace_event xray.* |
	gzip -9n >"$here/xray.json.gz"
gzip -9nc python.jsonl >"$here/python.jsonl.gz"
cd "$here"
python3 ../bystanders.py "$tmp/tools.data" -- ledger xledger audit python orders uftrace uftrace-main chrt bash
perfkit pack "$tmp/tools.data" --no-local --buildid-dir "" -q -o tools.tar.zst
rm -rf "$tmp"
