"""otel.py FILE - a small service with OpenTelemetry's SDK for Python: two threads store items under one lock,
which a slow report holds now and then. Its exporter appends OTLP/JSON to FILE, a line a batch. Begins when
a line comes on standard input."""
import sys
import threading
import time

from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


class KernelThread(SpanProcessor):
    """Says which thread a span is of, by the kernel's number and name."""

    def on_start(self, span, parent_context=None):
        tid = threading.get_native_id()
        with open("/proc/self/task/%d/comm" % tid) as name:
            span.set_attribute("thread.name", name.read().strip())
        span.set_attribute("thread.id", tid)


provider = TracerProvider()
provider.add_span_processor(KernelThread())
provider.add_span_processor(BatchSpanProcessor(FileSpanExporter(sys.argv[1])))
tracer = provider.get_tracer("otel.py")
store = threading.Lock()


def item(route, seconds):
    with tracer.start_as_current_span("GET " + route, attributes={"http.route": route}):
        with tracer.start_as_current_span("store"), store:
            time.sleep(seconds)


def serve(routes):
    for route, seconds in routes:
        item(route, seconds)
        time.sleep(0.002)


workers = [threading.Thread(target=serve, args=(r,)) for r in
           ([("/item", 0.0003)] * 31, [("/report", 0.009)] * 3)]
sys.stdin.readline()
for w in workers:
    w.start()
for w in workers:
    w.join()
provider.shutdown()
