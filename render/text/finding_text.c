#include "render/text/finding_text.h"
#include "base/count.h"
#include "libsym/elf/dso_find.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

/* --- numbers ------------------------------------------------------------------------ */

static double percent(const struct fact *f)
{
	return f->whole ? 100.0 * (double)f->number / (double)f->whole : 0;
}

/* The complement of a share, and neither all nor nothing. */
static void put_rest(struct buf *out, double share)
{
	if (share < 0.1)
		buf_str(out, "less than 0.1 %");
	else
		buf_fmt(out, "%.*f %%", share < 10 || share > 99, share);
}

/* "%5.1": columns and decimals; "%fine", "%rest". */
static void put_share(struct buf *out, const struct form_piece *p, const struct fact *f)
{
	const char *dot = memchr(p->how, '.', p->nhow);
	double share = percent(f);
	if (form_how_is(p, "%rest"))
		put_rest(out, share);
	else if (form_how_is(p, "%fine"))
		buf_fmt(out, "%.*f %%", share < 1 ? 3 : 1, share);
	else
		buf_fmt(out, "%*.*f %%", dot ? atoi(p->how + 1) : 0,
			atoi(dot ? dot + 1 : p->how + 1), share);
}

/* Milliseconds, truncated and not rounded: the text says "at least" or "up to". */
static void put_ms(struct buf *out, uint64_t ns)
{
	buf_fmt(out, "%llu", (ull)ns / 1000000);
	if (ns < 100000000)
		buf_fmt(out, ".%02llu", (ull)ns / 10000 % 100);
	buf_str(out, " ms");
}

/* A count with singular and plural, or with a word that gets an s. */
static void put_count(struct buf *out, const struct form_piece *p, uint64_t n)
{
	char one[COUNT_TEXT] = "", many[COUNT_TEXT] = "", text[COUNT_TEXT];
	const char *bar = memchr(p->how, '|', p->nhow);
	size_t first = bar ? (size_t)(bar - p->how) : p->nhow;
	memcpy(one, p->how, first < COUNT_TEXT ? first : 0);
	if (bar && p->nhow - first < COUNT_TEXT)
		memcpy(many, bar + 1, p->nhow - first - 1);
	buf_str(out, count_of(text, n, one, bar ? many : NULL));
}

/* --- texts -------------------------------------------------------------------------- */

static int next_number(const char **p, uint64_t *n)
{
	const char *digits = strpbrk(*p, "0123456789");
	char *end;
	if (!digits)
		return 0;
	*n = strtoull(digits, &end, 10);
	*p = end;
	return 1;
}

/* The amount in each part of the time, darkest for the most. */
static void put_where(struct buf *out, const char *array)
{
	static const char ramp[] = " .:-=+*#@";
	uint64_t most = 0, n;
	for (const char *p = array; next_number(&p, &n);)
		most = n > most ? n : most;
	for (const char *p = array; next_number(&p, &n);) {
		int level = most ? (int)((double)n / (double)most * 8) : 0;
		buf_char(out, ramp[n && !level ? 1 : level]);
	}
}

static void put_reason(struct buf *out, const char *word)
{
	enum dso_reason r = DSO_FOUND;
	while (r < DSO_CYCLES && strcmp(store_reason_word(r), word) != 0)
		r++;
	buf_str(out, r == DSO_FOUND ? "no symbol covers the address" : dso_reason_text(r));
}

static void put_plain(struct buf *out, const struct fact *f)
{
	if (f->number == UINT64_MAX)
		buf_str(out, f->text);
	else
		buf_u64(out, f->number);
}

static void put_thread(struct buf *out, const struct fact *f)
{
	buf_str(out, f->text);
	buf_fmt(out, *f->text ? "/%llu" : "tid %llu", (ull)f->number);
}

/* --- sentences ---------------------------------------------------------------------- */

static void put_fact(struct buf *out, const struct form_piece *p, const struct fact *f)
{
	char digits[COUNT_TEXT];
	if (!p->nhow)
		put_plain(out, f);
	else if (*p->how == '%')
		put_share(out, p, f);
	else if (form_how_is(p, ","))
		buf_str(out, count_digits(digits, f->number));
	else if (form_how_is(p, "@ms"))
		put_ms(out, f->number);
	else if (form_how_is(p, "@s"))
		buf_fmt(out, "%.2f s", (double)f->number / 1e9);
	else if (form_how_is(p, "@fiftieth"))
		buf_fmt(out, "%.0f ms", (double)f->number / 1e6 / 50);
	else if (form_how_is(p, "@thread"))
		put_thread(out, f);
	else if (form_how_is(p, "@where"))
		put_where(out, f->text);
	else if (form_how_is(p, "@reason"))
		put_reason(out, f->text);
	else
		put_count(out, p, f->number);
}

static void put_value(struct buf *out, const struct fact *f)
{
	static const char *const units[FACT_UNITS] = {
		[FACT_TIME] = " ns", [FACT_SIZE] = " bytes"};
	put_plain(out, f);
	if (f->unit == FACT_SHARE) {
		buf_str(out, " of ");
		buf_u64(out, f->whole);
	}
	buf_str(out, f->unit < FACT_UNITS && units[f->unit] ? units[f->unit] : "");
}

/* All facts but the first; 0 where there are none. */
static int put_others(struct buf *out, const struct statement *s)
{
	for (size_t i = 1; i < s->n; i++) {
		buf_fmt(out, "%s%s = ", i > 1 ? ", " : "", s->facts[i].name);
		put_value(out, &s->facts[i]);
	}
	return s->n > 1;
}

static int is_named(const struct fact *f, const struct form_piece *p)
{
	return strlen(f->name) == p->nname && !memcmp(f->name, p->name, p->nname);
}

/* All facts of that name; 0 if there is none. */
static int put_facts(struct buf *out, const struct statement *s, const struct form_piece *p)
{
	int n = 0;
	if (form_how_is(p, "@others"))
		return put_others(out, s);
	for (size_t i = 0; i < s->n; i++) {
		if (!is_named(&s->facts[i], p))
			continue;
		buf_str(out, n++ ? ", " : "");
		put_fact(out, p, &s->facts[i]);
	}
	return n > 0;
}

void finding_statement(struct buf *out, const struct statement *s)
{
	const char *text = form_text(s->form);
	struct buf group = {0}, *to = out;
	struct form_piece p;
	int whole = 1;
	while (form_next(&text, &p)) {
		if (p.kind == 't') {
			buf_add(to, p.text, p.n);
		} else if (p.kind == '[') {
			to = &group;
			whole = 1;
		} else if (p.kind == ']') {
			to = out;
			buf_str(out, whole ? buf_cstr(&group) : "");
			buf_clear(&group);
		} else if (!put_facts(to, s, &p)) {
			whole = 0;
			buf_str(to, "?");
		}
	}
	if (buf_failed(&group))
		out->failed = group.failed;
	buf_release(&group);
}

void finding_title(struct buf *out, const struct finding *f)
{
	finding_statement(out, &f->title);
}

void finding_remedy(struct buf *out, const struct finding *f)
{
	for (size_t i = 0; i < f->nremedies; i++) {
		buf_str(out, i ? "; " : "");
		finding_statement(out, &f->remedies[i]);
	}
}
