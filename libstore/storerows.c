#include "libstore/storerows.h"

#include <string.h>

int store_db_failed(struct store *s, struct err *e)
{
	int code = sqlite3_errcode(s->db);
	if (code == SQLITE_NOMEM)
		return err_nomem(e);
	return err_set(e, code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? ERR_FORMAT : ERR_IO,
		       "%s: %s", s->path, sqlite3_errmsg(s->db));
}

int store_query_int(struct store *s, const char *sql, int64_t *v, struct err *e)
{
	sqlite3_stmt *st;
	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return store_db_failed(s, e);
	int got = sqlite3_step(st);
	*v = got == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	return got == SQLITE_ROW || got == SQLITE_DONE ? 0 : store_db_failed(s, e);
}

int store_connect(const char *path, sqlite3 **out)
{
	int code = sqlite3_open_v2(path, out, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
	sqlite3 *db = *out;
	if (code)
		return code;
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
	return SQLITE_OK;
}

int rows_select(struct load *l, const char *table, const char *sql)
{
	l->table = table;
	if (sqlite3_prepare_v2(l->s->db, sql, -1, &l->st, NULL))
		return store_db_failed(l->s, l->e);
	if (sqlite3_bind_parameter_count(l->st))
		sqlite3_bind_int64(l->st, 1, l->recording);
	return 0;
}

int rows_next(struct load *l)
{
	int got = sqlite3_step(l->st);
	l->col = 0;
	l->bad = 0;
	if (got == SQLITE_ROW)
		return 1;
	int r = got == SQLITE_DONE ? 0 : store_db_failed(l->s, l->e);
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
