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

/* What most of the longest cycles have in common. */
struct slow_time {
	uint32_t cycles; /* 0: their running time does not explain more than waits do */
	uint32_t comm;   /* of their threads; 0: of several names */
	/* Of more than half of them samples show that they ran this function most, a frame id;
	 * 0: no such function is known. */
	uint32_t function;
	uint32_t caller; /* of that, the same in most and not the outermost; or 0 */
	/* If that is a smaller part of the samples, what a mechanism says of at least a quarter of
	 * them; else NULL. */
	const struct mechanism *doing;
	uint64_t doing_samples; /* of `samples` */
	/* The rest is of those alone; without such a function of those with the mechanism that
	 * more than half have, else of all: */
	uint32_t alike;                    /* how many, */
	uint64_t ns, run_ns;               /* their length and running time, */
	uint64_t samples, in_function;     /* the samples of that, and those in the function, */
	const struct mechanism *mechanism; /* of it, the same in each, or NULL; */
	/* the thread of the same process that lacked a CPU longest while they ran, for more
	 * than half of run_ns; TL_NONE: none. */
	uint32_t stalled;
	uint64_t stalled_ns;
};

/* Find the longest cycles of the threads that `q` is about, and compare them with the tail of
 * waits that lasted `waits_ns` together. ERR_NOMEM, ERR_IO. */
int slow_time_find(struct explainer *x, const struct timeline *tl,
		   const struct episode_query *q, uint64_t waits_ns, struct slow_time *out,
		   struct err *e);

#endif
