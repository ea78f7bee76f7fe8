/*
 * thread_samples.h - groups a timeline's samples by thread.
 */
#ifndef LIBTIME_POPULATION_THREAD_SAMPLES_H
#define LIBTIME_POPULATION_THREAD_SAMPLES_H

#include "libtime/sched/timeline.h"

/* Thread t has at[first[t]] .. at[first[t + 1] - 1], in the order of time. */
struct thread_samples {
	uint32_t *at;    /* indexes of timeline.samples */
	uint32_t *first; /* one for each thread, and one more */
};

/* Samples without a thread (TL_NONE) are left out. The caller releases *s, after ERR_NOMEM
 * too. */
int thread_samples_make(struct thread_samples *s, const struct timeline *tl);
void thread_samples_release(struct thread_samples *s);

#endif
