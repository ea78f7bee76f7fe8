/* by_jitter.c - lengths of the gaps on each CPU, whatever caused them. */
#include "libtime/tables/collect.h"
#include "libtime/sched/timeline_parts.h"

enum { ASSUMED_MAX = 1 << 24 }; /* most lengths added for requests during gaps */

struct jitter {
	struct collect *c;
	uint64_t assumed;
};

/*
 * Coordinated omission: a gap of 10 ms is one of many to the sampler, but ten of the requests
 * that arrive every ms fall into it, and wait 10 ms, 9 ms ... Counted as in HdrHistogram's
 * recordValueWithExpectedInterval.
 */
static int add_lengths(struct jitter *j, uint32_t row, uint64_t ns, int open)
{
	uint64_t step = j->c->q->expected_ns;
	int r = rows_length(j->c->rows, row, ns, open);
	if (!step || ns < step)
		return r;
	if (ns / step > ASSUMED_MAX - j->assumed)
		return err_set(j->c->e, ERR_LIMIT,
			       "more than %d lengths to assume: --expected is too short",
			       ASSUMED_MAX);
	for (uint64_t x = ns - step; x >= step && !r; x -= step, j->assumed++)
		r = rows_length(j->c->rows, row, x, open);
	return r;
}

static int add_gap(struct jitter *j, const struct tl_gap *g)
{
	struct collect *c = j->c;
	uint64_t start = g->end_ns - g->lost_ns, end = g->end_ns;
	int cut = 0;
	uint32_t row;
	if (!population_has_cpu(&c->q->of, c->tl, g->cpu, g->cpu) ||
	    !population_clip(&c->q->of, &start, &end, &cut))
		return 0;
	if (collect_row(c, start, g->cpu, &row))
		return ERR_NOMEM;
	rows_set(c->rows, row, COL_CPU, timeline_cpu(c->tl, g->cpu));
	rows_set(c->rows, row, COL_THREAD, g->thread == TL_NONE ? CELL_NONE : g->thread);
	rows_set(c->rows, row, COL_CONTROL, (g->flags & GAP_CONTROL) != 0);
	rows_add(c->rows, row, COL_GAPS, 1);
	rows_add(c->rows, row, COL_TOTAL, end - start);
	return add_lengths(j, row, end - start, cut || (g->flags & OFF_OPEN));
}

int collect_jitter(struct collect *c)
{
	struct jitter j = {.c = c};
	int r = tables_need_gaps(c->tl, c->e);
	for (size_t i = 0; i < c->tl->gaps.n && !r; i++)
		r = add_gap(&j, &c->tl->gaps.v[i]);
	return r;
}
