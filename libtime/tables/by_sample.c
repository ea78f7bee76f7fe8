/* by_sample.c - threads of a recording without context switches: how often each was sampled. */
#include "libtime/tables/collect.h"

static int passes(const struct collect *c, const struct tl_sample *s)
{
	const struct population *of = &c->q->of;
	const struct tl_thread *t = &c->tl->threads.v[s->thread];
	return s->time_ns >= of->start_ns && (!of->stop_ns || s->time_ns <= of->stop_ns) &&
	       population_has_cpu(of, c->tl, s->cpu, s->cpu) &&
	       population_has_task(of, c->tl, t->pid, t->tid, s->comm);
}

int collect_sampled(struct collect *c)
{
	uint64_t all = 0;
	for (size_t i = 0; i < c->tl->samples.n; i++) {
		const struct tl_sample *s = &c->tl->samples.v[i];
		uint32_t row;
		if (s->thread == TL_NONE || !passes(c, s) ||
		    (c->q->wants_event && !c->q->wants_event(c->q->ctx, s->event)))
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
