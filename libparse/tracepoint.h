/*
 * tracepoint.h - fields of tracepoint samples, by the formats the recording carries.
 *
 *	struct tracepoints *t;
 *	tracepoints_new(&t, rec, &e);
 *	const struct tracepoint *tp = tracepoint_of(t, ev);      // by the event's attr.config
 *	struct tp_field f;
 *	if (tracepoint_field(tp, "prev_pid", &f)) ...
 *	int64_t pid = tp_int(&f, s.raw, s.raw_size, rec->swap);
 *
 * The formats come from HEADER_TRACING_DATA (a blob in trace-cmd's format; written by
 * tools/perf/util/trace-event-info.c): per event the text of its `format` file. Fields are
 * located by that text; libtraceevent, which evaluates the print fmt, is used only for the text
 * of a record, and only with formats that print_fmt.h accepts. Damage in the blob loses only
 * the formats after it.
 */
#ifndef LIBPARSE_TRACEPOINT_H
#define LIBPARSE_TRACEPOINT_H

#include "base/text/buf.h"
#include "libparse/recording.h"

struct tracepoints;

struct tracepoint {
	const char *system, *name;
	const char *format; /* the text of its format file: format_size bytes, no NUL */
	size_t format_size;
	uint64_t id; /* attr.config of its events */
};

/* Where a field is in the raw data. size 0: there is no such field. */
struct tp_field {
	uint32_t offset, size;
	uint8_t is_signed, is_string;
	uint8_t is_dynamic;  /* the raw data has offset | size << 16 there (__data_loc) */
	uint8_t is_relative; /* that offset counts from the field's end (__rel_loc) */
};

/*
 * Parse the recording's formats (pipe mode: those read so far). A recording without any gives
 * an empty table. ERR_NOMEM. `rec` is borrowed for the table's life.
 */
int tracepoints_new(struct tracepoints **out, const struct recording *rec, struct err *e);

/* NULL is accepted. */
void tracepoints_free(struct tracepoints *t);

/* The damage of the blob in one line, or "". */
const char *tracepoints_damage(const struct tracepoints *t);

/* The tracepoint an event samples, or NULL: no tracepoint, or its format is not recorded. */
const struct tracepoint *tracepoint_of(const struct tracepoints *t, const struct event *ev);

/* A field by name: 1 and *f, or 0 and *f zeroed. */
int tracepoint_field(const struct tracepoint *tp, const char *name, struct tp_field *f);

/* A number, sign-extended where the field is signed; 0 if the raw data is too short. */
static inline int64_t tp_int(const struct tp_field *f, const uint8_t *raw, uint32_t raw_size,
			     int swap)
{
	if (!f->size || f->offset > raw_size || f->size > raw_size - f->offset)
		return 0;
	const uint8_t *p = raw + f->offset;
	switch (f->size) {
	case 1:
		return f->is_signed ? (int8_t)*p : *p;
	case 2: {
		uint16_t x = load_u16(p, swap);
		return f->is_signed ? (int16_t)x : x;
	}
	case 4: {
		uint32_t x = load_u32(p, swap);
		return f->is_signed ? (int64_t)(int32_t)x : (int64_t)x;
	}
	case 8:
		return (int64_t)load_u64(p, swap);
	default:
		return 0;
	}
}

/* A text (fixed array or dynamic) that is NUL-terminated inside the raw data, or "". Borrowed.
 */
const char *tp_text(const struct tp_field *f, const uint8_t *raw, uint32_t raw_size, int swap);

/* All fields as perf script shows them, appended to out; cut at 4096 bytes. If the format is
 * not safe for libtraceevent (print_fmt.h), or the raw data is too short for it: "name=value"
 * of each field. */
void tracepoint_text(struct tracepoints *t, const struct tracepoint *tp, const uint8_t *raw,
		     uint32_t raw_size, struct buf *out);

/* The common fields at the start of every raw record (offsets fixed since 2.6.3x):
 * common_flags: hard and soft interrupt bits of struct trace_entry. */
enum { TP_HARDIRQ = 0x08, TP_SOFTIRQ = 0x10 };
static inline uint8_t tp_common_flags(const uint8_t *raw, uint32_t raw_size)
{
	return raw_size > 2 ? raw[2] : 0;
}

#endif
