"""bench_requests.py csv|otlp|ldb N FROM_NS TO_NS TID: N requests, one after the other, for bench_requests.sh;
of LDB N records: calls nested three deep and one request in a hundred of them, by TID and TID + 1."""
import json
import struct
import sys

kind, n, begin, end, tid = sys.argv[1], *map(int, sys.argv[2:])
step = (end - begin) // n


def attribute(key, **value):
    return {"key": key, "value": value}


def span(i):
    start = begin + i * step
    return {"traceId": "%032x" % (i + 1), "spanId": "%016x" % (i + 1), "name": "GET /%d" % (i % 7), "kind": 2,
            "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + step // 2),
            "attributes": [attribute("http.route", stringValue="/%d" % (i % 7)),
                           attribute("http.status_code", intValue="200")], "status": {}}


if kind == "csv":
    print("start_ns,end_ns,tid,key,route")
    for i in range(n):
        print("%d,%d,%d,%d,/%d" % (begin + i * step, begin + i * step + step // 2, tid, i, i % 7))
elif kind == "ldb":
    step *= 4
    for i in range(n // 4):
        at, who = begin + i * step, tid + i % 2
        calls = [(at + step // 2, step // 8, 0x401000), (at + step * 3 // 4, step // 2, 0x402000 + i % 89 * 64),
                 (at + step, step, 0x403000)]
        v = [(1, t, length, site + 5, i) for t, length, site in calls]
        v.append((2 if i % 100 < 50 else 4, at, 1000 + i // 100, 0, 0))
        for t, ns, *args in v:
            sys.stdout.buffer.write(struct.pack("<iIIIQQQ", t, ns // 10**9, ns % 10**9, who, *args))
else:
    shop = {"attributes": [attribute("service.name", stringValue="shop")]}
    for i in range(0, n, 100):
        spans = [span(k) for k in range(i, i + 100)]
        print(json.dumps({"resourceSpans": [{"resource": shop, "scopeSpans": [{"spans": spans}]}]},
                         separators=(",", ":")))
