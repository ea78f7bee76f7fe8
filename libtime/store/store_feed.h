/*
 * store_feed.h - queues rows for SQLite, which writes them on a thread of its own.
 *
 *	feed_open(&f, db, "run.db", &e);
 *	feed_row(f, TABLE_COMMS, &row, &e);      // the next row's cells, to be filled
 *	cell_int(&row[0], 1);
 *	cell_text(&row[1], "nginx");
 *	...
 *	feed_wait(f, &e);                       // all are in the database
 *	feed_close(f);
 *
 * Rows are gathered in batches by table. Full batches go through a short queue, so that the
 * caller waits when SQLite falls behind. A batch is one run of a prepared `INSERT INTO table
 * SELECT … FROM feed`, where `feed` is a virtual table over the batch: that costs half of what
 * binding and stepping row by row does. Batches are written in the order in which they became
 * full, so equal rows give an equal file.
 */
#ifndef LIBTIME_STORE_STORE_FEED_H
#define LIBTIME_STORE_STORE_FEED_H

#include "base/err.h"
#include "libtime/store/cell.h"
#include "libtime/store/schema.h"

struct row_feed;

/* Feed the existing tables of `db`, which is borrowed and must not be used elsewhere between a
 * feed_row and feed_wait; `path` is for messages and borrowed. If no thread can be started, the
 * caller's does the work. ERR_NOMEM, ERR_IO. */
int feed_open(struct row_feed **out, sqlite3 *db, const char *path, struct err *e);

/* The cells of a new row, one for each column of the table; the caller sets them before the
 * table's next row. ERR_NOMEM; ERR_IO if an earlier row failed. */
int feed_row(struct row_feed *f, enum store_table table, struct cell **row, struct err *e);

/* Wait until all rows are written. Errors as for feed_row. */
int feed_wait(struct row_feed *f, struct err *e);

/* Call this instead of feed_wait after a failure: a last row may lack cells, so batches that
 * are not full are dropped. Texts that cells borrowed are no longer needed. */
void feed_drop(struct row_feed *f);

/* Without feed_wait before, rows may be missing. NULL is accepted. */
void feed_close(struct row_feed *f);

#endif
