/*
 * store_bulk.h - the large tables of a store, offcpu, samples and event_samples, and the
 *indexes of offcpu, written as pages (btree.h) while SQLite has the file closed.
 *
 *	bulk_init(&b, db, "run.db.tmp", "run.db", &e);  // tables and indexes: declared, empty
 *	(SQLite closes the file)
 *	bulk_begin(&b, &e);
 *	bulk_off(&b, cells, &e);  bulk_sample(&b, cells, &e);  ...
 *	bulk_suspend(&b, &e);                     // SQLite may have the file for other tables
 *	...
 *	bulk_begin(&b, &e);
 *	bulk_finish(&b, &e);                    // the tables are whole
 *	bulk_release(&b);
 */
#ifndef LIBTIME_STORE_STORE_BULK_H
#define LIBTIME_STORE_STORE_BULK_H

#include "base/bigvec.h"
#include "libtime/store/btree.h"

enum {
	OFFCPU_COLUMNS = 28,
	SAMPLES_COLUMNS = 8,
	EVENT_SAMPLES_COLUMNS = 9,
	/* of a row of offcpu, from 0 */
	OFFCPU_THREAD = 1,
	OFFCPU_START = 2,
};

struct bulk {
	const char *path, *name;
	struct pagefile *file;
	struct btree off, off_by_thread, off_by_start, samples, event_samples;
	int64_t offs; /* rows so far: their ids are 1, 2, … */
	int64_t nsamples, nevent_samples;
	int64_t thread, start_ns; /* of the last off */
	BIGVEC(uint64_t) starts;  /* of all offs, by id */
};

/* For the file of `db`, which has `path` and which messages call `name` (both borrowed).
 * ERR_IO, ERR_NOMEM. */
int bulk_init(struct bulk *b, sqlite3 *db, const char *path, const char *name, struct err *e);

/* Between SQLite's having the file; bulk_release may come at any time. As pagefile_open and
 * pagefile_close. */
int bulk_begin(struct bulk *b, struct err *e);
int bulk_suspend(struct bulk *b, struct err *e);

/* The next row, its first cell (the id) NULL; offcpu's come by thread, then by start, or are
 * ERR_FORMAT. As btree_add. */
int bulk_off(struct bulk *b, const struct cell row[OFFCPU_COLUMNS], struct err *e);
int bulk_sample(struct bulk *b, const struct cell row[SAMPLES_COLUMNS], struct err *e);
int bulk_event_sample(struct bulk *b, const struct cell row[EVENT_SAMPLES_COLUMNS],
		      struct err *e);

/* After bulk_begin, in place of bulk_suspend: nothing is added any more. */
int bulk_finish(struct bulk *b, struct err *e);

/* What is not paused or finished is lost. */
void bulk_release(struct bulk *b);

#endif
