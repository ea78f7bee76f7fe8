#include "libtime/doctor/store_findings.h"
#include "base/mem.h"
#include "base/text/shellword.h"
#include "libtime/store/store_rows.h"

#include <string.h>

const struct finding_question finding_questions[] = {
	{"made-for", 0},
	{"cpu", ABOUT_CPU},
	{"counts", ABOUT_COUNTS},
	{"offcpu", ABOUT_OFFCPU},
	{"tail", ABOUT_TAIL},
	{"samples", ASKED_OF_SAMPLES | ABOUT_CPU},
	{"sample-counts", ASKED_OF_SAMPLES | ABOUT_COUNTS},
	{NULL, 0},
};

/* --- writing -------------------------------------------------------------------------- */

/* Rows that are being made from findings. */
struct rows {
	struct finding_rows *out;
	int failed;
};

static uint32_t intern(struct rows *w, const char *text)
{
	uint32_t id = 0;
	if (strtab_intern_line(&w->out->stacks.strings, text, strlen(text), &id))
		w->failed = ERR_NOMEM;
	return id;
}

/* A statement without facts is a row, too. */
static void put_statement(struct rows *w, enum finding_part part, size_t line,
			  const struct statement *s)
{
	const struct fact none = fact_text("", FACT_NOTHING, "");
	const struct fact *facts = s->n ? s->facts : &none;
	for (size_t i = 0; i < s->n || i == 0; i++) {
		struct finding_fact row = {.number = facts[i].number,
					   .whole = facts[i].whole,
					   .finding = (uint32_t)w->out->findings.n - 1,
					   .line = (uint32_t)line,
					   .form = intern(w, form_key(s->form)),
					   .name = intern(w, facts[i].name),
					   .text = intern(w, facts[i].text),
					   .part = (uint8_t)part,
					   .unit = (uint8_t)facts[i].unit};
		if (vec_push(&w->out->facts, row))
			w->failed = ERR_NOMEM;
	}
}

static void put_finding(struct rows *w, const char *question, const struct findings *f,
			const struct finding *x)
{
	struct finding_row row = {.question = intern(w, question),
				  .finding = intern(w, x->kind->id),
				  .harm = intern(w, finding_severity_name(x->severity)),
				  .command = intern(w, x->again ? f->line : "")};
	if (vec_push(&w->out->findings, row))
		w->failed = ERR_NOMEM;
	if (w->failed)
		return;
	put_statement(w, PART_TITLE, 0, &x->title);
	for (size_t i = 0; i < x->ndetails; i++)
		put_statement(w, PART_DETAIL, i, &x->details[i]);
	for (size_t i = 0; i < x->nremedies; i++)
		put_statement(w, PART_REMEDY, i, &x->remedies[i]);
}

int finding_rows_add(struct finding_rows *out, const struct finding_question *q,
		     const struct findings *f, unsigned topics)
{
	struct rows rows = {.out = out};
	for (size_t i = 0; i < f->v.n && !rows.failed; i++)
		if (f->v.v[i].kind->topics & topics)
			put_finding(&rows, q->name, f, &f->v.v[i]);
	return rows.failed;
}

/* --- reading -------------------------------------------------------------------------- */

struct reading {
	struct store *s;
	int64_t recording;
	struct finding_rows rows;
	struct finding *found; /* by row of rows.findings */
	struct findings *out;
	struct err *e;
};

static const char *string(const struct reading *l, uint32_t id)
{
	return strtab_get(&l->rows.stacks.strings, id);
}

/* Copy a text, since texts outlive the rows. */
static const char *keep(struct reading *l, uint32_t id, int *failed)
{
	const char *s = string(l, id);
	const char *kept = *s ? arena_strndup(&l->out->text, s, strlen(s)) : "";
	*failed |= !kept;
	return kept ? kept : "";
}

static struct statement statement_of(struct reading *l, const struct finding_fact *v, size_t n,
				     int *failed)
{
	enum form form = form_find(string(l, v->form));
	size_t first = form == FORM_NONE, facts = first + (v->name ? n : 0);
	struct fact *f = facts ? arena_alloc(&l->out->text, facts * sizeof(*f)) : NULL;
	*failed |= facts && !f;
	if (f && first)
		*f = fact_text("form", FACT_MESSAGE, keep(l, v->form, failed));
	for (size_t i = first; f && i < facts; i++, v++)
		f[i] = (struct fact){.name = keep(l, v->name, failed),
				     .text = keep(l, v->text, failed),
				     .number = v->number,
				     .whole = v->whole,
				     .unit = (enum fact_unit)v->unit};
	return (struct statement){form, f, f ? facts : 0};
}

