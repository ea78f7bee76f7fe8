#include "cmd/report_sites.h"
#include "cmd/input/output.h"
#include "cmd/query/waits.h"
#include "render/tail/site_words.h"
#include "render/text/table.h"
#include "render/text/units.h"

#include <stdio.h>

static int sum_sites(const struct tlinput *ti, int system, struct site_sums *out)
{
	struct population of = waits_population(ti, NULL);
	of.idle = 1;
	of.system = system;
	for (size_t i = 0; i < ti->tl.off.n; i++) {
		const struct off *o = &ti->tl.off.v[i];
		struct wait w;
		if (population_hides_thread(&of, &ti->tl, o->thread) ||
		    !population_has_thread(&of, &ti->tl, o->thread, o->comm) ||
		    !population_wait(&of, &ti->tl, o, &w))
			continue;
		uint64_t ns = w.blocked + w.unknown;
		if (ns && site_sums_add(out, o, ns, w.open))
			return ERR_NOMEM;
	}
	return site_sums_finish(out);
}

static void site_row(struct table *t, const struct timeline *tl, const struct site_sum *x)
{
	const struct tl_site *s = timeline_site(tl, x->site);
	words_site(&t->text, tl, x->site);
	table_next(t);
	table_count(t, x->count);
	table_duration(t, x->ns);
	table_duration(t, x->p50_ns);
	if (x->open)
		buf_str(&t->text, "\xe2\x89\xa5 ");
	table_duration(t, x->max_ns);
	table_text(t, site_verdict_name(s->verdict));
	buf_str(&t->text, site_reason_name(s->reason));
	buf_str(&t->text, s->loop ? ", a loop?" : "");
	table_next(t);
}

static int print_table(const struct tlinput *ti, const struct site_sums *s, size_t shown)
{
	static const struct table_column columns[] = {{"site"},
						      {"waits", .right = 1},
						      {"total", .right = 1},
						      {"p50", .right = 1, .drop = 1},
						      {"max", .right = 1},
						      {"verdict"},
						      {"reason"}};
	struct table t = {columns, sizeof(columns) / sizeof(*columns)};
	struct buf b = {0};
	for (size_t i = 0; i < shown; i++)
		site_row(&t, &ti->tl, &s->v.v[i]);
	table_write(&b, &t, output_width());
	table_release(&t);
	if (shown < s->v.n) {
		units_plural(&b, s->v.n - shown, "more site", "more sites");
		buf_str(&b, " (show all with --top 0)\n");
	}
	fputs(buf_cstr(&b), stdout);
	int failed = buf_failed(&b);
	buf_release(&b);
	return failed;
}

int report_sites(const struct tlinput *ti, int top, int system)
{
	struct site_sums s = {.count = 0};
	int r = sum_sites(ti, system, &s);
	size_t n = s.v.n;
	if (top > 0 && (size_t)top < n)
		n = (size_t)top;
	if (!r)
		r = print_table(ti, &s, n);
	site_sums_release(&s);
	return r;
}
