#include "libtime/store/sqlite_file.h"

#include <stddef.h>

int sqlite_file_failed(sqlite3 *db, const char *name, struct err *e)
{
	return err_set(e, ERR_IO, "%s: cannot write the store: %s", name,
		       db ? sqlite3_errmsg(db) : "out of memory");
}

int sqlite_file_run(sqlite3 *db, const char *sql, const char *name, struct err *e)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) ? sqlite_file_failed(db, name, e) : 0;
}

int sqlite_file_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **st, const char *name,
			struct err *e)
{
	return sqlite3_prepare_v2(db, sql, -1, st, NULL) ? sqlite_file_failed(db, name, e) : 0;
}

int sqlite_file_open(sqlite3 **db, const char *path, const char *name, struct err *e)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	if (sqlite3_open_v2(path, db, flags, NULL))
		return sqlite_file_failed(*db, name, e);
	return sqlite_file_run(*db,
			       "PRAGMA page_size = 8192; PRAGMA auto_vacuum = NONE;"
			       "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			       "PRAGMA foreign_keys = OFF",
			       name, e);
}

int sqlite_file_close(sqlite3 *db, int r, const char *name, struct err *e)
{
	if (!r && !sqlite3_get_autocommit(db))
		r = sqlite_file_run(db, "COMMIT", name, e);
	if (sqlite3_close(db) != SQLITE_OK && !r)
		r = sqlite_file_failed(db, name, e);
	return r;
}