static void add_statement(struct finding *f, unsigned part, struct statement s)
{
	if (part == PART_TITLE)
		f->title = s;
	else if (part == PART_DETAIL && f->ndetails < FINDING_DETAILS)
		f->details[f->ndetails++] = s;
	else if (part == PART_REMEDY && f->nremedies < FINDING_REMEDIES)
		f->remedies[f->nremedies++] = s;
}

static int same_statement(const struct finding_fact *a, const struct finding_fact *b)
{
	return a->finding == b->finding && a->part == b->part && a->line == b->line &&
	       a->form == b->form;
}

static int read_facts(struct reading *l)
{
	const struct finding_fact *v = l->rows.facts.v;
	int failed = 0;
	for (size_t i = 0, n; i < l->rows.facts.n && !failed; i += n) {
		for (n = 1; i + n < l->rows.facts.n && same_statement(&v[i], &v[i + n]);)
			n++;
		add_statement(&l->found[v[i].finding], v[i].part,
			      statement_of(l, &v[i], n, &failed));
	}
	return failed ? err_nomem(l->e) : 0;
}

/* A finding without a title has lost it. */
static int check_titles(const struct reading *l)
{
	size_t n = l->rows.findings.n, i = 0;
	uint8_t *titled = mem_zalloc(n + 1, 1);
	if (!titled)
		return err_nomem(l->e);
	for (i = 0; i < l->rows.facts.n; i++)
		titled[l->rows.facts.v[i].finding] |= l->rows.facts.v[i].part == PART_TITLE;
	for (i = 0; i < n && titled[i];)
		i++;
	mem_free(titled);
	return i == n ? 0
		      : err_set(l->e, ERR_FORMAT,
				"%s: a damaged store: findings %zu: it has no title",
				l->s->path, i + 1);
}

static int is_option(const struct finding_fact *v)
{
	return v->unit == FACT_OPTION && v->text;
}

static int is_record_line(const char *line)
{
	return (!strncmp(line, "perf record ", 12) || !strncmp(line, "perfkit record ", 15)) &&
	       shell_is_words(line);
}

/* People paste these into a shell: nothing but a line that records, and words. */
static int check_commands(const struct reading *l)
{
	for (size_t i = 0; i < l->rows.findings.n; i++) {
		const char *line = string(l, l->rows.findings.v[i].command);
		if (*line && !is_record_line(line))
			return err_set(l->e, ERR_FORMAT,
				       "%s: a damaged store: findings %zu: its command is not "
				       "of perf record",
				       l->s->path, i + 1);
	}
	for (size_t i = 0; i < l->rows.facts.n; i++)
		if (is_option(&l->rows.facts.v[i]) &&
		    !shell_is_words(string(l, l->rows.facts.v[i].text)))
			return err_set(l->e, ERR_FORMAT,
				       "%s: a damaged store: finding_facts %zu: not an option",
				       l->s->path, i + 1);
	return 0;
}

/* The topics of all questions that have the finding of row i. */
static uint8_t topics_of(const struct reading *l, size_t i)
{
	const struct finding_row *v = l->rows.findings.v;
	unsigned topics = 0;
	for (size_t k = 0; k < l->rows.findings.n; k++)
		for (const struct finding_question *q = finding_questions; q->name; q++)
			if (v[k].finding == v[i].finding &&
			    !strcmp(string(l, v[k].question), q->name))
				topics |= q->asked & ABOUT_ALL;
	return (uint8_t)(topics ? topics : ABOUT_ALL);
}

/* The kind of row i, which a newer version may have found. NULL: no memory. */
static const struct finding_kind *kind_of(struct reading *l, size_t i)
{
	const struct finding_row *v = l->rows.findings.v;
	const struct finding_kind *known = finding_kind(string(l, v[i].finding));
	int failed = 0;
	for (size_t k = 0; k < i && !known; k++)
		if (v[k].finding == v[i].finding)
			return l->found[k].kind;
	struct finding_kind *k = known ? NULL : arena_alloc(&l->out->text, sizeof(*k));
	if (k)
		*k = (struct finding_kind){
			.id = keep(l, v[i].finding, &failed),
			.impact = "What it does to an answer, this version does not know.",
			.topics = topics_of(l, i)};
	return known ? known : failed ? NULL : k;
}

static int read_findings(struct reading *l)
{
	size_t n = l->rows.findings.n;
	l->found = mem_zalloc(n ? n : 1, sizeof(*l->found));
	if (!l->found)
		return err_nomem(l->e);
	for (size_t i = 0; i < n; i++) {
		const struct finding_row *row = &l->rows.findings.v[i];
		struct finding *f = &l->found[i];
		const char *harm = string(l, row->harm);
		f->kind = kind_of(l, i);
		if (!f->kind)
			return err_nomem(l->e);
		while (f->severity < SEVERITY_WRONG &&
		       strcmp(harm, finding_severity_name(f->severity)))
			f->severity++;
		f->again = row->command != 0;
	}
	int r = check_titles(l);
	r = r ? r : check_commands(l);
	return r ? r : read_facts(l);
}

