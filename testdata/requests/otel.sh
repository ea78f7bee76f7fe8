#!/bin/sh
# otel.js, a service with OpenTelemetry's SDK for node, recorded while its traces are received:
# traces.jsonl.gz is what the SDK's exporter sent, a line a message. The frames of node stay unnamed.
#
# node 20, @opentelemetry/sdk-trace-node and exporter-trace-otlp-http (npm install) in this folder,
# perf 6.1.192, Linux 6.18; run as root with perfkit's build on PATH.
set -e
cd "$(dirname "$0")"
tmp=$(mktemp -d)
node otel.js receive "$tmp/traces.jsonl" &
receiver=$!
sleep 1
perf record -N -q -a -m 4096 -k CLOCK_MONOTONIC -g \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-o "$tmp/otel.data" -- chrt -f 50 node otel.js serve
kill $receiver
gzip -9n "$tmp/traces.jsonl"
mv "$tmp/traces.jsonl.gz" .
python3 ../bystanders.py "$tmp/otel.data" -- node libuv-worker chrt bash
python3 ../kallsyms.py "$tmp/otel.data" >"$tmp/kallsyms"
perfkit pack "$tmp/otel.data" --no-local --kallsyms "$tmp/kallsyms" -q -o otel.tar.zst
rm -rf "$tmp"
