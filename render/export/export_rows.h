/*
 * export_rows.h - time and counts summed by thread and stack: what formats that hold sums are
 * written from (pprof.h, speedscope.h).
 *
 *	struct export_rows r = {.stacks = stacks};
 *	export_rows_column(&r, &(struct export_column){"offcpu", "ns", "waits"});
 *	export_rows_stack(&r, stacks, &row, 0);         // any number of times
 *	export_rows_sort(&r, &e);
 *	for (size_t i = 0; i < r.v.n; i++) ... r.v.v[i] ...
 *	export_rows_release(&r);
 */
#ifndef RENDER_EXPORT_EXPORT_ROWS_H
#define RENDER_EXPORT_EXPORT_ROWS_H

#include "base/text/buf.h"
#include "base/err.h"
#include "libtime/explain/stack_rows.h"

/* A kind of value. Texts are borrowed for the life of the rows. */
struct export_column {
	const char *name;  /* "cpu-clock", "offcpu" */
	const char *unit;  /* "ns", "events", "samples" */
	const char *count; /* what rows count beside: "samples", "waits"; NULL: nothing */
};

struct export_row {
	uint32_t comm, path; /* of the stacks; path 0: no stack */
	uint32_t cgroup;     /* strings id; 0: not known, or not asked for */
	uint32_t labels;     /* set of export_rows.labels; 0: none */
	int32_t pid, tid;    /* -1: not known */
	const char *cause;   /* why a wait was; NULL: no wait. Static */
	uint32_t column;
	uint64_t value, count;
};

/* Zero-initialised but for `stacks` is empty. */
struct export_rows {
	const struct stacks *stacks; /* borrowed; may grow until the rows are sorted */
	VEC(struct export_column) columns;
	VEC(struct export_row) v;
	int distinct; /* few rows are alike: sum up when sorting, not when adding */
	struct idmap index;
	const struct label_sets *labels; /* borrowed; NULL: none asked for */
	const char *const *label_keys;   /* theirs, borrowed */
	uint32_t shown;                  /* the column that readers show first */
	double seconds;                  /* recorded; 0: not known */
};

/* One more column. 0 or ERR_NOMEM. */
int export_rows_column(struct export_rows *r, const struct export_column *c);

/* Add a stack's weight and count to the row that is like it; its marks and wakers become frames
 * of `stacks`, which are the rows' own. 0 or ERR_NOMEM. */
int export_rows_stack(struct export_rows *r, struct stacks *stacks, const struct stack_row *row,
		      uint32_t column);

/* By thread (its name, pid, tid), then by stack, all by what they say and never by their ids:
 * a recording and its store give the same order. Rows that differ in their column alone follow
 * each other. Nothing may be added after. ERR_NOMEM. */
int export_rows_sort(struct export_rows *r, struct err *e);

/* 1 when the two are of one thread: name, pid and tid. */
int export_rows_same_thread(const struct export_row *a, const struct export_row *b);

/* 1 when the two differ in nothing but column and values. */
int export_rows_same_stack(const struct export_row *a, const struct export_row *b);

/* Give everything back but the stacks. */
void export_rows_release(struct export_rows *r);

/* What a frame without a name is called: "[libc.so.6]", "[unknown]"; else its name. Appended to
 * b, as it was recorded. */
void export_frame_name(struct buf *b, const struct stacks *s, const struct frame *f);

#endif
