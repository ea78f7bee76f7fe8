#include "libtime/doctor/store_report.h"
#include "libtime/store/store_internal.h"
#include "libtime/store/store_rows.h"

#include <string.h>

int report_lines_add(struct report_lines *l, const char *part, const char *text)
{
	struct report_line x = {part, arena_strndup(&l->text, text, strlen(text))};
	return !x.text || vec_push(&l->v, x) ? ERR_NOMEM : 0;
}

void report_lines_release(struct report_lines *l)
{
	arena_release(&l->text);
	vec_release(&l->v);
}

int store_write_report(struct store_writer *w, const struct report_lines *l, struct err *e)
{
	struct store_handle h = store_writer_handle(w);
	sqlite3_stmt *st = NULL;
	int failed = sqlite3_prepare_v2(h.db, "INSERT INTO report_lines VALUES(?,?,?,?)", -1,
					&st, NULL);
	for (size_t i = 0; i < l->v.n && !failed; i++) {
		sqlite3_bind_int64(st, 1, h.recording);
		sqlite3_bind_int64(st, 2, (int64_t)i);
		sqlite3_bind_text(st, 3, l->v.v[i].part, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 4, l->v.v[i].text, -1, SQLITE_STATIC);
		failed = sqlite3_step(st) != SQLITE_DONE || sqlite3_reset(st);
	}
	if (failed)
		err_set(e, ERR_IO, "%s: cannot write the store: %s", h.path,
			sqlite3_errmsg(h.db));
	sqlite3_finalize(st);
	return failed ? ERR_IO : 0;
}

/* A table more than the first stores had. */
static int has_lines(struct store *s, int *has, struct err *e)
{
	sqlite3_stmt *st;
	if (sqlite3_prepare_v2(s->db,
			       "SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
			       "AND name = 'report_lines'",
			       -1, &st, NULL))
		return store_db_failed(s, e);
	int r = sqlite3_step(st) == SQLITE_ROW ? 0 : store_db_failed(s, e);
	*has = !r && sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return r;
}

static const char *part_of(const char *s)
{
	static const char *const parts[] = {"head", "names", "file", "hint"};
	for (size_t i = 0; s && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(s, parts[i]))
			return parts[i];
	return NULL;
}

int store_report(struct store *s, int64_t recording, struct report_lines *out, struct err *e)
{
	sqlite3_stmt *st;
	int has = 0, got = SQLITE_DONE, r = 0;
	*out = (struct report_lines){0};
	store_allow(s);
	if ((r = has_lines(s, &has, e)) || !has)
		return r;
	if (sqlite3_prepare_v2(s->db,
			       "SELECT part,text FROM report_lines WHERE recording_id = ? "
			       "ORDER BY line",
			       -1, &st, NULL))
		return store_db_failed(s, e);
	sqlite3_bind_int64(st, 1, recording);
	while (!r && (got = sqlite3_step(st)) == SQLITE_ROW) {
		const char *part = part_of((const char *)sqlite3_column_text(st, 0));
		const char *text = (const char *)sqlite3_column_text(st, 1);
		if (text && store_take_text(s, strlen(text)))
			r = store_endless(s, e);
		else if (part && text && report_lines_add(out, part, text))
			r = err_nomem(e);
	}
	if (!r && got != SQLITE_DONE)
		r = store_db_failed(s, e);
	sqlite3_finalize(st);
	return r;
}
