/*
 * recurrence.h - do moments come in a rhythm: a timer's, cron's, a garbage collector's,
 * a quota's?
 *
 *	fixed rate     │█        │██       │█        │      from start to start
 *	fixed pause    │█│       │████│       │██│          from end to start
 *
 * Beats may be missing (not each is among the worst), and some moments may be no beat at all.
 * The test asks how likely that many distances are that near to multiples of one period when
 * nothing has a rhythm (each distance then fits by chance, as often as the tolerance is wide),
 * for several periods and tolerances, and believes only what chance gives once in a thousand
 * times, and what at least six gaps show. (Simulated for a Poisson process and for more even
 * ones: tests/unit/libtime/test_recurrence.c.)
 */
#ifndef LIBTIME_EXPLAIN_RECURRENCE_H
#define LIBTIME_EXPLAIN_RECURRENCE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct moment {
	uint64_t start_ns, end_ns;
	uint32_t thread;
};

/* How many of the distances are that long, or a multiple of it. */
struct beat {
	uint64_t ns; /* 0 = no rhythm */
	uint64_t fitting, of;
};

/* Zero: nothing to say. */
struct recurrence {
	struct beat rate;     /* from start to start */
	struct beat pause;    /* from end to start, where that fits clearly better */
	uint64_t together;    /* occurrences that several threads had at once */
	uint64_t occurrences; /* moments that overlap, or nearly do, counted once */
};

static inline int recurrence_is(const struct recurrence *r)
{
	return r->rate.ns || r->pause.ns;
}

/* Sorts v and changes it. ERR_NOMEM. */
int recurrence_find(struct moment *v, size_t n, struct recurrence *out, struct err *e);

#endif
