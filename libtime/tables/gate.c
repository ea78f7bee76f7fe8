#include "libtime/tables/gate.h"
#include "base/mem.h"
#include "base/text/name_id.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *gate_answer_name(unsigned answer)
{
	static const char *const names[] = {"no", "cannot say", "yes"};
	return answer <= GATE_YES ? names[answer] : "";
}

/* --- reading ---------------------------------------------------------------------------- */

enum { WORDS = 64 };

struct words {
	const char *at[WORDS];
	size_t len[WORDS], n;
};

static int is(const struct words *w, size_t i, const char *text)
{
	return i < w->n && strlen(text) == w->len[i] && !memcmp(w->at[i], text, w->len[i]);
}

static void split(struct words *w, const char *text)
{
	w->n = 0;
	for (const char *s = text + strspn(text, " "); *s && w->n < WORDS;
	     s += strspn(s, " ")) {
		w->at[w->n] = s;
		w->len[w->n++] = strcspn(s, " ");
		s += w->len[w->n - 1];
	}
}

static int bad(const char *text, const char *why, struct err *e)
{
	return err_set(e, ERR_USAGE,
		       "'%s': %s; a condition is 'KIND NAME [WHAT] more|less [PERCENT%%]' or "
		       "'new KIND'",
		       text, why);
}

/* The kind that the first word names. */
static int read_kind(struct gate *g, const struct words *w, size_t i, struct err *e)
{
	static const uint8_t kinds[] = {FIGURE_WHOLE, FIGURE_TOTAL, FIGURE_SITE,
					FIGURE_CAUSE, FIGURE_ROOT,  FIGURE_WAIT_LENGTH,
					FIGURE_SPAN};
	for (size_t k = 0; k < sizeof(kinds); k++)
		if (is(w, i, figure_kind_name(kinds[k]))) {
			g->kind = kinds[k];
			return 0;
		}
	return bad(g->text, "KIND is whole, function, site, cause, root, wait or span", e);
}

/* "p99", "p999" → 99000, 99900. */
static uint32_t percentile_of(const struct words *w, size_t i)
{
	static const struct {
		const char *name;
		uint32_t millipercent;
	} known[] = {{"p50", 50000},
		     {"p90", 90000},
		     {"p99", 99000},
		     {"p999", 99900},
		     {"p99.9", 99900}};
	for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
		if (is(w, i, known[k].name))
			return known[k].millipercent;
	return 0;
}

/* "5%" at the end; the number of words left. */
static size_t read_percent(struct gate *g, const struct words *w)
{
	char *end, number[32] = "";
	size_t len = w->n ? w->len[w->n - 1] : 0;
	if (len < 2 || len >= sizeof(number) || w->at[w->n - 1][len - 1] != '%')
		return w->n;
	memcpy(number, w->at[w->n - 1], len - 1);
	double x = strtod(number, &end);
	if (*end || !(x >= 0 && x < 1e6))
		return w->n;
	g->percent = x;
	return w->n - 1;
}

/* The word before "more" and "less"; the number of words left. */
static size_t read_what(struct gate *g, const struct words *w, size_t n)
{
	uint32_t percentile = n > 1 ? percentile_of(w, n - 1) : 0;
	int functions = g->kind == FIGURE_TOTAL, spans = g->kind == FIGURE_SPAN;
	if (n > 1 && functions && (is(w, n - 1, "self") || is(w, n - 1, "total"))) {
		g->kind = is(w, n - 1, "self") ? FIGURE_SELF : FIGURE_TOTAL;
	} else if (n > 1 && spans && (is(w, n - 1, "time") || is(w, n - 1, "count"))) {
		g->kind = is(w, n - 1, "count") ? FIGURE_SPAN_COUNT : FIGURE_SPAN;
	} else if (percentile && (spans || g->kind == FIGURE_WAIT_LENGTH)) {
		g->kind = spans ? FIGURE_SPAN_LENGTH : FIGURE_WAIT_LENGTH;
		g->millipercent = percentile;
	} else {
		return n;
	}
	return n - 1;
}

int gate_parse(struct gate *g, const char *text, struct err *e)
{
	struct words w;
	*g = (struct gate){.text = text, .percent = NAN, .figure = UINT32_MAX, .direction = 1};
	split(&w, text);
	g->is_new = (uint8_t)is(&w, 0, "new");
	int rc = read_kind(g, &w, g->is_new, e);
	if (rc)
		return rc;
	if (g->is_new)
		return w.n == 2 && g->kind != FIGURE_WHOLE && g->kind != FIGURE_WAIT_LENGTH
			       ? 0
			       : bad(text,
				     "what is new is a function, site, cause, root or span", e);
	size_t n = read_percent(g, &w);
	if (n < 2 || (!is(&w, n - 1, "more") && !is(&w, n - 1, "less")))
		return bad(text, "it does not end with more or less", e);
	g->direction = is(&w, n - 1, "more") ? 1 : -1;
	n = read_what(g, &w, n - 1);
	if (g->kind == FIGURE_WAIT_LENGTH)
		return g->millipercent && n == 1
			       ? 0
			       : bad(text, "waits have p50, p90, p99, p999", e);
	if (n < 2)
		return bad(text, "it has no NAME", e);
	g->name = mem_strndup(w.at[1], (size_t)(w.at[n - 1] + w.len[n - 1] - w.at[1]));
	return g->name ? 0 : err_nomem(e);
}

