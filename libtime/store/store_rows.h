/*
 * store_rows.h - how the files behind store_read.h take a store's rows and columns: every value
 * is checked before it is used, and what cannot be is damage that names its row.
 *
 *	r = rows_select(l, "threads", "SELECT id, ... WHERE recording_id = ?");
 *	while (!r && (got = rows_next(l)) == 1) {
 *		x = take_ns(l);             // the next column
 *		if (l->bad)
 *			return rows_damaged(l, "a time out of range");
 *	}
 */
#ifndef LIBTIME_STORE_STORE_ROWS_H
#define LIBTIME_STORE_STORE_ROWS_H

#include "base/arena.h"
#include "base/hash.h"
#include "libtime/store/store_read.h"

#include <sqlite3.h>

struct store {
	sqlite3 *db;
	char *path;
	uint64_t bytes;       /* of the file, and of its write-ahead log */
	uint64_t steps, text; /* what the statement at work may still take: store_allow */
	VEC(struct store_recording) recordings;
	struct arena texts; /* of recordings */
	/* what all recordings share: row ids → ids of `stacks`, valid once that is set */
	const struct stacks *stacks;
	struct u64map frame, path_of;
	struct u64map comm, dso, symbol; /* → strings ids */
};

/* Columns of few short texts, one a row: what each was told to mean the last time. */
enum { RECALLED = 32 };
struct recalled {
	char text[20];
	uint16_t value;
	uint8_t known;
};

/* A recording on its way out: the store's row ids → indexes of the timeline. */
struct load {
	struct store *s;
	struct timeline *tl;
	struct stacks *stacks;
	struct err *e;
	int64_t recording;
	struct u64map thread, event, span, site;
	const struct tl_site *sites; /* those of the timeline, once read */
	sqlite3_stmt *st;
	const char *table;
	int64_t id; /* of the last row, */
	int any;    /* once there was one */
	int col;    /* the next column to take */
	int bad;    /* a column had a value that cannot be */
	struct recalled states[RECALLED], causes[RECALLED], contexts[RECALLED],
		reasons[RECALLED], kinds[RECALLED], args[RECALLED], verdicts[RECALLED],
		site_reasons[RECALLED], stack_kinds[RECALLED];
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
int store_take_text(struct store *s, size_t n);

/* ERR_FORMAT: the file holds more than fits it. */
int store_endless(struct store *s, struct err *e);

/* The first column of a query's first row; 0 where there is none, or it is NULL. */
int store_query_int(struct store *s, const char *sql, int64_t *v, struct err *e);

/* Begin to read; the first column is the row's id, by which the rows are ordered, parameter 1
 * the recording. `table` is for messages. */
int rows_select(struct load *l, const char *table, const char *sql);

/* 1, 0 at the end, < 0. The statement is gone but after 1, as it is after the next two. */
int rows_next(struct load *l);

/* ERR_FORMAT, naming the row; ERR_NOMEM. */
int rows_damaged(struct load *l, const char *why);
int rows_nomem(struct load *l);

/* The number of a name among name(0) .. name(n - 1); 0 when it is none of them. */
uint8_t take_name(struct load *l, struct recalled *told, const char *(*name)(unsigned int),
		  unsigned int n);

/* Likewise of a thread's state, made when new. ERR_NOMEM. */
int take_state(struct load *l, uint8_t *index);

/* All of the table `offcpu` that is of the recording, into l->tl->off. */
int storeoff_read(struct load *l);

/* --- the next column ---------------------------------------------------------------------
 */

static inline int64_t take(struct load *l)
{
	return sqlite3_column_int64(l->st, l->col++);
}

/* A whole number from 0 to max; another one is damage. */
static inline int64_t take_to(struct load *l, int64_t max)
{
	int64_t v = take(l);
	if (v < 0 || v > max)
		l->bad = 1;
	return v < 0 || v > max ? 0 : v;
}

static inline uint64_t take_ns(struct load *l)
{
	return (uint64_t)take_to(l, INT64_MAX);
}

/* NULL reads as 0, so that only then it is asked for. */
static inline int take_was_null(struct load *l, int64_t value)
{
	return !value && sqlite3_column_type(l->st, l->col - 1) == SQLITE_NULL;
}

/* NULL gives `none`. */
static inline int64_t column_int_or(struct load *l, int64_t max, int64_t none)
{
	int64_t v = take_to(l, max);
	return take_was_null(l, v) ? none : v;
}

static inline uint16_t take_cpu(struct load *l)
{
	return (uint16_t)column_int_or(l, TL_NOCPU - 1, TL_NOCPU);
}

/* A row id that `map` knows; NULL gives `none`, an unknown one is damage. */
static inline uint32_t take_id(struct load *l, const struct u64map *map, uint32_t none)
{
	int64_t row = take(l);
	uint32_t v;
	if (take_was_null(l, row))
		return none;
	if (u64map_get(map, (uint64_t)row, &v))
		return v;
	l->bad = 1;
	return none;
}

/* A thread that must be there. */
static inline uint32_t take_thread(struct load *l)
{
	uint32_t v = take_id(l, &l->thread, TL_NONE);
	l->bad |= v == TL_NONE;
	return v == TL_NONE ? 0 : v;
}

/* NULL gives "", and so does more text than there can be, which is damage that rows_next tells.
 * Borrowed until the next row. */
static inline const char *take_text(struct load *l)
{
	const unsigned char *s = sqlite3_column_text(l->st, l->col);
	size_t n = (size_t)sqlite3_column_bytes(l->st, l->col++);
	return s && !store_take_text(l->s, n) ? (const char *)s : "";
}

static inline int take_string(struct load *l, uint32_t *id)
{
	return strtab_intern(&l->stacks->strings, take_text(l), id);
}

static inline int take_flag(struct load *l, int bit)
{
	return take(l) ? bit : 0;
}

#endif
