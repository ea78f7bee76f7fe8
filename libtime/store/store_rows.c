#include "libtime/store/store_decode.h"
#include "base/regular.h"
#include "base/text/buf.h"
#include "libtime/store/sqlite_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ROUND = 1 << 16,   /* steps of SQLite's machine between two calls of is_endless */
	STEPS_A_BYTE = 16, /* a row takes a step or two for each of its bytes */
	UTF8_A_BYTE = 2,   /* UTF-16 grows by half when converted */
	HEADER = 100,
	AT_WRITE_VERSION = 18, /* of the header; 2 in WAL mode */
};

int store_db_failed(struct store *s, struct err *e)
{
	int code = sqlite3_errcode(s->db);
	if (code == SQLITE_NOMEM)
		return err_nomem(e);
	if (code == SQLITE_INTERRUPT)
		return store_endless(s, e);
	return err_set(e, code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? ERR_FORMAT : ERR_IO,
		       "%s: %s", s->path, sqlite3_errmsg(s->db));
}

int store_query_int(struct store *s, const char *sql, int64_t recording, int64_t *v,
		    struct err *e)
{
	sqlite3_stmt *st;
	store_allow(s);
	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return store_db_failed(s, e);
	if (sqlite3_bind_parameter_count(st))
		sqlite3_bind_int64(st, 1, recording);
	int got = sqlite3_step(st);
	*v = got == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	return got == SQLITE_ROW || got == SQLITE_DONE ? 0 : store_db_failed(s, e);
}

/* --- what a file of that size can hold ------------------------------------------------ */

void store_allow(struct store *s)
{
	s->steps = s->bytes * STEPS_A_BYTE / ROUND + 256;
	s->text = s->bytes * UTF8_A_BYTE;
}

static int is_endless(void *store)
{
	struct store *s = store;
	return !s->steps || !--s->steps;
}

int store_text_over_budget(struct store *s, size_t n)
{
	int over = n > s->text;
	s->text = over ? 0 : s->text - n;
	return over;
}

int store_endless(struct store *s, struct err *e)
{
	return err_set(e, ERR_FORMAT,
		       "%s: a damaged store: more rows or text than a file of %llu bytes holds",
		       s->path, (unsigned long long)s->bytes);
}

/* --- connections ---------------------------------------------------------------------- */

int store_check_beside(const char *path, struct err *e)
{
	static const char *const ends[] = {"-journal", "-wal", "-shm"};
	int r = 0;
	for (size_t i = 0; !r && i < sizeof(ends) / sizeof(*ends); i++) {
		struct buf name = {0};
		struct stat st;
		buf_fmt(&name, "%s%s", path, ends[i]);
		if (buf_failed(&name))
			r = err_nomem(e);
		else if (!lstat(buf_cstr(&name), &st) && !S_ISREG(st.st_mode))
			r = err_set(e, ERR_UNSUPPORTED, "%s: not a regular file",
				    buf_cstr(&name));
		buf_release(&name);
	}
	return r;
}

static uint64_t log_bytes(const char *path)
{
	struct buf name = {0};
	struct stat st;
	buf_fmt(&name, "%s-wal", path);
	int is = !buf_failed(&name) && !lstat(buf_cstr(&name), &st);
	buf_release(&name);
	return is ? (uint64_t)st.st_size : 0;
}

/* Look at the file, the first time; 1 if it is in WAL mode. */
static int look(struct store *s)
{
	uint8_t head[HEADER] = {0};
	struct stat st;
	int fd = regular_open(AT_FDCWD, s->path, 0, &st);
	if (fd < 0)
		return 0;
	if (!s->is.st_ino)
		s->is = st;
	ssize_t n = read(fd, head, sizeof(head));
	close(fd);
	return n == (ssize_t)sizeof(head) && head[AT_WRITE_VERSION] == 2;
}

/* The file's name for SQLite, which expects a host after two slashes. */
static void name_of(struct buf *b, const char *path, int immutable)
{
	buf_str(b, *path == '/' ? "file://" : "file:");
	for (const char *p = path; *p; p++)
		if (strchr("?#%", *p))
			buf_fmt(b, "%%%02x", (unsigned)(unsigned char)*p);
		else
			buf_char(b, *p);
	if (immutable)
		buf_str(b, "?immutable=1");
}

