/*
 * part_sums.h - what a thread did in any stretch of time, without a walk over its intervals: a
 * span may hold millions of them, and there may be millions of such spans, nested or
 * overlapping.
 *
 *	intervals  ▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌
 *	sums       ^       ^       ^       ^       ^   up to here, one for every 64
 *	stretch         └────────────────────┘         their difference, and the ends
 */
#ifndef LIBTIME_SCHED_PART_SUMS_H
#define LIBTIME_SCHED_PART_SUMS_H

#include "libtime/sched/timeline.h"
#include "libtime/sched/timeline_query.h"

/* A stretch that interrupts took from a thread; nested ones are one stretch. */
struct interrupted {
	uint64_t from_ns, to_ns, before_ns; /* what all the stretches before it took */
	uint32_t thread;
};

struct part_sums {
	const struct timeline *tl; /* borrowed */
	VEC(struct tl_sums) before;
	VEC(struct interrupted) interrupted; /* by thread and time; they do not overlap */
};

/* The timeline is finished, and its intervals must not change afterwards. ERR_NOMEM. */
int part_sums_init(struct part_sums *x, const struct timeline *tl);
void part_sums_release(struct part_sums *x);

/*
 * What a thread did in [from, to), added to the parts of *out: run, blocked, runnable,
 * preempted (of runnable), unknown, interrupted (of run); and how many of the intervals are
 * suspect. Outside of its recorded life, and where no switches were recorded at all, its state
 * is unknown.
 */
void part_sums_add(const struct part_sums *x, uint32_t thread, uint64_t from, uint64_t to,
		   struct tl_sums *out);

#endif
