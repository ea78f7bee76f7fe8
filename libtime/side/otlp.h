/*
 * otlp.h - traces as OpenTelemetry's file exporter, or anybody else who keeps OTLP/JSON, writes
 * them: an ExportTraceServiceRequest a line (opentelemetry-proto, trace/v1/trace.proto; ids are
 * hex, 64-bit numbers may be strings).
 *
 *	{"resourceSpans":[{"resource":{"attributes":[...]},"scopeSpans":[{"spans":[
 *	  {"traceId","spanId","parentSpanId","name","startTimeUnixNano","endTimeUnixNano",
 *	   "attributes":[{"key","value":{"stringValue"}}],"status":{"code":2}}]}]}]}
 *
 * A span's key is its trace id. Labels are its attributes, service.name, and status=error. Its
 * process is process.pid; thread.id counts as a tid only beside thread.name, since it is the
 * language's own number: attach.h asks whether the names agree.
 */
#ifndef LIBTIME_SIDE_OTLP_H
#define LIBTIME_SIDE_OTLP_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 when the text begins with such a line. */
int side_otlp_told(const char *text, size_t n);

/* Read all of it; a single document may have many lines. A line that is no JSON is left out as
 * a whole. ERR_* of lines.h, ERR_NOMEM, ERR_LIMIT. */
int side_otlp_read(struct side *out, struct side_lines *l, struct err *e);

#endif
