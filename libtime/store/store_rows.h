/*
 * store_rows.h - how the files behind store_read.h take a store's rows and columns: every value
 * is checked before it is used, and what cannot be is damage that names its row.
 *
 *	r = rows_select(l, TABLE_THREADS, 0);
 *	while (!r && (got = rows_next(l, &t)) == 1) {
 *		if (l->bad)
 *			return rows_damaged(l, "a time out of range");
 *	}
 */
#ifndef LIBTIME_STORE_STORE_ROWS_H
#define LIBTIME_STORE_STORE_ROWS_H

#include "base/arena.h"
#include "libtime/store/row_map.h"
#include "libtime/store/schema.h"
#include "libtime/store/store_read.h"

#include <sqlite3.h>

struct store {
	sqlite3 *db;
	char *path;
	uint64_t bytes;       /* of the file, and of its write-ahead log */
	uint64_t steps, text; /* what the statement at work may still take: store_allow */
	VEC(struct store_recording) recordings;
	struct arena texts; /* of recordings */
	/* row ids → ids of `stacks`, once that is set: of the recordings read into it, */
	const struct stacks *stacks;
	struct row_map frame, path_of;
	struct row_map dso;                /* → strings ids */
	struct row_map comm, symbol, file; /* and of what all recordings share */
};

/* A recording on its way out: the store's row ids → indexes of the timeline. */
struct load {
	struct store *s;
	struct timeline *tl;
	struct stacks *stacks;
	struct err *e;
	int64_t recording;
	struct row_map thread, event, span, site, kind, task, sum, finding;
	VEC(struct off_kind) kinds;
	VEC(struct sample_task) tasks;
	VEC(struct sample_sum) sums;
	sqlite3_stmt *st;
	const struct table *table;
	int64_t id; /* of the last row, */
	int any;    /* once there was one */
	int bad;    /* a column had a value that cannot be */
};

/* SQLite's last error as ours: ERR_NOMEM, ERR_FORMAT, ERR_IO. */
int store_db_failed(struct store *s, struct err *e);

/*
 * A connection for reading s->path. SQLite's code, or SQLITE_OK; s->db is to be closed either
 * way. Pages of a store that was tampered with may be used again and again, so that a small
 * file holds rows, and texts, without end: what is read through it is bounded by the size of
 * the file, which s->bytes tells; what goes beyond is an interrupted statement. Life of s: at
 * least the connection's.
 */
int store_connect(struct store *s);

/* Another statement, or a few that read each row at most once, begin. */
void store_allow(struct store *s);

/* Take n bytes of text. 0, or 1 when the file cannot hold that much. */
int store_text_over_budget(struct store *s, size_t n);

/* ERR_FORMAT: the file holds more than fits it. */
int store_endless(struct store *s, struct err *e);

/* The first column of a query's first row; 0 where there is none, or it is NULL. `recording` is
 * what ?1 stands for. */
int store_query_int(struct store *s, const char *sql, int64_t recording, int64_t *v,
		    struct err *e);

/* Begin to read a table's rows of the recording, in the order of their keys; ids from..to where
 * `some` is set, which the caller binds as ?2 and ?3. */
int rows_select(struct load *l, enum store_table table, int some);

/* Read the next row into the struct that its columns are declared of; what has no column is as
 * it was. 1, 0 at the end, < 0. The statement is gone but after 1, as it is after the next two.
 * l->bad is set where a value cannot be. */
int rows_next(struct load *l, void *row);

/* ERR_FORMAT, naming the row; ERR_NOMEM. */
int rows_damaged(struct load *l, const char *why);
int rows_nomem(struct load *l);

/* All of the table `offcpu` that is of the recording, into l->tl->off. */
int storeoff_read(struct load *l);

#endif
