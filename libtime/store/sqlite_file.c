#include "libtime/store/sqlite_file.h"

#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>

/* --- which files SQLite opens ------------------------------------------------------------ */

/* What the database is that this thread is just opening. */
static _Thread_local const struct stat *database;

/* SQLite's open(2): by a name that may lead to something else by now. */
static int open_plain(const char *path, int flags, int mode)
{
	int fd = flags & O_EXCL ? -1
				: regular_open_as(AT_FDCWD, path, REGULAR_NO_LINK,
						  flags & ~O_CREAT, database);
	if (flags & O_EXCL || (fd < 0 && errno == ENOENT && flags & O_CREAT))
		fd = open(path, flags | O_EXCL | O_CLOEXEC, mode);
	return fd;
}

static void replace_open(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	if (vfs && vfs->iVersion >= 3 && vfs->xSetSystemCall)
		vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_plain);
}

int sqlite_file_connect(sqlite3 **db, const char *path, int flags, const struct stat *is)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, replace_open);
	database = is;
	int code = sqlite3_open_v2(path, db, flags, NULL);
	database = NULL;
	return code;
}

/* --- the unfinished file of a store ------------------------------------------------------- */

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

int sqlite_file_open(sqlite3 **db, const char *path, const struct stat *is, const char *name,
		     struct err *e)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	if (sqlite_file_connect(db, path, flags, is))
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
