/*
 * part_sums.h - what a thread did in any stretch of time, at once: a span may hold millions of
 * its intervals, and there may be millions of such spans, one within another or side by side.
 *
 *	intervals  ▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌
 *	sums       ^       ^       ^       ^       ^   of all before, one for every 64
 *	stretch         └────────────────────┘         their difference, and a few at the ends
 */
#ifndef LIBTIME_SCHED_PART_SUMS_H
#define LIBTIME_SCHED_PART_SUMS_H

#include "libtime/sched/timeline.h"

/* A stretch that interrupts, one in another or alone, took from a thread. */
struct taken {
	uint64_t from_ns, to_ns, before_ns; /* what all the stretches before it took */
	uint32_t thread;
};

struct part_sums {
	const struct timeline *tl; /* borrowed */
	VEC(struct tl_sums) before;
	VEC(struct taken) taken; /* by thread and time; they do not overlap */
};

/* Of a finished timeline, whose intervals stay as they are. ERR_NOMEM. */
int part_sums_init(struct part_sums *x, const struct timeline *tl);
void part_sums_release(struct part_sums *x);

/*
 * What a thread did in [from, to), added to the parts of *out: run, blocked, runnable,
 * preempted (of runnable), unknown, interrupted (of run); and how many of the intervals met are
 * suspect. Outside of its recorded life, and where no switches were recorded at all, its state
 * is unknown.
 */
void part_sums_add(const struct part_sums *x, uint32_t thread, uint64_t from, uint64_t to,
		   struct tl_sums *out);

#endif
