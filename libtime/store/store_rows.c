#include "libtime/store/store_rows.h"
#include "base/buf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ROUND = 1 << 16,   /* steps of SQLite's machine from one question to the next */
	STEPS_A_BYTE = 16, /* a row takes a step or two for each of its bytes */
	UTF8_A_BYTE = 2,   /* UTF-16 grows by half */
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

int store_query_int(struct store *s, const char *sql, int64_t *v, struct err *e)
{
	sqlite3_stmt *st;
	store_allow(s);
	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return store_db_failed(s, e);
	int got = sqlite3_step(st);
	*v = got == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	return got == SQLITE_ROW || got == SQLITE_DONE ? 0 : store_db_failed(s, e);
}

/* --- what a file of that size can hold ---------------------------------------------------
 */

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

int store_take_text(struct store *s, size_t n)
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

/* --- connections -------------------------------------------------------------------------
 */

static uint64_t log_bytes(const char *path)
{
	struct buf name = {0};
	struct stat st;
	buf_fmt(&name, "%s-wal", path);
	int is = !buf_failed(&name) && !stat(buf_cstr(&name), &st);
	buf_release(&name);
	return is ? (uint64_t)st.st_size : 0;
}

static int in_wal_mode(const char *path)
{
	uint8_t head[HEADER] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, head, sizeof(head));
	close(fd);
	return n == (ssize_t)sizeof(head) && head[AT_WRITE_VERSION] == 2;
}

/* What SQLite is to call the file; behind two slashes it expects a host. */
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

/* A store left in WAL mode, with nothing in the log: read plainly, it would get two files
 * beside it, and could not be read at all where none may be made. */
int store_connect(struct store *s)
{
	enum { FLAGS = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI };
	uint64_t log = log_bytes(s->path);
	struct stat st;
	struct buf name = {0};
	if (!stat(s->path, &st))
		s->bytes = (uint64_t)st.st_size + log;
	name_of(&name, s->path, !log && in_wal_mode(s->path));
	int code = buf_failed(&name) ? SQLITE_NOMEM
				     : sqlite3_open_v2(buf_cstr(&name), &s->db, FLAGS, NULL);
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

/* --- rows --------------------------------------------------------------------------------
 */

int rows_select(struct load *l, const char *table, const char *sql)
{
	l->table = table;
	l->any = 0;
	store_allow(l->s);
	if (sqlite3_prepare_v2(l->s->db, sql, -1, &l->st, NULL))
		return store_db_failed(l->s, l->e);
	if (sqlite3_bind_parameter_count(l->st))
		sqlite3_bind_int64(l->st, 1, l->recording);
	return 0;
}

int rows_next(struct load *l)
{
	int got = sqlite3_step(l->st), r = 0;
	int64_t last = l->id;
	l->col = 0;
	l->bad = 0;
	if (!l->s->text)
		r = store_endless(l->s, l->e);
	else if (got != SQLITE_ROW && got != SQLITE_DONE)
		r = store_db_failed(l->s, l->e);
	if (got == SQLITE_ROW && !r) {
		int again = l->any && sqlite3_column_int64(l->st, 0) <= last;
		l->id = sqlite3_column_int64(l->st, 0);
		l->any = 1;
		return again ? rows_damaged(l, "comes twice") : 1;
	}
	sqlite3_finalize(l->st);
	l->st = NULL;
	return r;
}

int rows_damaged(struct load *l, const char *why)
{
	int r = err_set(l->e, ERR_FORMAT, "%s: a damaged store: %s %lld: %s", l->s->path,
			l->table, (long long)sqlite3_column_int64(l->st, 0), why);
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

/* The slot of a short text in what was told before; NULL for a long one. */
static struct recalled *recall(struct recalled *v, const char *s)
{
	size_t n = strlen(s);
	if (n >= sizeof(v->text))
		return NULL;
	return &v[(n * 7 + (unsigned char)s[0] * 3u + (unsigned char)s[n ? n - 1 : 0]) %
		  RECALLED];
}

static struct recalled *known(struct recalled *r, const char *s)
{
	return r && r->known && !strcmp(r->text, s) ? r : NULL;
}

static void remember(struct recalled *r, const char *s, uint16_t value)
{
	if (!r)
		return;
	*r = (struct recalled){.known = 1, .value = value};
	memcpy(r->text, s, strlen(s) + 1);
}

uint8_t take_name(struct load *l, struct recalled *told, const char *(*name)(unsigned int),
		  unsigned int n)
{
	const char *s = take_text(l);
	struct recalled *r = recall(told, s);
	uint8_t found = 0;
	if (known(r, s))
		return (uint8_t)r->value;
	for (unsigned int i = 0; i < n && !found; i++)
		if (!strcmp(s, name(i)))
			found = (uint8_t)i;
	remember(r, s, found);
	return found;
}

int take_state(struct load *l, uint8_t *index)
{
	const char *s = take_text(l);
	struct recalled *r = recall(l->states, s);
	if (known(r, s)) {
		*index = (uint8_t)r->value;
		return 0;
	}
	if (timeline_state(l->tl, s, index))
		return ERR_NOMEM;
	remember(r, s, *index);
	return 0;
}
