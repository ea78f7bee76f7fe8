/*
 * several.h - what several threads did at once, where no single one held an episode up:
 *
 *	crowd   one thread woke many at once, which then queued for a CPU or a lock
 *	pool    all threads of the kind that ended the wait were busy with other work
 *
 *	ringer  ──┤wakes 40├───────────────
 *	front   ▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░██──── queued behind the other 39
 */
#ifndef LIBTIME_EXPLAIN_SEVERAL_H
#define LIBTIME_EXPLAIN_SEVERAL_H

#include "libtime/explain/chain.h"

struct crowd {
	uint64_t n, ns; /* threads, itself included; from the first wakeup to the last */
	uint32_t waker; /* the thread that woke them ... */
	uint32_t path;  /* ... with this stack */
	uint32_t comm;  /* strings id: the name of all; 0: they have several */
};

/* If the episode `x` queued among threads that were woken together with its own: 1 and *out,
 * else 0. For that, most of the time of those that it queued behind must be the crowd's. */
int crowd_find(const struct timeline *tl, const struct explanation *x, struct crowd *out);

struct pool {
	uint64_t n;        /* its threads */
	uint64_t busy_ns;  /* of the wait: all were busy */
	uint64_t ns;       /* the wait */
	uint32_t comm;     /* strings id: the name of all; 0: they have several */
	uint32_t path;     /* of what they did most, a stack that ends in `function`; 0 */
	uint32_t function; /* a frame id; 0: not known */
	uint8_t running;   /* they mostly ran or wanted a CPU; else waited */
};

/* If the wait that the root of `x` ended was one for a thread of a pool, all of which were busy
 * when it began and for most of it: 1 and *out, else 0. `likely` may be NULL. ERR_NOMEM. */
int pool_find(struct evidence *ev, const struct likely *likely, const struct explanation *x,
	      struct pool *out, struct err *e);

#endif
