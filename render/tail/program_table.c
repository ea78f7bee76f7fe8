#include "render/tail/program_table.h"
#include "libtime/population/programs.h"
#include "render/text/escape.h"
#include "render/text/table.h"
#include "render/text/units.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAMS_SHOWN = 5 };

struct program {
	uint32_t name; /* strings id */
	uint64_t worst, ns, longest_ns;
};

struct programs {
	VEC(struct program) v;
	struct u64map of; /* name → index of v */
};

static int add(struct programs *x, uint32_t name, uint64_t ns)
{
	uint32_t i = (uint32_t)x->v.n;
	if (!u64map_get(&x->of, name, &i) &&
	    (vec_push(&x->v, (struct program){.name = name}) || u64map_put(&x->of, name, i)))
		return ERR_NOMEM;
	struct program *p = &x->v.v[i];
	p->worst++;
	p->ns += ns;
	p->longest_ns = ns > p->longest_ns ? ns : p->longest_ns;
	return 0;
}

static int most_first(const void *a, const void *b, void *strings)
{
	const struct program *x = a, *y = b;
	if (x->worst != y->worst)
		return x->worst > y->worst ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(strtab_get(strings, x->name), strtab_get(strings, y->name));
}

static void put_option(struct buf *b, const struct tail *t, uint32_t name)
{
	struct buf option = {0};
	program_option_of(&option, t->tl, t->process_of.v, name);
	escape_visible(b, buf_cstr(&option), option.n);
	b->failed = buf_failed(&option) ? buf_failed(&option) : b->failed;
	buf_release(&option);
}

static void put(struct buf *b, const struct programs *x, const struct tail *t, size_t width)
{
	static const struct table_column columns[] = {{"worst", .right = 1},
						      {"time", .right = 1},
						      {"longest", .right = 1},
						      {"program"},
						      {"option"}};
	const struct strtab *s = &t->tl->stacks->strings;
	struct table table = {columns, sizeof(columns) / sizeof(*columns)};
	for (size_t i = 0; i < x->v.n && i < PROGRAMS_SHOWN; i++) {
		const struct program *p = &x->v.v[i];
		table_count(&table, p->worst);
		table_duration(&table, p->ns);
		table_duration(&table, p->longest_ns);
		escape_visible(&table.text, strtab_get(s, p->name), strtab_len(s, p->name));
		table_next(&table);
		put_option(&table.text, t, p->name);
		table_next(&table);
	}
	table_write(b, &table, width);
	table_release(&table);
	if (x->v.n > PROGRAMS_SHOWN) {
		buf_str(b, "... ");
		units_plural(b, x->v.n - PROGRAMS_SHOWN, "more program", "more programs");
		buf_char(b, '\n');
	}
	buf_char(b, '\n');
}

/* The programs of the shown episodes, those with most first. ERR_NOMEM. */
static int collect(struct programs *x, const struct tail *t)
{
	int r = 0;
	for (size_t i = 0; !r && i < t->rows.n; i++) {
		const struct episode *ep = &t->episodes.v.v[t->rows.v[i].episode];
		if (ep->thread != TL_NONE)
			r = add(x, t->process_of.v[ep->thread], ep->end_ns - ep->start_ns);
	}
	if (!r && x->v.n)
		qsort_r(x->v.v, x->v.n, sizeof(*x->v.v), most_first,
			(void *)&t->tl->stacks->strings);
	return r;
}

static void release(struct programs *x)
{
	vec_release(&x->v);
	u64map_release(&x->of);
}

int program_table(struct buf *b, const struct tail *t, size_t width)
{
	struct programs x = {0};
	int r = collect(&x, t);
	if (!r && x.v.n > 1)
		put(b, &x, t, width);
	release(&x);
	return r;
}

int program_words(struct buf *b, const struct tail *t)
{
	enum { NAMED = 3 };
	struct programs x = {0};
	const struct strtab *s = &t->tl->stacks->strings;
	int r = collect(&x, t);
	for (size_t i = 0; !r && x.v.n > 1 && i < x.v.n && i < NAMED; i++) {
		const struct program *p = &x.v.v[i];
		buf_str(b, i ? ", " : "Of the worst, ");
		units_count(b, p->worst);
		buf_str(b, i ? " of " : p->worst == 1 ? " is of " : " are of ");
		escape_visible(b, strtab_get(s, p->name), strtab_len(s, p->name));
		buf_str(b, " (");
		put_option(b, t, p->name);
		buf_char(b, ')');
	}
	if (!r && x.v.n > NAMED) {
		buf_str(b, ", the others of ");
		units_plural(b, x.v.n - NAMED, "program", "programs");
	}
	buf_str(b, !r && x.v.n > 1 ? ". " : "");
	release(&x);
	return r;
}
