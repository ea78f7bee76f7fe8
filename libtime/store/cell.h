/*
 * cell.h - one value of a row that is written to the store (store_feed.h).
 */
#ifndef LIBTIME_STORE_CELL_H
#define LIBTIME_STORE_CELL_H

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

struct cell {
	union {
		int64_t i;
		const char *s;
	};
	int type; /* SQLITE_INTEGER, SQLITE_TEXT, SQLITE_BLOB, SQLITE_NULL */
	int n;    /* of texts and blobs: bytes */
};

static inline void cell_int(struct cell *c, int64_t v)
{
	*c = (struct cell){.i = v, .type = SQLITE_INTEGER};
}

static inline void cell_null(struct cell *c)
{
	*c = (struct cell){.type = SQLITE_NULL};
}

/* The text is borrowed until the row's reader is done with it, and cut at 2^31 - 1 bytes. */
static inline void cell_text(struct cell *c, const char *s)
{
	size_t n = strlen(s);
	*c = (struct cell){
		.s = s, .type = SQLITE_TEXT, .n = n < INT32_MAX ? (int)n : INT32_MAX};
}

#endif
