/*
 * store.h - what the writer and the reader of the SQLite store agree on. The schema itself is
 * schema.sql, described for users in docs/store.md.
 */
#ifndef LIBTIME_STORE_STORE_H
#define LIBTIME_STORE_STORE_H

#include "base/err.h"

enum {
	STORE_VERSION = 3,              /* PRAGMA user_version */
	STORE_APPLICATION = 0x70666b74, /* PRAGMA application_id: "pfkt" */
};

/* schema.sql as it was when this was built; the line of dashes is part of it. */
extern const char store_schema[];

/* 1 when the first bytes of a file (n of them; 16 suffice) are those of an SQLite database. */
int store_is_sqlite(const void *head, unsigned long n);

#endif
