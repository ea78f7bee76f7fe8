/*
 * sqlite_file.h - opens, writes and closes the unfinished file of a store by SQLite: without a
 * journal, since a file that is not finished is removed. `name` is what messages call it. All
 * return ERR_IO with SQLite's message.
 */
#ifndef LIBTIME_STORE_SQLITE_FILE_H
#define LIBTIME_STORE_SQLITE_FILE_H

#include "base/err.h"

#include <sqlite3.h>
#include <sys/stat.h>

/* Open it, or create it with pages of 8 KiB: larger ones waste the 2 MB that other SQLite clients
 * cache, where a query looks up rows here and there (v_samples). *db is to be closed even after
 * an error. It is the regular file *is, or ERR_IO. */
int sqlite_file_open(sqlite3 **db, const char *path, const struct stat *is, const char *name,
		     struct err *e);

/* sqlite3_open_v2 of a file that was looked at: of another one than *is, SQLITE_CANTOPEN. From
 * the first call on, SQLite opens regular files only in this process, whatever lies beside a
 * store, and follows no link there. */
int sqlite_file_connect(sqlite3 **db, const char *path, int flags, const struct stat *is);

/* Run statements that return no rows. */
int sqlite_file_run(sqlite3 *db, const char *sql, const char *name, struct err *e);

/* Compile a statement, which the caller finalizes. */
int sqlite_file_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **st, const char *name,
			struct err *e);

/* Commit the open transaction, unless `r` is the error of an earlier step, and close the database
 * in any case. Returns the first error. */
int sqlite_file_close(sqlite3 *db, int r, const char *name, struct err *e);

/* Set *e to what SQLite says of its last call: ERR_IO. */
int sqlite_file_failed(sqlite3 *db, const char *name, struct err *e);

#endif
