#include "render/tail/told_text.h"
#include "base/text/form_text.h"
#include "libsym/name/name_scan.h"
#include "libsym/name/simplify.h"
#include "render/tail/tail_words.h"
#include "render/text/escape.h"
#include "render/text/units.h"
#include "render/text/weight.h"

#include <stdio.h>
#include <string.h>

enum { LONG_NAME = 36, MOST_CHARS = 120, LONGEST_WORD = 32 };

/* The end of a short name without its outer scopes that has at most LONG_NAME bytes. */
static const char *inner_scopes(const char *name)
{
	size_t n = strlen(name), from = 0, end;
	for (size_t i = 0; i < n && n - from > LONG_NAME; i = end) {
		end = strchr("<([{", name[i]) ? name_group(name, n, i) : 0;
		end = end ? end : i + 1;
		if (name_at(name, n, i, "::"))
			from = end = i + 2;
	}
	return name + from;
}

/* What Node and V8 write: "JS:*report /srv/app.js:2:16" is report, and a function without a name
 * app.js:2. 0 if the name is not of that form. */
static int put_script_function(struct buf *b, const char *name, size_t n)
{
	const char *from = name + 3, *end = name + n;
	const char *space = n > 3 ? memchr(name, ' ', n) : NULL;
	if (!space || memcmp(name, "JS:", 3) != 0)
		return 0;
	from += strspn(from, "*~^+");
	if (from < space) {
		buf_add(b, from, (size_t)(space - from));
		return 1;
	}
	const char *file = space + 1, *colon = memrchr(file, ':', (size_t)(end - file));
	const char *slash = memrchr(file, '/', (size_t)(end - file));
	file = slash ? slash + 1 : file;
	buf_str(b, "a function at ");
	buf_add(b, file, (size_t)((colon && colon > file ? colon : end) - file));
	return 2;
}

/* A function's name in a sentence: if it is long, short and without outer scopes. */
static void put_function(struct buf *b, const struct timeline *tl, uint32_t frame)
{
	struct buf full = {0}, text = {0};
	describe_frame(&full, tl, frame);
	if (full.n >
	    LONG_NAME) /* not name_fit: in a sentence the class says more than outer scopes */
		name_short(&text, full.v, full.n);
	else
		buf_add(&text, buf_cstr(&full), full.n);
	const char *name = inner_scopes(buf_cstr(&text));
	size_t n = strlen(name);
	int script = put_script_function(b, buf_cstr(&full), full.n);
	if (script == 1)
		buf_str(b, "()");
	else if (!script)
		buf_add(b, name, n);
	if (!script && n && name[n - 1] != ')' && name[n - 1] != ']')
		buf_str(b, "()");
	b->failed = buf_failed(&full) || buf_failed(&text) ? ERR_NOMEM : b->failed;
	buf_release(&full);
	buf_release(&text);
}

static void put_share(struct buf *b, uint64_t millipercent)
{
	if (millipercent < 10000)
		buf_fmt(b, "%.1f %%", (double)millipercent / 1000);
	else
		buf_fmt(b, "%d %%", (int)((millipercent + 500) / 1000));
}

/* "other|others". */
static void put_plural(struct buf *b, uint64_t n, const struct form_piece *p)
{
	const char *bar = memchr(p->how, '|', p->nhow);
	size_t one = (size_t)(bar - p->how);
	units_count(b, n);
	buf_char(b, ' ');
	buf_add(b, n == 1 ? p->how : bar + 1, n == 1 ? one : p->nhow - one - 1);
}

static void put_number(struct buf *b, const struct told_arg *a, const struct form_piece *p)
{
	if (!p->nhow)
		buf_u64(b, a->number);
	else if (form_how_is(p, ","))
		units_count(b, a->number);
	else if (form_how_is(p, "@time"))
		units_duration(b, a->number);
	else if (form_how_is(p, "@part"))
		units_part(b, a->number, a->whole);
	else if (form_how_is(p, "@bytes"))
		weight_text(b, (double)a->number, 1, 1, "bytes");
	else if (form_how_is(p, "@share"))
		put_share(b, a->number);
	else
		put_plural(b, a->number, p);
}

