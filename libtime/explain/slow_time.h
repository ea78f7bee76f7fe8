/*
 * slow_time.h - what the slow cycles of threads were made of, if that is mostly running: a tail
 * of waits does not show it.
 *
 *	base wait │ running ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒ │ base wait
 *	          └ a cycle: an activation bounded by the waits where its thread rests
 */
#ifndef LIBTIME_EXPLAIN_SLOW_TIME_H
#define LIBTIME_EXPLAIN_SLOW_TIME_H

#include "libtime/explain/chain.h"

enum { SLOW_CYCLES = 10 };

/* Sums of the longest cycles. */
struct slow_time {
	uint32_t cycles; /* 0: their running time does not explain more than waits do */
	uint64_t ns, run_ns, blocked_ns, runnable_ns;
	uint32_t comm;                     /* of the longest one's thread */
	uint32_t alike;                    /* how many of them ran the same function most, */
	uint32_t function;                 /* which is this frame */
	uint32_t path;                     /* a stack of it */
	const struct mechanism *mechanism; /* of that stack, or NULL */
	/* A thread of the same process that lacked a CPU for more than half of the time that the
	 * longest cycle ran; TL_NONE: none. */
	uint32_t stalled;
};

/* Find the longest cycles of the threads that `q` is about, and compare them with the tail of
 * waits that lasted `waits_ns` together. ERR_NOMEM, ERR_IO. */
int slow_time_find(struct explainer *x, const struct timeline *tl,
		   const struct episode_query *q, uint64_t waits_ns, struct slow_time *out,
		   struct err *e);

#endif
