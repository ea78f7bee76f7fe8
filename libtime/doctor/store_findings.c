#include "libtime/doctor/store_findings.h"
#include "libtime/store/store_internal.h"
#include "libtime/store/store_rows.h"

#include <string.h>

const struct finding_question finding_questions[] = {
	{"made-for", 0},
	{"cpu", ABOUT_CPU},
	{"offcpu", ABOUT_OFFCPU},
	{"tail", ABOUT_TAIL},
	{"counts", ABOUT_COUNTS},
	{"samples", ASKED_OF_SAMPLES | ABOUT_CPU},
	{"sample-counts", ASKED_OF_SAMPLES | ABOUT_COUNTS},
	{NULL, 0},
};

/* --- writing -------------------------------------------------------------------------- */

static int write_failed(const struct store_handle *h, struct err *e)
{
	return err_set(e, ERR_IO, "%s: cannot write the store: %s", h->path,
		       sqlite3_errmsg(h->db));
}

static int step(const struct store_handle *h, sqlite3_stmt *st, struct err *e)
{
	if (sqlite3_step(st) != SQLITE_DONE)
		return write_failed(h, e);
	sqlite3_reset(st);
	return 0;
}

static void put_text(sqlite3_stmt *st, int col, const char *s)
{
	if (*s)
		sqlite3_bind_text(st, col, s, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(st, col);
}

static int write_details(const struct store_handle *h, sqlite3_stmt *st,
			 const struct finding *f, struct err *e)
{
	int r = 0;
	sqlite3_bind_int64(st, 1, sqlite3_last_insert_rowid(h->db));
	for (size_t i = 0; i < f->ndetails && !r; i++) {
		sqlite3_bind_int64(st, 2, (int64_t)i);
		sqlite3_bind_text(st, 3, f->details[i], -1, SQLITE_STATIC);
		put_text(st, 4, f->get[i]);
		r = step(h, st, e);
	}
	return r;
}

int store_write_findings(struct store_writer *w, const struct finding_question *q,
			 const struct findings *f, struct err *e)
{
	struct store_handle h = store_writer_handle(w);
	sqlite3_stmt *row = NULL, *detail = NULL;
	int r = 0;
	if (sqlite3_prepare_v2(h.db, "INSERT INTO findings VALUES(NULL,?,?,?,?,?,?,?)", -1,
			       &row, NULL) ||
	    sqlite3_prepare_v2(h.db, "INSERT INTO finding_details VALUES(?,?,?,?)", -1, &detail,
			       NULL))
		r = write_failed(&h, e);
	for (size_t i = 0; i < f->v.n && !r; i++) {
		const struct finding *x = &f->v.v[i];
		sqlite3_bind_int64(row, 1, h.recording);
		put_text(row, 2, q->name);
		put_text(row, 3, x->kind->id);
		put_text(row, 4, finding_harm_name(x->harm));
		put_text(row, 5, x->title);
		put_text(row, 6, x->remedy);
		put_text(row, 7, x->again ? f->line : "");
		r = step(&h, row, e);
		r = r ? r : write_details(&h, detail, x, e);
	}
	sqlite3_finalize(row);
	sqlite3_finalize(detail);
	return r;
}

/* --- reading -------------------------------------------------------------------------- */

struct reading {
	struct store *s;
	int64_t recording;
	struct findings *out;
	struct err *e;
};

static int read_failed(const struct reading *l)
{
	return store_db_failed(l->s, l->e);
}

static int select_rows(const struct reading *l, sqlite3_stmt **st, const char *sql, int64_t id)
{
	if (sqlite3_prepare_v2(l->s->db, sql, -1, st, NULL))
		return read_failed(l);
	if (sqlite3_bind_parameter_count(*st))
		sqlite3_bind_int64(*st, 1, id);
	return 0;
}

/* NULL when there is no memory, or more text than can be. */
static const char *text(const struct reading *l, sqlite3_stmt *st, int col)
{
	const char *s = (const char *)sqlite3_column_text(st, col);
	size_t n = s ? strlen(s) : 0;
	return store_text_over_budget(l->s, n) ? NULL
					       : arena_strndup(&l->out->text, s ? s : "", n);
}

static int no_text(const struct reading *l)
{
	return l->s->text ? err_nomem(l->e) : store_endless(l->s, l->e);
}

static int read_details(const struct reading *l, int64_t id, struct finding *f)
{
	sqlite3_stmt *st;
	int got = SQLITE_DONE;
	int r = select_rows(l, &st,
			    "SELECT text,get FROM finding_details WHERE finding_id = ? "
			    "ORDER BY line",
			    id);
	while (!r && f->ndetails < FINDING_DETAILS && (got = sqlite3_step(st)) == SQLITE_ROW) {
		size_t i = f->ndetails++;
		f->dsos[i] = NO_ID;
		f->details[i] = text(l, st, 0);
		f->get[i] = text(l, st, 1);
		if (!f->details[i] || !f->get[i])
			r = no_text(l);
	}
	if (!r && got != SQLITE_DONE && got != SQLITE_ROW)
		r = read_failed(l);
	sqlite3_finalize(st);
	return r;
}

static struct finding *same_finding(const struct findings *f, const struct finding *x)
{
	for (size_t i = 0; i < f->v.n; i++)
		if (f->v.v[i].kind == x->kind && !strcmp(f->v.v[i].title, x->title))
			return &f->v.v[i];
	return NULL;
}

/* The questions about which it misleads. Where the store says it of one question alone, that is
 * the one; harm is kept for each. */
static int read_wrong_for(const struct reading *l, struct finding *f)
{
	sqlite3_stmt *st;
	int got = SQLITE_DONE;
	int r = select_rows(l, &st,
			    "SELECT question FROM findings WHERE recording_id = ?1 AND "
			    "finding = ?2 AND title = ?3 AND harm = 'wrong'",
			    l->recording);
	if (r)
		return r;
	sqlite3_bind_text(st, 2, f->kind->id, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, f->title, -1, SQLITE_STATIC);
	while ((got = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);
		for (const struct finding_question *q = finding_questions; q->name; q++)
			if (name && !strcmp(name, q->name))
				f->wrong_for |= (uint8_t)q->asked;
	}
	if (got != SQLITE_DONE)
		r = read_failed(l);
	sqlite3_finalize(st);
	return r;
}

/* A finding of a newer perfkit, whose kind is not known here, is left out. */
static int read_finding(const struct reading *l, sqlite3_stmt *st)
{
	const char *harm = (const char *)sqlite3_column_text(st, 2);
	struct finding f = {.kind = finding_kind((const char *)sqlite3_column_text(st, 1)),
			    .title = text(l, st, 3),
			    .remedy = text(l, st, 4)};
	const char *line = text(l, st, 5);
	if (!f.title || !f.remedy || !line)
		return no_text(l);
	f.again = *line != '\0';
	if (f.again) /* it mends what the questions before found, too */
		l->out->line = line;
	while (f.harm < SEVERITY_WRONG && harm && strcmp(harm, finding_harm_name(f.harm)) != 0)
		f.harm++;
	if (!f.kind)
		return 0;
	struct finding *old = same_finding(l->out, &f);
	if (old) {
		if (f.harm == SEVERITY_WRONG && old->harm != SEVERITY_WRONG &&
		    read_wrong_for(l, old))
			return read_failed(l);
		old->harm = old->harm < f.harm ? f.harm : old->harm;
		old->again |= f.again;
		return 0;
	}
	int r = read_details(l, sqlite3_column_int64(st, 0), &f);
	if (!r && f.harm == SEVERITY_WRONG)
		r = read_wrong_for(l, &f);
	return r ? r : vec_push(&l->out->v, f) ? err_nomem(l->e) : 0;
}

static int read_question(const struct reading *l, const struct finding_question *q)
{
	sqlite3_stmt *st;
	int got = SQLITE_DONE;
	int r = select_rows(l, &st,
			    "SELECT id,finding,harm,title,remedy,line FROM findings "
			    "WHERE recording_id = ?1 AND question = ?2 ORDER BY id",
			    l->recording);
	if (!r)
		sqlite3_bind_text(st, 2, q->name, -1, SQLITE_STATIC);
	while (!r && (got = sqlite3_step(st)) == SQLITE_ROW)
		r = read_finding(l, st);
	if (!r && got != SQLITE_DONE)
		r = read_failed(l);
	sqlite3_finalize(st);
	return r;
}

/* Two tables more than the first stores had. */
static int check_kept(const struct reading *l)
{
	sqlite3_stmt *st;
	int r = select_rows(l, &st,
			    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name "
			    "IN ('findings','finding_details')",
			    0);
	if (!r && sqlite3_step(st) != SQLITE_ROW)
		r = read_failed(l);
	else if (!r && sqlite3_column_int64(st, 0) != 2)
		r = err_set(l->e, ERR_REFUSED,
			    "%s: an older perfkit made this store and kept no findings; ask "
			    "the recording, or import it again",
			    l->s->path);
	sqlite3_finalize(st);
	return r;
}

static int read_made_for(const struct reading *l, unsigned *topics)
{
	sqlite3_stmt *st;
	int got = SQLITE_DONE, trace = 0, switches = 0;
	int r = select_rows(l, &st,
			    "SELECT e.name,e.tracepoint,r.has_records FROM selected_events e "
			    "JOIN recordings r ON r.id = e.recording_id "
			    "WHERE e.recording_id = ?",
			    l->recording);
	*topics = ABOUT_NAMES;
	while (!r && (got = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);
		int tracepoint = sqlite3_column_int(st, 1);
		*topics |= findings_event_topics(name ? name : "", tracepoint);
		switches |= sqlite3_column_int(st, 2);
		trace |= findings_is_trace(name ? name : "");
	}
	if (switches && !trace)
		*topics |= ABOUT_OFFCPU;
	*topics = findings_all_topics(*topics);
	if (!r && got != SQLITE_DONE)
		r = read_failed(l);
	sqlite3_finalize(st);
	return r;
}

/* Names alone are no question: each one checks them. */
static int is_asked(const struct finding_question *q, unsigned asked)
{
	if (!asked || !q->asked)
		return !asked && !q->asked;
	if ((asked ^ q->asked) & ASKED_OF_SAMPLES)
		return 0;
	asked &= ~(unsigned)ASKED_OF_SAMPLES;
	return (asked & q->asked) || (asked == ABOUT_NAMES && q->asked & ABOUT_CPU);
}

int store_findings(struct store *s, int64_t recording, unsigned asked, struct findings *out,
		   unsigned *intended_for, struct err *e)
{
	struct reading l = {.s = s, .recording = recording, .out = out, .e = e};
	*out = (struct findings){.line = ""};
	store_allow(s);
	int r = check_kept(&l);
	if (!r)
		r = read_made_for(&l, intended_for);
	for (const struct finding_question *q = finding_questions; q->name && !r; q++)
		if (is_asked(q, asked))
			r = read_question(&l, q);
	/* older stores do not have it: what touches it was found for tail */
	for (const struct finding_question *q = finding_questions; q->name && !r; q++)
		if (asked & ABOUT_COUNTS && !(asked & ASKED_OF_SAMPLES) && !out->v.n &&
		    q->asked == ABOUT_TAIL)
			r = read_question(&l, q);
	findings_sort(out);
	return r;
}
