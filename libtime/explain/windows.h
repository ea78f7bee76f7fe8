/*
 * windows.h - what threads did in a time window: a span that names no thread, or whose thread
 * worked on several spans at once.
 */
#ifndef LIBTIME_EXPLAIN_WINDOWS_H
#define LIBTIME_EXPLAIN_WINDOWS_H

#include "libtime/explain/episodes.h"
#include "libtime/sched/part_sums.h"
#include "libtime/sched/timeline_query.h"

struct window_thread {
	struct tl_sums sums; /* inside of the window and of the thread's recorded life */
	uint32_t thread;
};

/* Zero-initialised is empty; reused from window to window. */
struct window_activity {
	VEC(struct window_thread)
	v;                   /* threads that had a CPU or wanted one, most running first */
	uint64_t asleep;     /* how many other threads existed */
	struct tl_sums sums; /* of all */
	/* If the window has one thread: its other spans that were open meanwhile, and how much
	 * of its running time was in them, too. Only the last 4,096 spans that begin before the
	 * window's end are looked at. */
	uint64_t others, shared_run_ns;
};

/* What the threads did in the window `ep`: those that the query's filters leave, or the thread
 * or process that the span names. ERR_NOMEM. */
int window_of(const struct part_sums *parts, const struct episode_query *q,
	      const struct episode *ep, struct window_activity *out, struct err *e);
void window_release(struct window_activity *w);

#endif
