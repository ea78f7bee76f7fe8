/*
 * tail_times.h - the time inside the episodes of `tail` by stack: what `collapse --tail`,
 * `svg --tail` and `export --tail` weigh.
 */
#ifndef LIBTIME_EXPLAIN_TAIL_TIMES_H
#define LIBTIME_EXPLAIN_TAIL_TIMES_H

#include "libsym/profile.h"
#include "libtime/explain/tail_model.h"

/*
 * Off-CPU time by the stack that went off, running time by the stack of its hottest function.
 * What is given to `add` lives for the call; its weight is ns.
 */
struct tail_times {
	const struct tail *tail;
	int (*add)(void *ctx, const struct folded *row, struct err *e);
	void *ctx;
};

/* One episode's time, all of it. ERR_NOMEM, or what `add` fails with. */
int tail_times_add(const struct tail_times *f, const struct episode *ep, struct err *e);

/* Indexes of episodes.v. */
typedef VEC(uint32_t) tail_episodes;

/* As many episodes around the median as the tail has, at most half of all, shortest first; none
 * that was not seen whole. *out is zeroed before and the caller's to release, also after
 * ERR_NOMEM. */
int tail_around_median(const struct tail *t, tail_episodes *out, struct err *e);

#endif
