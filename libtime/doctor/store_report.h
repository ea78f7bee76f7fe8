/*
 * store_report.h - what `perfkit report` says of a recording as a file, kept in its store: the
 * store has neither its header and record counts nor the files that name its frames.
 */
#ifndef LIBTIME_DOCTOR_STORE_REPORT_H
#define LIBTIME_DOCTOR_STORE_REPORT_H

#include "base/arena.h"
#include "libtime/store/store_read.h"
#include "libtime/store/store_write.h"

/* Some text of the report, in order. */
struct report_line {
	const char *part; /* "head", "names", "file", "hint": see docs/store.md */
	const char *text;
};

/* Zero-initialised is empty. */
struct report_lines {
	struct arena text;
	VEC(struct report_line) v;
};

/* Append a copy of `text`; `part` is a literal. ERR_NOMEM. */
int report_lines_add(struct report_lines *l, const char *part, const char *text);
void report_lines_release(struct report_lines *l); /* gives all back; empty then */

/* Write the lines of the recording added last. ERR_IO. */
int store_write_report(struct store_writer *w, const struct report_lines *l, struct err *e);

/* Read those of a recording; none where an older perfkit made the store. *out is the caller's
 * to release, after a failure too. ERR_IO, ERR_FORMAT, ERR_NOMEM. */
int store_report(struct store *s, int64_t recording, struct report_lines *out, struct err *e);

#endif
