/*
 * store.h - what the writer and the reader of the SQLite store share. Its tables are
 * declared in schema.h, its views are views.sql; docs/schema.md and docs/store.md describe them.
 */
#ifndef LIBTIME_STORE_STORE_H
#define LIBTIME_STORE_STORE_H

#include "base/err.h"

#include <stddef.h>

enum {
	STORE_VERSION = 16,             /* PRAGMA user_version */
	STORE_APPLICATION = 0x70666b74, /* PRAGMA application_id: "pfkt" */
};

/* A value of COLUMN_BLOB. Borrowed; compressed by zstd. */
struct store_bytes {
	const void *v;
	size_t n;
};

/* views.sql, compiled in. */
extern const char store_views[];

/* 1 if the first n bytes of a file (16 are enough) are those of an SQLite database. */
int store_is_sqlite(const void *head, unsigned long n);

#endif
