/*
 * store_sums.h - the samples of a timeline, of both kinds, added up: by task, by task and stack,
 * and folded. A thread of its own does it, ahead of the caller, who writes other rows meanwhile
 * and then those of the samples.
 *
 *	store_sums_begin(&s, tl, &e);
 *	...
 *	store_sums_next(s, &sum, &same, &e);     // of each sample, then of each event sample
 *	store_sums_end(s, &folded, &e);          // s->tasks, s->v are complete
 *	store_sums_free(s);
 */
#ifndef LIBTIME_STORE_STORE_SUMS_H
#define LIBTIME_STORE_STORE_SUMS_H

#include "libtime/store/store_encode.h"

struct store_sums {
	VEC(struct sample_task) tasks;
	VEC(struct sample_sum) v;
};

/* Begin to add up. The timeline is borrowed until store_sums_free. ERR_NOMEM. */
int store_sums_begin(struct store_sums **out, const struct timeline *tl, struct err *e);

/* The sum of the next sample, and whether its period is the task's. tl->samples come first, then
 * tl->event_samples; there must be one left. Waits for the thread. ERR_NOMEM. */
int store_sums_next(struct store_sums *s, uint32_t *sum, int *same, struct err *e);

/* Wait until all is added up; *folded belongs to `s`. ERR_NOMEM. */
int store_sums_end(struct store_sums *s, const struct folding **folded, struct err *e);

/* NULL is accepted. */
void store_sums_free(struct store_sums *s);

#endif
