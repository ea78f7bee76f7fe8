/*
 * help.c - `perfkit help VERB`: what that verb alone has, and by name what it shares with others,
 * which topics explain. With --all, everything.
 */
#include "cmd/cli/opt.h"
#include "cmd/cli/options.h"
#include "render/text/fill.h"

#include <stdio.h>
#include <string.h>

enum { LEFT = 26 }; /* columns of names */

/* Headings of options that several verbs share, and where they are explained: a topic, or the
 * verb whose own they are. */
static const struct shared {
	const char *topic;
	const char *headings[4];
} shared[] = {
	{"tail", {"Episodes"}},   {"filters", {"Filters", "Waits", "Spans"}},
	{"names", {"Symbols"}},   {"stacks", {"Stacks"}},
	{"general", {"General"}},
};
enum { SHARED = sizeof(shared) / sizeof(*shared) };

static int is_of(const struct shared *s, const char *title)
{
	for (size_t i = 0; s->headings[i]; i++)
		if (!strcmp(s->headings[i], title))
			return 1;
	return 0;
}

/* 1 if the options below a heading are not v's alone. */
static int is_shared(const struct verb *v, const char *title)
{
	for (size_t i = 0; i < SHARED; i++)
		if (is_of(&shared[i], title))
			return strcmp(shared[i].topic, v->name) != 0;
	return 0;
}

int opt_is_rare(const struct opt *o)
{
	const struct option_use *u = option_use(o->name);
	return u && u->rare;
}

/* The option, and where a text of n columns (0: long) begins: beside it if it fits. */
static void put_left(struct buf *out, const struct opt *o, size_t n_text)
{
	char left[80];
	int n = o->letter ? snprintf(left, sizeof(left), "  -%c, --%s", o->letter, o->name)
			  : snprintf(left, sizeof(left), "      --%s", o->name);
	if (o->arg && n >= 0 && (size_t)n < sizeof(left))
		snprintf(left + n, sizeof(left) - (size_t)n, " %s", o->arg);
	size_t used = strlen(left);
	if (used > LEFT - 2 && n_text && used + 2 + n_text <= FILL_WIDTH) {
		buf_fmt(out, "%s  ", left);
		return;
	}
	if (used > LEFT - 2) {
		buf_fmt(out, "%s\n", left);
		*left = '\0';
	}
	buf_fmt(out, "%-*s", LEFT, left);
}

static void put_row(void *out, const struct opt *o)
{
	put_left(out, o, 0);
	fill_text(out, LEFT, LEFT, o->help);
}

/* Its first line only. */
static void put_brief(void *out, const struct opt *o)
{
	size_t n = strcspn(o->help, "\n");
	while (n && strchr(":;,", o->help[n - 1]))
		n--;
	put_left(out, o, n);
	buf_add(out, o->help, n);
	buf_char(out, '\n');
}

static void put_text(struct buf *out, const char *s)
{
	while (*s) {
		int table;
		size_t n = fill_paragraph(s, &table);
		buf_char(out, '\n');
		if (table) {
			buf_add(out, s, n);
			buf_char(out, '\n');
		} else {
			struct buf b = {0};
			buf_add(&b, s, n);
			fill_text(out, 0, 0, buf_cstr(&b));
			buf_release(&b);
		}
		s += n;
		s += strspn(s, "\n");
	}
}

/* The heading of a row, or "" if its table has none before it. */
static const char *heading(const struct opt *table, const struct opt *o)
{
	while (o > table && o->kind != OPT_GROUP)
		o--;
	return o->kind == OPT_GROUP ? o->help : "";
}

/* The rows of all tables under one heading. */
static void each_of(const struct verb *v, const char *title, int rare, void *ctx,
		    void (*group)(void *ctx, const char *title),
		    void (*row)(void *ctx, const struct opt *o))
{
	int shown = 0;
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++) {
			if (!opt_is_shown(v, o) || opt_is_rare(o) != rare ||
			    strcmp(heading(v->tables[t], o), title) != 0)
				continue;
			if (!shown++ && group)
				group(ctx, title);
			row(ctx, o);
		}
}

/* 1 if the heading of table t's row o came before. */
static int is_repeated(const struct verb *v, int t, const struct opt *o)
{
	for (int k = 0; k <= t; k++)
		for (const struct opt *x = v->tables[k]; x->name && x != o; x++)
			if (x->kind == OPT_GROUP && !strcmp(x->help, o->help))
				return 1;
	return 0;
}

