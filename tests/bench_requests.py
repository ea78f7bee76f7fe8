"""bench_requests.py csv|otlp N FROM_NS TO_NS TID: N requests, one after the other, for bench_requests.sh."""
import json
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
else:
    shop = {"attributes": [attribute("service.name", stringValue="shop")]}
    for i in range(0, n, 100):
        spans = [span(k) for k in range(i, i + 100)]
        print(json.dumps({"resourceSpans": [{"resource": shop, "scopeSpans": [{"spans": spans}]}]},
                         separators=(",", ":")))