void gate_release(struct gate *g)
{
	mem_free(g->name);
	g->name = NULL;
}

/* --- answers ---------------------------------------------------------------------------- */

static int name_fits(const struct gate *g, const struct figure *f)
{
	const char *comma = strrchr(f->name, ','), *kind = figure_kind_name(f->kind);
	if (!g->name || name_has_id(kind, g->name, f->name) || !strcmp(g->name, f->name) ||
	    !fnmatch(g->name, f->name, 0))
		return 1;
	if ((f->kind != FIGURE_SELF && f->kind != FIGURE_TOTAL) || !comma)
		return 0;
	char *own = mem_strndup(f->name, (size_t)(comma - f->name));
	int fits = own && (!strcmp(g->name, own) || !fnmatch(g->name, own, 0));
	mem_free(own);
	return fits;
}

static int is_glob(const char *name)
{
	return !name || strpbrk(name, "*?[") != NULL;
}

/* Rows that a pattern matches by the way, and that are too small, do not count. */
static int concerns(const struct gate *g, const struct figure *f)
{
	return f->kind == g->kind && f->millipercent == g->millipercent && name_fits(g, f) &&
	       (f->tested || (!g->is_new && !is_glob(g->name)));
}

/* The probability that all runs that have the row are of AFTER, if each is as likely to; 1 if one
 * of BEFORE has it, or not most of AFTER have it. */
static double new_chance(const struct runs *r, const struct figure *f, size_t *with)
{
	double chance = 1;
	size_t all = r->v.n;
	*with = 0;
	for (size_t i = 0; i < all; i++) {
		if (!(f->value[i] > 0))
			continue;
		if (r->v.v[i].side == BEFORE)
			return 1;
		++*with;
	}
	if (*with * 2 <= r->n[AFTER])
		return 1;
	for (size_t i = 0; i < *with; i++)
		chance *= (double)(r->n[AFTER] - i) / (double)(all - i);
	return chance;
}

static double need_of(const struct gate *g, const struct figure *f)
{
	double before = isnan(f->before) ? 0 : f->before;
	return isnan(g->percent) ? f->least : before * g->percent / 100;
}

/* What one row says. */
static unsigned answer_row(const struct gate *g, const struct figure *f, double chance,
			   size_t with)
{
	double need = need_of(g, f);
	if (g->is_new)
		return chance <= RUNS_LEVEL ? GATE_YES : with ? GATE_CANNOT_SAY : GATE_NO;
	if (chance <= RUNS_LEVEL && f->difference * g->direction >= need &&
	    f->difference * g->direction > 0)
		return GATE_YES;
	double most = g->direction > 0 ? f->high : -f->low;
	return most < need || (most <= 0 && need <= 0) ? GATE_NO : GATE_CANNOT_SAY;
}

/* Keep the row that decides: the clearest answer, then the largest difference. */
static void take(struct gate *g, const struct runs *r, uint32_t at, double chance, size_t with)
{
	const struct figure *f = &r->figures.v[at];
	unsigned answer = answer_row(g, f, chance, with);
	const struct figure *had = g->figure == UINT32_MAX ? NULL : &r->figures.v[g->figure];
	int larger = !had || f->difference * g->direction > had->difference * g->direction;
	if (had && (answer < g->answer || (answer == g->answer && !larger)))
		return;
	g->answer = answer;
	g->figure = at;
	g->chance = chance;
	g->with = with;
}

/* One row that a condition matches. */
struct matched {
	uint32_t gate, figure;
	size_t with;
};

static double chance_of(const struct gate *g, const struct runs *r, struct matched *m)
{
	const struct figure *f = &r->figures.v[m->figure];
	if (!g->is_new)
		return g->direction > 0 ? f->more : f->less;
	double chance = new_chance(r, f, &m->with);
	m->with = chance < 1 ? m->with : 0;
	return chance;
}

int gates_answer(struct gate *v, size_t n, const struct runs *r)
{
	VEC(struct matched) rows = {0};
	VEC(double) chances = {0};
	int rc = 0;
	for (uint32_t i = 0; i < n && !rc; i++) {
		v[i].of = r->n[AFTER];
		for (uint32_t k = 0; k < r->figures.n && !rc; k++) {
			struct matched m = {.gate = i, .figure = k};
			if (!concerns(&v[i], &r->figures.v[k]))
				continue;
			double chance = chance_of(&v[i], r, &m);
			v[i].matched++;
			if (!v[i].is_new || m.with)
				rc = vec_push(&rows, m) || vec_push(&chances, chance)
					     ? ERR_NOMEM
					     : 0;
		}
		v[i].answer = v[i].matched || v[i].is_new ? GATE_NO : GATE_CANNOT_SAY;
	}
	rc = rc ? rc : runs_correct(chances.v, chances.n);
	for (size_t i = 0; i < rows.n && !rc; i++)
		take(&v[rows.v[i].gate], r, rows.v[i].figure, chances.v[i], rows.v[i].with);
	vec_release(&rows);
	vec_release(&chances);
	return rc;
}
