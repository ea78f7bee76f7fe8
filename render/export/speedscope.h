/*
 * speedscope.h - profiles for speedscope: JSON that its page and its desktop program open.
 *
 * Sums become a "sampled" profile for each thread and column: stacks with weights, in the order
 * of their names. What has a place in time becomes an "evented" one for each thread:
 *
 *	span      ┌───── request ─────┐        a span is the outermost frame
 *	piece     │ main  │ main      │ main   then the stack of a piece of time, and its mark:
 *	          │ parse │ read      │        why it waited, or [running, no sample]
 *	          │       │ pipe      │
 *
 * A frame is a function of a file; lines are left out, so that one function is one frame.
 *
 * The format: www.speedscope.app/file-format-schema.json, and src/lib/file-format-spec.ts in
 * github.com/jlfwong/speedscope. Times are ns; those of a file's first 2^53 ns are exact.
 */
#ifndef RENDER_EXPORT_SPEEDSCOPE_H
#define RENDER_EXPORT_SPEEDSCOPE_H

#include "render/export/export_rows.h"

#include <stdio.h>

/* Write sorted rows to `f`. ERR_NOMEM, ERR_IO. */
int speedscope_write(const struct export_rows *rows, FILE *f, struct err *e);

/*
 * Write what each thread of a timeline did when: the pieces of wall.h below its spans. What was
 * set apart is *hidden, the caller's to release in any case. ERR_REFUSED where nothing is left,
 * ERR_NOMEM, ERR_IO.
 */
int speedscope_timeline(const struct timeline *tl, const struct population *of, FILE *f,
			struct set_apart *hidden, struct err *e);

/* A file of evented profiles, thread by thread. */
struct speedscope;

/* Begin one in `f`; both are borrowed. `stacks` may grow until the end. *out is NULL after
 * ERR_NOMEM. */
int speedscope_open(struct speedscope **out, const struct stacks *stacks, FILE *f,
		    struct err *e);

/* [start, end) with one stack. */
struct speedscope_piece {
	uint64_t start_ns, end_ns;
	uint32_t path;
	int waiting; /* of the profiles, that which ran longest is shown first */
};

struct speedscope_span {
	uint64_t start_ns, end_ns;
	uint32_t name; /* strings id */
};

/* A thread: its pieces in order, none overlapping; its spans in any order. Of spans that
 * overlap without nesting, the later one is left out. Times count from `zero_ns`. */
struct speedscope_thread {
	uint32_t comm;
	int32_t pid, tid;
	uint64_t zero_ns;
	const struct speedscope_piece *pieces;
	struct speedscope_span *spans; /* get sorted */
	size_t npieces, nspans;
};
int speedscope_thread(struct speedscope *s, const struct speedscope_thread *t, struct err *e);

/* Write what the profiles refer to when `rc` is 0, and give everything back; `rc`, or the
 * failure. */
int speedscope_close(struct speedscope *s, int rc, struct err *e);

#endif
