/*
 * store_feed.h - queues rows for the store's tables, which a thread of its own writes.
 *
 *	feed_open(&f, "run.db.tmp", &is, "run.db", &e);   // SQLite has declared the tables
 *	feed_row(f, TABLE_COMMS, &row, &e);          // the next row's cells, to be filled
 *	cell_int(&row[0], 1);
 *	cell_text(&row[1], "nginx");
 *	...
 *	feed_finish(f, &e);                          // SQLite may open the file
 *	feed_close(f);
 *
 * Rows are gathered in batches by table. Full batches go through a short queue, so that the
 * caller waits when the writer falls behind. Rows that ascend by key become pages without SQLite
 * (btree.h), in a quarter of its time; of other rows SQLite finds the place. Batches are written
 * in the order in which they became full, so equal rows give an equal file.
 */
#ifndef LIBTIME_STORE_STORE_FEED_H
#define LIBTIME_STORE_STORE_FEED_H

#include "base/err.h"
#include "libtime/store/cell.h"
#include "libtime/store/schema.h"

#include <sys/stat.h>

struct row_feed;

/* Feed the tables of the store at `path`, the file *is, which are declared and empty, and
 * which nobody else opens until feed_finish; messages call it `name`. Both are borrowed. If no
 * thread can be started, the caller's does the work. ERR_NOMEM, ERR_IO. */
int feed_open(struct row_feed **out, const char *path, const struct stat *is, const char *name,
	      struct err *e);

/* The cells of a new row, one for each column of the table; the caller sets them before the
 * table's next row. ERR_NOMEM; ERR_IO if an earlier row failed. */
int feed_row(struct row_feed *f, enum store_table table, struct cell **row, struct err *e);

/* Wait until no text of a row is needed any more. Errors as for feed_row. */
int feed_wait(struct row_feed *f, struct err *e);

/* Wait, and finish all tables. Only feed_close may follow. Errors as for feed_row. */
int feed_finish(struct row_feed *f, struct err *e);

/* Call this instead of feed_wait after a failure: a last row may lack cells, so batches that
 * are not full are dropped. Texts that cells borrowed are no longer needed. */
void feed_drop(struct row_feed *f);

/* Without feed_finish before, the file is of no use. NULL is accepted. */
void feed_close(struct row_feed *f);

#endif
