/*
 * thread_samples.h - a timeline's samples dealt out to their threads.
 */
#ifndef LIBTIME_POPULATION_THREAD_SAMPLES_H
#define LIBTIME_POPULATION_THREAD_SAMPLES_H

#include "libtime/sched/timeline.h"

/* Thread t has at[first[t]] .. at[first[t + 1] - 1], in the order of time. */
struct thread_samples {
	uint32_t *at;    /* indexes of timeline.samples */
	uint32_t *first; /* one more than there are threads */
};

/* Samples of no thread (TL_NONE) are left out. *s is the caller's to release, also after
 * ERR_NOMEM. */
int thread_samples_make(struct thread_samples *s, const struct timeline *tl);
void thread_samples_release(struct thread_samples *s);

#endif
