/*
 * windows.h - what threads did in a time that is no single thread's: a span that names no
 * thread, or whose thread worked on several spans at once.
 */
#ifndef LIBTIME_EXPLAIN_WINDOWS_H
#define LIBTIME_EXPLAIN_WINDOWS_H

#include "libtime/explain/episodes.h"
#include "libtime/sched/part_sums.h"

struct window_thread {
	struct tl_sums sums; /* inside of the window and of the thread's recorded life */
	uint32_t thread;
};

/* Zero-initialised is empty; reused from window to window. */
struct window_activity {
	VEC(struct window_thread)
	v;                   /* those that had a CPU or wanted one, most running first */
	uint64_t asleep;     /* other threads that were there */
	struct tl_sums sums; /* of all */
	/* A single thread's: other spans of it that were open meanwhile, and how much of its
	 * running time was in them, too; of the 4,096 spans that begin last before its end. */
	uint64_t others, shared_run_ns;
};

/* Who does what in the window `ep`, of the threads that the query's filters leave, or of the
 * one or the process that the span names. ERR_NOMEM. */
int window_of(const struct part_sums *parts, const struct episode_query *q,
	      const struct episode *ep, struct window_activity *out, struct err *e);
void window_release(struct window_activity *w);

#endif