/* Call `row` for the options under the headings that `which` (0: v's own, 1: shared) selects. */
static void each_own(const struct verb *v, int which, int rare, void *ctx,
		     void (*group)(void *ctx, const char *title),
		     void (*row)(void *ctx, const struct opt *o))
{
	if (!which)
		each_of(v, "", rare, ctx, group, row);
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (o->kind == OPT_GROUP && !is_repeated(v, t, o) &&
			    is_shared(v, o->help) == which)
				each_of(v, o->help, rare, ctx, group, row);
}

void opt_each(const struct verb *v, void *ctx, void (*group)(void *ctx, const char *title),
	      void (*row)(void *ctx, const struct opt *o))
{
	for (int which = 0; which < 2; which++)
		each_own(v, which, 0, ctx, group, row);
	for (int which = 0, begun = 0; which < 2; which++)
		for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
			for (const struct opt *o = v->tables[t]; o->name; o++) {
				if (!opt_is_shown(v, o) || !opt_is_rare(o) ||
				    is_shared(v, heading(v->tables[t], o)) != which)
					continue;
				if (!begun++ && group)
					group(ctx, "Rarely needed");
				row(ctx, o);
			}
}

static void put_group(void *out, const char *title)
{
	buf_fmt(out, "\n%s:\n", *title ? title : "Options");
}

static void put_name(void *out, const struct opt *o)
{
	if (o->letter)
		buf_fmt(out, " -%c/--%s", o->letter, o->name);
	else
		buf_fmt(out, " --%s", o->name);
}

/* "  filters     --comm -p/--pid ...", of what v shares; *begun counts the lines. */
static void put_shared(struct buf *out, const struct verb *v, const struct shared *s,
		       int *begun)
{
	enum { TOPIC = 10 };
	struct buf names = {0};
	if (!strcmp(s->topic, v->name))
		return;
	for (size_t i = 0; s->headings[i]; i++)
		each_of(v, s->headings[i], 0, &names, NULL, put_name);
	if (names.n && !(*begun)++)
		buf_fmt(out,
			"\nShared (perfkit help TOPIC; all in full: perfkit %s --help "
			"--all):\n",
			v->name);
	if (names.n) {
		buf_fmt(out, "  %-*s", TOPIC - 2, s->topic);
		fill_text(out, TOPIC - 1, TOPIC, buf_cstr(&names) + 1);
	}
	buf_release(&names);
}

/* The first lines of help. */
static void put_head(struct buf *b, const struct verb *v)
{
	buf_fmt(b, "usage: perfkit %s %s\n\n%s\n", v->name, v->usage, v->brief);
	if (v->examples)
		buf_fmt(b, "\nExamples:\n%s\n", v->examples);
	if (v->text)
		put_text(b, v->text);
}

void opt_help(const struct verb *v, int all)
{
	struct buf b = {0};
	int begun = 0;
	put_head(&b, v);
	if (all) {
		opt_each(v, &b, put_group, put_row);
	} else {
		each_own(v, 0, 0, &b, put_group, put_brief);
		for (size_t i = 0; i < SHARED; i++)
			put_shared(&b, v, &shared[i], &begun);
	}
	fputs(buf_cstr(&b), stdout);
	buf_release(&b);
}

/* 1 if one of the verbs before the nth has the option below this topic. */
static int is_printed(const struct verb *const *verbs, size_t n, const char *title,
		      const char *name)
{
	for (size_t i = 0; i < n; i++)
		for (int t = 0; t < OPT_TABLES && verbs[i]->tables[t]; t++)
			for (const struct opt *o = verbs[i]->tables[t]; o->name; o++)
				if (!strcmp(o->name, name) && opt_is_shown(verbs[i], o) &&
				    !strcmp(heading(verbs[i]->tables[t], o), title))
					return 1;
	return 0;
}

struct topic_rows {
	struct buf *out;
	const struct verb *const *verbs;
	size_t n; /* verbs that were printed */
	const char *title;
	int begun;
};

static void put_once(void *ctx, const struct opt *o)
{
	struct topic_rows *r = ctx;
	if (is_printed(r->verbs, r->n, r->title, o->name))
		return;
	if (!r->begun++)
		put_group(r->out, r->title);
	put_row(r->out, o);
}

int opt_topic(FILE *f, const char *topic, const struct verb *const *verbs, size_t n)
{
	struct buf b = {0};
	int rows = 0;
	for (size_t i = 0; i < SHARED; i++) {
		if (strcmp(shared[i].topic, topic) != 0)
			continue;
		for (size_t h = 0; shared[i].headings[h]; h++) {
			struct topic_rows r = {&b, verbs, 0, shared[i].headings[h], 0};
			for (; r.n < n; r.n++)
				each_of(verbs[r.n], r.title, 0, &r, NULL, put_once);
			rows += r.begun;
		}
	}
	fputs(buf_cstr(&b), f);
	buf_release(&b);
	return rows;
}
