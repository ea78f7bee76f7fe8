/* by_function.c - functions of sampled or waiting stacks. */
#include "libparse/recording.h"
#include "libparse/sample.h"
#include "libtime/explain/stack_rows.h"
#include "libtime/tables/collect.h"
#include "libtime/tables/function_sums.h"

#include <limits.h>
#include <string.h>

static const char *event_name(const struct timeline *tl, uint32_t event)
{
	return strtab_get(&tl->stacks->strings, tl->events.v[event].name);
}

static int is_selected(const struct table_query *q, const struct timeline *tl,
		       const struct tl_sample *s)
{
	return (!q->events || q->events[s->event]) && population_has_sample(&q->of, tl, s);
}

static int event_is_selected(const struct table_query *q, const struct timeline *tl,
			     const struct tl_event_sample *s)
{
	return (!q->events || q->events[s->event]) &&
	       population_has_event_sample(&q->of, tl, s);
}

uint32_t table_function_event(const struct timeline *tl, const struct table_query *q)
{
	uint32_t best = NO_ID;
	int lowest = INT_MAX;
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		if (s->event == best || tl->events.v[s->event].tracepoint ||
		    !is_selected(q, tl, s))
			continue;
		int rank = event_default_rank(event_name(tl, s->event), 0);
		if (rank < lowest || (rank == lowest && s->event < best)) {
			lowest = rank;
			best = s->event;
		}
	}
	for (size_t i = 0; q->events && best == NO_ID && i < tl->event_samples.n; i++)
		if (event_is_selected(q, tl, &tl->event_samples.v[i]))
			best = tl->event_samples.v[i].event;
	return best;
}

/* 1 when the samples of an event count: those of --event, else of the chosen one on any kind of
 * core. */
static int counts(const struct table_query *q, const struct timeline *tl, uint32_t event,
		  uint32_t chosen)
{
	return event == chosen || q->events ||
	       event_names_match(event_name(tl, event), event_name(tl, chosen));
}

static int add_samples(struct collect *c, uint32_t event, struct function_sums *s)
{
	const struct timeline *tl = c->tl;
	int rc = 0;
	for (size_t i = 0; i < tl->samples.n && !rc; i++) {
		const struct tl_sample *x = &tl->samples.v[i];
		uint64_t w = tl->events.v[x->event].tracepoint ? 1 : x->period;
		if (is_selected(c->q, tl, x) && counts(c->q, tl, x->event, event))
			rc = function_sums_add(s, collect_window(c, x->time_ns), x->path, w, 1);
	}
	for (size_t i = 0; i < tl->event_samples.n && !rc; i++) {
		const struct tl_event_sample *x = &tl->event_samples.v[i];
		uint64_t w = tl->events.v[x->event].tracepoint ? 1 : x->period;
		uint64_t at = x->time_ns < SAMPLE_DUMMY_TIMES ? x->time_ns : 0;
		if (event_is_selected(c->q, tl, x) && counts(c->q, tl, x->event, event))
			rc = function_sums_add(s, collect_window(c, at), x->path, w, 1);
	}
	return rc;
}

static int add_wait(void *sums, const struct stack_row *r, struct err *e)
{
	(void)e;
	return function_sums_add(sums, 0, r->of.path, r->of.weight, r->of.samples);
}

static int add_waits(struct collect *c, struct function_sums *s)
{
	struct set_apart hidden = {0};
	if (c->q->every_ns)
		return err_set(c->e, ERR_REFUSED,
			       "functions of waits are not divided by time (--every)");
	int rc = stack_rows_waits(c->tl, c->q->waits, add_wait, s, &hidden, c->e);
	set_apart_release(&hidden);
	return rc;
}

int collect_weights(struct collect *c)
{
	struct function_sums s = {.stacks = c->tl->stacks,
				  .program_only = c->q->waits != NULL,
				  .fold_inlined = c->q->fold_inlined};
	uint32_t event = c->q->waits ? 0 : table_function_event(c->tl, c->q);
	int rc;
	if (event == NO_ID)
		return err_set(c->e, ERR_REFUSED,
			       "there are no samples of CPU time (--offcpu: of waits; --event: "
			       "of another event)");
	rc = c->q->waits ? add_waits(c, &s) : add_samples(c, event, &s);
	rc = rc ? rc : function_sums_rows(&s, c->base_ns, c->q->every_ns, c->rows);
	function_sums_release(&s);
	return rc;
}

void tables_count_stacks(const struct timeline *tl, const struct population *of, int waits,
			 uint64_t *count)
{
	struct wait w;
	for (size_t i = 0; i < tl->samples.n; i++)
		count[tl->samples.v[i].path] +=
			population_has_sample(of, tl, &tl->samples.v[i]) != 0;
	for (size_t i = 0; i < tl->event_samples.n && !waits; i++)
		count[tl->event_samples.v[i].path] +=
			population_has_event_sample(of, tl, &tl->event_samples.v[i]) != 0;
	for (size_t i = 0; i < tl->offcpu.n && waits; i++)
		count[tl->offcpu.v[i].path] +=
			population_wait(of, tl, &tl->offcpu.v[i], &w) != 0;
	for (size_t i = 0; i < tl->totals.n && waits; i++)
		count[tl->totals.v[i].path] +=
			population_has_thread(of, tl, tl->totals.v[i].thread,
					      tl->totals.v[i].comm) != 0;
	count[0] = waits ? 0 : count[0];
}
