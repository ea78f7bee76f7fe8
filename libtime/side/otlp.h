/*
 * otlp.h - traces as OTLP/JSON, which OpenTelemetry's file exporter writes: one
 * ExportTraceServiceRequest per line (opentelemetry-proto, trace/v1/trace.proto; ids are hex,
 * 64-bit numbers may be strings).
 *
 *	{"resourceSpans":[{"resource":{"attributes":[...]},"scopeSpans":[{"spans":[
 *	  {"traceId","spanId","parentSpanId","name","startTimeUnixNano","endTimeUnixNano",
 *	   "attributes":[{"key","value":{"stringValue"}}],"status":{"code":2}}]}]}]}
 *
 * A span's key is its trace id. Labels are its attributes, service.name, and status=error. Its
 * process is process.pid. thread.id is the language's own number, so it counts as a tid only
 * with a thread.name, which attach.h compares.
 */
#ifndef LIBTIME_SIDE_OTLP_H
#define LIBTIME_SIDE_OTLP_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 if the text starts with such a line. */
int side_is_otlp(const char *text, size_t n);

/* Read all of it. A single document may span lines; otherwise a line that is not JSON is left
 * out as a whole. ERR_* of lines.h, ERR_NOMEM, ERR_LIMIT. */
int side_otlp_read(struct side *out, struct side_lines *l, struct err *e);

#endif
