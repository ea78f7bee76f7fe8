#!/usr/bin/env python3
"""retell.py otlp|chrome REQUESTS.csv [PID OFFSET_NS]: the requests that `serve` logged, as other tools
would have: OTLP/JSON lines (ten spans a line; wall-clock time = logged time + OFFSET_NS) or a Chrome
trace. Keys are trace ids: the request's key as hex."""
import csv
import json
import sys

rows = list(csv.DictReader(open(sys.argv[2])))
compact = {"separators": (",", ":")}


def attribute(key, value):
    return {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}


def otlp(pid, offset):
    for i in range(0, len(rows), 10):
        spans = [{"traceId": r["key"].encode().hex().zfill(32), "spanId": r["key"].encode().hex().zfill(16),
                  "name": "request", "kind": 2,
                  "startTimeUnixNano": str(int(r["start_ns"]) + offset),
                  "endTimeUnixNano": str(int(r["end_ns"]) + offset),
                  "attributes": [attribute("route", r["route"]), attribute("lock_ns", int(r["lock_ns"])),
                                 attribute("thread.id", int(r["tid"])), attribute("thread.name", "server")],
                  "status": {}} for r in rows[i:i + 10]]
        resource = {"attributes": [attribute("service.name", "shop"), attribute("process.pid", pid)]}
        print(json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [
            {"scope": {"name": "serve"}, "spans": spans}]}]}, **compact))


def chrome():
    events = []
    for r in rows:
        start, end = int(r["start_ns"]), int(r["end_ns"])
        events.append({"ph": "X", "name": "request", "id": r["key"], "tid": int(r["tid"]),
                       "ts": "%d.%03d" % divmod(start, 1000), "dur": "%d.%03d" % divmod(end - start, 1000),
                       "args": {"route": r["route"], "lock_ns": int(r["lock_ns"])}})
    text = json.dumps({"traceEvents": events}, **compact)
    for field in "ts", "dur":  # numbers, with all their digits
        parts = text.split('"%s":"' % field)
        text = ('"%s":' % field).join([parts[0]] + [p.replace('"', "", 1) for p in parts[1:]])
    print(text)


otlp(int(sys.argv[3]), int(sys.argv[4])) if sys.argv[1] == "otlp" else chrome()
