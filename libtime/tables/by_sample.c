/* by_sample.c - threads of a recording without context switches: how often each was sampled. */
#include "libtime/tables/collect.h"

int collect_sampled(struct collect *c)
{
	uint64_t all = 0;
	for (size_t i = 0; i < c->tl->samples.n; i++) {
		const struct tl_sample *s = &c->tl->samples.v[i];
		uint32_t row;
		if (s->thread == TL_NONE || !population_has_sample(&c->q->of, c->tl, s) ||
		    (c->q->events && !c->q->events[s->event]))
			continue;
		if (collect_row(c, s->time_ns, s->thread, &row))
			return ERR_NOMEM;
		rows_set(c->rows, row, COL_THREAD, s->thread);
		rows_add(c->rows, row, COL_SAMPLES, 1);
		all++;
	}
	for (uint32_t i = 0; i < c->rows->keys.n; i++)
		rows_set(c->rows, i, COL_SHARE,
			 (uint64_t)((double)rows_get(c->rows, i, COL_SAMPLES) / (double)all *
					    1e5 +
				    0.5));
	return 0;
}
