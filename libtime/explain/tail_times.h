/*
 * tail_times.h - the time inside the episodes of `tail` by stack: what `collapse --tail`,
 * `svg --tail` and `export --tail` weigh.
 */
#ifndef LIBTIME_EXPLAIN_TAIL_TIMES_H
#define LIBTIME_EXPLAIN_TAIL_TIMES_H

#include "libsym/profile.h"
#include "libtime/explain/tail_model.h"

/*
 * Off-CPU time has the stack of the switch-out, running time that of its hottest function. The
 * argument of `add` is valid during the call; its weight is in ns.
 */
struct tail_time {
	struct folded of;
	uint32_t root_thread; /* that held the wait up meanwhile; TL_NONE: none that is known */
	uint32_t root_path;   /* what it did */
};

struct tail_times {
	const struct tail *tail;
	int (*add)(void *ctx, const struct tail_time *t, struct err *e);
	void *ctx;
};

/* Add one episode's time; with `x`, its explanation (else NULL), waits that another thread
 * explains are divided by what their root did. ERR_NOMEM, or the error of `add`. */
int tail_times_add(const struct tail_times *f, const struct episode *ep,
		   const struct explanation *x, struct err *e);

/* Indexes of episodes.v. */
typedef VEC(uint32_t) tail_episodes;

/* As many episodes around the median as the tail has, but at most half of all, shortest first;
 * open and suspect ones are left out. *out must be zeroed; the caller releases it, even after
 * ERR_NOMEM. */
int tail_around_median(const struct tail *t, tail_episodes *out, struct err *e);

#endif