static int same_finding(const struct finding *a, const struct finding *b)
{
	return a->kind == b->kind && !statement_compare(&a->title, &b->title);
}

/* The topics that the finding misleads about. If the store has it as wrong for one question
 * only, that is the topic; severity is stored for each question. */
static uint8_t wrong_for(const struct reading *l, const struct finding *f)
{
	uint8_t topics = 0;
	for (size_t i = 0; i < l->rows.findings.n; i++) {
		const char *name = string(l, l->rows.findings.v[i].question);
		if (l->found[i].severity != SEVERITY_WRONG || !same_finding(&l->found[i], f))
			continue;
		for (const struct finding_question *q = finding_questions; q->name; q++)
			topics |= strcmp(name, q->name) ? 0 : (uint8_t)q->asked;
	}
	return topics;
}

/* Add a finding; if a question before has it, too, they become one, with the remedies of the
 * later, which are part of a line for both. */
static int add_finding(struct reading *l, const struct finding *f)
{
	for (size_t i = 0; i < l->out->v.n; i++) {
		struct finding *old = &l->out->v.v[i];
		if (!same_finding(old, f))
			continue;
		unsigned severity = old->severity > f->severity ? old->severity : f->severity;
		*old = *f;
		old->severity = (uint8_t)severity;
		return 0;
	}
	return vec_push(&l->out->v, *f) ? err_nomem(l->e) : 0;
}

static int select_question(struct reading *l, const struct finding_question *q)
{
	int r = 0, failed = 0;
	for (size_t i = 0; i < l->rows.findings.n && !r; i++) {
		const struct finding_row *row = &l->rows.findings.v[i];
		if (strcmp(string(l, row->question), q->name) != 0)
			continue;
		if (row->command) /* it fixes the findings of the questions before, too */
			l->out->line = keep(l, row->command, &failed);
		r = failed ? err_nomem(l->e) : add_finding(l, &l->found[i]);
	}
	return r;
}

static int read_intended_topics(struct reading *l, unsigned *topics)
{
	sqlite3 *db = l->s->db;
	sqlite3_stmt *st = NULL;
	int got = SQLITE_DONE, trace = 0, switches = 0;
	*topics = ABOUT_NAMES;
	if (sqlite3_prepare_v2(db,
			       "SELECT e.name,e.tracepoint,r.has_records FROM selected_events "
			       "e JOIN recordings r ON r.id = e.recording_id "
			       "WHERE e.recording_id = ?",
			       -1, &st, NULL))
		return store_db_failed(l->s, l->e);
	sqlite3_bind_int64(st, 1, l->recording);
	while ((got = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);
		int tracepoint = sqlite3_column_int(st, 1);
		*topics |= findings_event_topics(name ? name : "", tracepoint);
		switches |= sqlite3_column_int(st, 2);
		trace |= findings_is_trace(name ? name : "");
	}
	if (switches && !trace)
		*topics |= ABOUT_OFFCPU;
	*topics = findings_all_topics(*topics);
	int r = got == SQLITE_DONE ? 0 : store_db_failed(l->s, l->e);
	sqlite3_finalize(st);
	return r;
}

static int read_host(struct reading *l)
{
	const struct store_recording *v;
	size_t n;
	int r = store_recordings(l->s, &v, &n, l->e);
	for (size_t i = 0; i < n && !r; i++)
		if (v[i].id == l->recording) {
			l->out->host =
				arena_strndup(&l->out->text, v[i].host, strlen(v[i].host));
			r = l->out->host ? 0 : err_nomem(l->e);
		}
	return r;
}

/* Names alone are not a question, since each question checks them. */
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
	*out = (struct findings){.line = "", .host = ""};
	store_allow(s);
	int r = read_intended_topics(&l, intended_for);
	r = r ? r : read_host(&l);
	r = r ? r : store_read_finding_rows(s, recording, &l.rows, e);
	r = r ? r : read_findings(&l);
	for (const struct finding_question *q = finding_questions; q->name && !r; q++)
		if (is_asked(q, asked))
			r = select_question(&l, q);
	for (size_t i = 0; i < out->v.n && !r; i++)
		if (out->v.v[i].severity == SEVERITY_WRONG)
			out->v.v[i].wrong_for = wrong_for(&l, &out->v.v[i]);
	findings_sort(out);
	finding_rows_release(&l.rows);
	mem_free(l.found);
	return r;
}