/* An argument that is not a number to be counted. */
static void put_words(struct buf *b, const struct timeline *tl, const struct told_arg *a)
{
	uint32_t id = (uint32_t)a->number;
	switch (a->kind) {
	case TOLD_SIGNED:
		buf_fmt(b, "%lld", (long long)a->number);
		break;
	case TOLD_MECHANISM:
		buf_str(b, a->of->words);
		break;
	case TOLD_TEXT:
		escape_visible(b, a->text, a->number);
		break;
	case TOLD_STRING:
		describe_name(b, tl, id);
		break;
	case TOLD_SHORT:
		put_function(b, tl, id);
		break;
	case TOLD_FUNC:
		describe_function(b, tl, id);
		break;
	case TOLD_FRAME:
		describe_frame(b, tl, id);
		break;
	case TOLD_WHO:
		describe_thread(b, tl, id, (uint32_t)a->whole);
		break;
	default:
		describe_stack(b, tl, id, (int)a->whole);
	}
}

/* The argument of a place, or NULL. */
static const struct told_arg *arg_of(const struct told *x, const struct told_clause *c,
				     const struct form_piece *p)
{
	for (uint32_t i = 0; i < c->nargs; i++) {
		const struct told_arg *a = &x->args.v[c->arg + i];
		if (strlen(a->name) == p->nname && !memcmp(a->name, p->name, p->nname))
			return a;
	}
	return NULL;
}

static void put_clause(struct buf *out, const struct timeline *tl, const struct told *x,
		       const struct told_clause *c)
{
	const char *text = told_form_texts[c->form].words;
	const struct told_arg *a;
	struct form_piece p;
	size_t group = 0;
	int whole = 1;
	while (form_next(&text, &p)) {
		if (p.kind == 't') {
			buf_add(out, p.text, p.n);
		} else if (p.kind == '[') {
			group = out->n;
			whole = 1;
		} else if (p.kind == ']') {
			out->n = whole ? out->n : group;
		} else if (!(a = arg_of(x, c, &p))) {
			whole = 0;
		} else if (a->kind == TOLD_NUMBER) {
			put_number(out, a, &p);
		} else {
			put_words(out, tl, a);
		}
	}
}

static int is_said(const struct told_clause *c, enum told_brief level)
{
	return c->from <= level && level < c->until;
}

void told_text(struct buf *b, const struct timeline *tl, const struct told *x, size_t from,
	       size_t until, enum told_brief level)
{
	for (size_t i = from; i < until; i++)
		if (is_said(&x->v.v[i], level))
			put_clause(b, tl, x, &x->v.v[i]);
	if (x->failed)
		b->failed = x->failed;
}

enum told_brief told_answer_text(struct buf *b, const struct timeline *tl, const struct told *x,
				 size_t sentence)
{
	size_t end = sentence;
	int level = BRIEF_NOT;
	told_text(b, tl, x, 0, sentence, BRIEF_NOT);
	while (end < x->v.n && x->v.v[end].form != TOLD_DOT)
		end++;
	end += end < x->v.n;
	for (size_t begin = b->n; level < BRIEF_LEVELS; level++) {
		b->n = begin;
		told_text(b, tl, x, sentence, end, level);
		if (buf_failed(b) || escape_chars(b->v + begin, b->n - begin) <= MOST_CHARS)
			break;
	}
	level -= level == BRIEF_LEVELS;
	told_text(b, tl, x, end, x->v.n, level);
	return level;
}

static void clause_json(struct json *j, const struct timeline *tl, const struct told *x,
			const struct told_clause *c)
{
	json_open(j, NULL, '{');
	json_str(j, "form", told_form_texts[c->form].key);
	for (uint32_t i = 0; i < c->nargs; i++) {
		const struct told_arg *a = &x->args.v[c->arg + i];
		struct buf words = {0};
		char of[LONGEST_WORD];
		if (a->kind == TOLD_NUMBER) {
			json_u64(j, a->name, a->number);
			snprintf(of, sizeof(of), "%s_of", a->name);
			if (a->whole)
				json_u64(j, of, a->whole);
			continue;
		}
		put_words(&words, tl, a);
		json_text(j, a->name, buf_cstr(&words), words.n);
		if (a->kind == TOLD_MECHANISM)
			json_str(j, "mechanism", a->of->name);
		j->b->failed = buf_failed(&words) ? ERR_NOMEM : j->b->failed;
		buf_release(&words);
	}
	json_close(j, '}');
}

void told_json(struct json *j, const char *key, const struct timeline *tl, const struct told *x,
	       enum told_brief level)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < x->v.n; i++)
		if (is_said(&x->v.v[i], level))
			clause_json(j, tl, x, &x->v.v[i]);
	json_close(j, ']');
	if (x->failed)
		j->b->failed = x->failed;
}
