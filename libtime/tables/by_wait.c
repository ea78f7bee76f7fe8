/* by_wait.c - waits by wait site, and by waker. */
#include "libtime/causes/sites.h"
#include "libtime/tables/collect.h"

/* --- sites ---------------------------------------------------------------------------- */

static int add_at_site(struct collect *c, const struct population *of, const struct offcpu *o,
		       void *ctx)
{
	(void)ctx;
	const struct tl_site *s = timeline_site(c->tl, o->site);
	struct wait w;
	uint32_t row;
	uint64_t ns = population_wait(of, c->tl, o, &w) ? w.blocked + w.unknown : 0;
	if (!ns)
		return 0;
	if (collect_row(c, w.start, sites_told(c->tl, o), &row) ||
	    rows_length(c->rows, row, ns, w.open))
		return ERR_NOMEM;
	rows_set(c->rows, row, COL_SITE, o->site);
	rows_set(c->rows, row, COL_VERDICT, s->verdict);
	rows_set(c->rows, row, COL_REASON, s->reason);
	rows_add(c->rows, row, COL_WAITS, 1);
	rows_add(c->rows, row, COL_TOTAL, ns);
	return 0;
}

int collect_sites(struct collect *c)
{
	struct population of = c->q->of;
	of.idle = 1;
	return collect_waits(c, &of, add_at_site, NULL);
}

/* --- wakers --------------------------------------------------------------------------- */

static uint64_t waker_of(const struct offcpu *o)
{
	return o->waker != TL_NONE ? o->waker : ACTOR_CONTEXT | o->waker_context;
}

static int add_woken(struct collect *c, const struct population *of, const struct offcpu *o,
		     void *ctx)
{
	(void)ctx;
	struct wait w;
	uint32_t row;
	if (!population_wait(of, c->tl, o, &w))
		return 0;
	wait_split_off(&w);
	if (!w.blocked)
		return 0;
	if (collect_row(c, w.start, waker_of(o), &row) ||
	    rows_length(c->rows, row, w.blocked, w.open) ||
	    rows_distinct(c->rows, row, COL_THREADS, o->thread))
		return ERR_NOMEM;
	rows_set(c->rows, row, COL_WAKER, waker_of(o));
	rows_add(c->rows, row, COL_WAITS, 1);
	rows_add(c->rows, row, COL_BLOCKED, w.blocked);
	rows_add(c->rows, row, COL_RUNNABLE, w.runnable);
	return 0;
}

int collect_wakers(struct collect *c)
{
	return collect_waits(c, &c->q->of, add_woken, NULL);
}
