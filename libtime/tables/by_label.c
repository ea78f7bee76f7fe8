/* by_label.c - samples and waits by the label of the trampoline on their stacks. */
#include "libtime/spans/label_lanes.h"
#include "libtime/tables/collect.h"

static int add_sample(struct collect *c, const struct label_lanes *lanes,
		      const struct tl_sample *s, uint64_t *all)
{
	uint64_t until;
	uint32_t row, value;
	if (s->thread == TL_NONE || !population_has_sample(&c->q->of, c->tl, s) ||
	    (c->q->events && !c->q->events[s->event]))
		return 0;
	value = label_lanes_at(lanes, s->thread, s->path, s->time_ns, &until);
	if (!value)
		return 0;
	if (collect_row(c, s->time_ns, value, &row))
		return ERR_NOMEM;
	rows_set(c->rows, row, COL_VALUE, value);
	rows_add(c->rows, row, COL_SAMPLES, 1);
	++*all;
	return 0;
}

/* A thread stays in its trampoline during a wait, so the label at the wait's start is valid.
 */
static int add_wait(struct collect *c, const struct population *of, const struct offcpu *o,
		    void *lanes)
{
	uint64_t until;
	uint32_t row, value;
	struct wait w;
	if (!population_wait(of, c->tl, o, &w))
		return 0;
	value = label_lanes_at(lanes, o->thread, o->path, o->start_ns, &until);
	if (!value)
		return 0;
	wait_split_off(&w);
	if (collect_row(c, w.start, value, &row) ||
	    rows_length(c->rows, row, w.blocked + w.runnable, w.open))
		return ERR_NOMEM;
	rows_set(c->rows, row, COL_VALUE, value);
	rows_add(c->rows, row, COL_WAITS, 1);
	rows_add(c->rows, row, COL_BLOCKED, w.blocked);
	rows_add(c->rows, row, COL_RUNNABLE, w.runnable);
	return 0;
}

int collect_bound(struct collect *c)
{
	struct label_lanes lanes;
	uint64_t all = 0;
	int r = label_lanes_build(c->tl, strtab_get(&c->tl->stacks->strings, c->q->label),
				  &lanes);
	r = r < 0 ? r : 0;
	for (size_t i = 0; i < c->tl->samples.n && !r; i++)
		r = add_sample(c, &lanes, &c->tl->samples.v[i], &all);
	r = r ? r : collect_waits(c, &c->q->of, add_wait, &lanes);
	for (uint32_t i = 0; i < c->rows->keys.n && all && !r; i++)
		rows_set(c->rows, i, COL_SHARE,
			 (uint64_t)((double)rows_get(c->rows, i, COL_SAMPLES) / (double)all *
					    1e5 +
				    0.5));
	label_lanes_release(&lanes);
	return r;
}
