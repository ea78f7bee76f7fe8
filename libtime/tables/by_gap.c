/* by_gap.c - what had the CPU in the gaps that a jitter sampler measured. */
#include "libtime/explain/gap_parts.h"
#include "libtime/tables/collect.h"

/* An actor without a thread is "[unexplained]" or the like. */
static uint64_t actor_of(const struct gap_part *p)
{
	if (p->by == GAP_THREAD)
		return p->what;
	return p->by == GAP_INTERRUPT ? ACTOR_NAMED | p->what : ACTOR_GAP | p->by;
}

static int add(struct collect *c, const struct tl_gap *g, uint64_t start,
	       const struct gap_part *p, int open)
{
	uint32_t row;
	if (collect_row(c, start, actor_of(p), &row) ||
	    rows_length(c->rows, row, p->ns, open) ||
	    rows_distinct(c->rows, row, COL_CPUS, g->cpu))
		return ERR_NOMEM;
	rows_set(c->rows, row, COL_TAKER, actor_of(p));
	rows_add(c->rows, row, COL_GAPS, 1);
	rows_add(c->rows, row, COL_TOTAL, p->ns);
	return 0;
}

static int add_gap(struct collect *c, struct gap_finder *f, struct tl_gap g,
		   struct gap_parts *w)
{
	int r = 0;
	if (g.flags & GAP_CONTROL || !population_gap(&c->q->of, c->tl, &g))
		return 0;
	if (gap_explain(f, &g, w, NULL))
		return ERR_NOMEM;
	uint64_t start = g.end_ns - g.lost_ns;
	for (size_t i = 0; i < w->v.n && !r; i++)
		r = add(c, &g, start, &w->v.v[i], (g.flags & OFF_OPEN) != 0);
	return r;
}

static void set_shares(struct rows *rows)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < rows->keys.n; i++)
		all += rows_get(rows, i, COL_TOTAL);
	for (uint32_t i = 0; i < rows->keys.n && all; i++)
		rows_set(rows, i, COL_SHARE,
			 (uint64_t)((double)rows_get(rows, i, COL_TOTAL) / (double)all * 1e5 +
				    0.5));
}

int tables_need_gaps(const struct timeline *tl, struct err *e)
{
	return tl->gaps.n
		       ? 0
		       : err_set(e, ERR_REFUSED,
				 "no gaps: give what a jitter sampler wrote with --with FILE");
}

int collect_gaps(struct collect *c)
{
	struct gap_finder *f;
	struct gap_parts w = {.start_ns = 0};
	int r = tables_need_gaps(c->tl, c->e);
	if (r)
		return r;
	r = gap_finder_new(&f, c->tl, NULL) ? ERR_NOMEM : 0;
	for (size_t i = 0; i < c->tl->gaps.n && !r; i++)
		r = add_gap(c, f, c->tl->gaps.v[i], &w);
	if (!r)
		set_shares(c->rows);
	gap_finder_free(f);
	gap_parts_release(&w);
	return r;
}
