/*
 * rows_text.h - the tables of `report --by WHAT` as text, CSV and JSON.
 */
#ifndef RENDER_TAIL_ROWS_TEXT_H
#define RENDER_TAIL_ROWS_TEXT_H

#include "base/text/buf.h"
#include "libtime/tables/rows.h"

/*
 * The first `top` rows of rows->order (0: all) as a table `width` wide, the head of its first
 * column being the kind's name, and how many more there are. With windows of time (COL_TIME),
 * `top` counts in each. Rows in which nothing was counted are not among the first.
 */
void rows_table(struct buf *b, const struct timeline *tl, const struct rows *rows, uint64_t top,
		size_t width);

/* All of the threads' rows together: "scheduler  2 threads, 30 waits: ...", wrapped, and what
 * names the kernel lacks. */
void rows_totals(struct buf *b, const struct timeline *tl, const struct rows *rows);

/* The same rows as CSV with a line of names, and as JSON: {"schema":1,"by":...,"rows":[...]}.
 * `by` is what was asked for. A thread is three fields: comm, pid, tid. */
void rows_csv(struct buf *b, const struct timeline *tl, const struct rows *rows, uint64_t top);
void rows_json(struct buf *b, const struct timeline *tl, const struct rows *rows, uint64_t top,
	       const char *by);

#endif
