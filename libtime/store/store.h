/*
 * store.h - what the writer and the reader of the SQLite store agree on. Its tables are
 * declared in schema.h, its views are views.sql; docs/store.md describes both for users.
 */
#ifndef LIBTIME_STORE_STORE_H
#define LIBTIME_STORE_STORE_H

#include "base/err.h"

enum {
	STORE_VERSION = 10,             /* PRAGMA user_version */
	STORE_APPLICATION = 0x70666b74, /* PRAGMA application_id: "pfkt" */
};

/* views.sql as it was when this was built: all views. */
extern const char store_views[];

/* 1 when the first bytes of a file (n of them; 16 suffice) are those of an SQLite database. */
int store_is_sqlite(const void *head, unsigned long n);

#endif
