/*
 * store_rows.h - reads a store's rows and columns, for store_read.h: every value is checked
 * before it is used, and an impossible value is damage, reported with its row.
 *
 *	r = rows_select(l, TABLE_THREADS, NULL);
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
#include <sys/stat.h>

struct store {
	sqlite3 *db;
	char *path;
	struct stat is;       /* the file, as it was opened first */
	uint64_t bytes;       /* of it, and of its write-ahead log */
	int places;           /* store_want_places */
	uint64_t steps, text; /* what the current statement may still use: store_allow */
	VEC(struct store_recording) recordings;
	struct arena texts; /* of recordings */
	/* row ids → ids of `stacks`, if that is set: of the recordings read into it, */
	const struct stacks *stacks;
	struct row_map frame, path_of;
	struct row_map dso;                /* → strings ids */
	struct row_map comm, symbol, file; /* and of the rows that all recordings share */
};

/* A recording that is being read: the store's row ids → indexes of the timeline. */
struct load {
	struct store *s;
	struct timeline *tl;
	struct stacks *stacks;
	struct err *e;
	int64_t recording;
	struct row_map thread, event, span, site, kind, task, sum, folded, finding;
	VEC(struct offcpu_kind) kinds;
	VEC(struct sample_task) tasks;
	VEC(struct sample_sum) sums;
	struct arena *bytes; /* of COLUMN_BLOB; NULL: they are not wanted */
	struct load *frames; /* reads one when a row first refers to it; NULL: all were read */
	sqlite3_stmt *st;
	const struct table *table;
	int64_t id; /* of the last row, */
	int any;    /* 1: there was a row */
	int bad;    /* a column had an impossible value */
};

/* SQLite's last error as ours: ERR_NOMEM, ERR_FORMAT, ERR_IO. */
int store_db_failed(struct store *s, struct err *e);

/*
 * Open a connection for reading s->path. SQLITE_OK or SQLite's error; the caller closes s->db
 * in any case. Later connections are to the same file (s->is), or fail. A manipulated file may
 * use its pages again and again, so that a small file has endless rows and texts. So reading is
 * bounded by the size of the file, s->bytes: a statement that goes beyond is interrupted. s must
 * live as long as the connection.
 */
int store_connect(struct store *s);

/* 0 if what SQLite would open beside a store, by itself, are regular files or not there: a fifo
 * would stop it. ERR_UNSUPPORTED, ERR_NOMEM. */
int store_check_beside(const char *path, struct err *e);

/* Reset the bound before a statement, or before a few that read each row at most once. */
void store_allow(struct store *s);

/* Count n bytes of text: 0, or 1 if the file cannot have that much. */
int store_text_over_budget(struct store *s, size_t n);

/* ERR_FORMAT: the file seems to have more rows or text than it can hold. */
int store_endless(struct store *s, struct err *e);

/* The first column of a query's first row; 0 if there is no row or it is NULL. `recording` is
 * ?1. */
int store_query_int(struct store *s, const char *sql, int64_t recording, int64_t *v,
		    struct err *e);

/* Begin to read a table's rows of the recording, in order of their keys. `some`, if not NULL:
 * a condition in SQL; parameters from ?2 on are bound by the caller. */
int rows_select(struct load *l, enum store_table table, const char *some);

/* Read the next row into the struct that its columns are declared for; other fields do not
 * change. 1; 0 at the end; < 0. An impossible value sets l->bad. The statement is finalized
 * unless the result is 1, and by the next two functions. */
int rows_next(struct load *l, void *row);

/* ERR_FORMAT, naming the row; ERR_NOMEM. */
int rows_damaged(struct load *l, const char *why);
int rows_nomem(struct load *l);

/* Read the frame of l->frames with this row id into l->stacks: 1 and its id there; 0 if there is
 * no such row or it is damaged; ERR_NOMEM. */
int store_read_frame(struct load *l, int64_t row, uint32_t *id);

/* Read the recording's off-CPU intervals into l->tl->offcpu. */
int store_read_offcpu(struct load *l);

#endif
