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
 * `top` is per window. Rows without counts are not among the first.
 */
void rows_table(struct buf *b, const struct timeline *tl, const struct rows *rows, uint64_t top,
		size_t width);

/* The sum of the threads' rows: "scheduler 2 threads, 30 waits: ...", wrapped, and a note on
 * missing kernel symbols; `brief`: only how long they ran and waited. */
void rows_totals(struct buf *b, const struct timeline *tl, const struct rows *rows, int brief);

/* The same rows as CSV with a line of names, and as JSON: {"schema":1,"by":...,"rows":[...]}.
 * `by` is that of the option. A thread is three fields: comm, pid, tid. */
void rows_csv(struct buf *b, const struct timeline *tl, const struct rows *rows, uint64_t top);
void rows_json(struct buf *b, const struct timeline *tl, const struct rows *rows, uint64_t top,
	       const char *by);

#endif