/* A store may have been left in WAL mode, with an empty log. A plain open would create two
 * files next to it, and fail if it cannot. */
int store_connect(struct store *s)
{
	enum { FLAGS = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI };
	uint64_t log = log_bytes(s->path);
	struct buf name = {0};
	name_of(&name, s->path, look(s) && !log);
	s->bytes = (uint64_t)s->is.st_size + log;
	int code = buf_failed(&name)
			   ? SQLITE_NOMEM
			   : sqlite_file_connect(&s->db, buf_cstr(&name), FLAGS, &s->is);
	buf_release(&name);
	if (code)
		return code;
	store_allow(s);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_progress_handler(s->db, ROUND, is_endless, s);
	sqlite3_exec(s->db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL,
		     NULL);
	return SQLITE_OK;
}

/* --- rows ----------------------------------------------------------------------------- */

/* SELECT a,b,... FROM table WHERE ... ORDER BY key */
static void select_sql(const struct load *l, struct buf *b, const char *some)
{
	const struct table *t = l->table;
	int all = !t->of_recording || (l->s->recordings.n == 1 && t != store_tables);
	buf_str(b, "SELECT ");
	schema_columns(b, t);
	buf_fmt(b, " FROM %s WHERE %s", t->name, all ? "1" : t->of_recording);
	if (some)
		buf_fmt(b, " AND %s", some);
	buf_fmt(b, " ORDER BY %s", t->key ? t->key : "id");
}

/* The tables exist, so a column is missing. */
static int not_prepared(struct store *s, struct err *e)
{
	if (sqlite3_errcode(s->db) != SQLITE_ERROR)
		return store_db_failed(s, e);
	return err_set(e, ERR_UNSUPPORTED,
		       "%s: a store made by an older perfkit (%s); import the recording again",
		       s->path, sqlite3_errmsg(s->db));
}

int rows_select(struct load *l, enum store_table table, const char *some)
{
	struct buf sql = {0};
	int r = 0;
	l->table = &store_tables[table];
	l->any = 0;
	store_allow(l->s);
	select_sql(l, &sql, some);
	if (buf_failed(&sql))
		r = err_nomem(l->e);
	else if (sqlite3_prepare_v2(l->s->db, buf_cstr(&sql), -1, &l->st, NULL))
		r = not_prepared(l->s, l->e);
	else if (sqlite3_bind_parameter_count(l->st))
		sqlite3_bind_int64(l->st, 1, l->recording);
	buf_release(&sql);
	return r;
}

/* Keys ascend; in tables without ids the first column of the key does. */
static int is_out_of_order(const struct load *l, int64_t id)
{
	return l->any && (l->table->key ? id < l->id : id <= l->id);
}

int rows_next(struct load *l, void *row)
{
	int got = sqlite3_step(l->st), r = 0;
	l->bad = 0;
	if (!l->s->text)
		r = store_endless(l->s, l->e);
	else if (got != SQLITE_ROW && got != SQLITE_DONE)
		r = store_db_failed(l->s, l->e);
	if (got == SQLITE_ROW && !r) {
		int64_t id = sqlite3_column_int64(l->st, 0);
		int again = is_out_of_order(l, id);
		l->id = id;
		l->any = 1;
		if (again)
			return rows_damaged(l, "comes twice");
		return decode_row(l, row) ? rows_nomem(l) : 1;
	}
	sqlite3_finalize(l->st);
	l->st = NULL;
	return r;
}

int rows_damaged(struct load *l, const char *why)
{
	int r = err_set(l->e, ERR_FORMAT, "%s: a damaged store: %s %lld: %s", l->s->path,
			l->table->name, (long long)sqlite3_column_int64(l->st, 0), why);
	sqlite3_finalize(l->st);
	l->st = NULL;
	return r;
}

int rows_nomem(struct load *l)
{
	sqlite3_finalize(l->st);
	l->st = NULL;
	return err_nomem(l->e);
}
