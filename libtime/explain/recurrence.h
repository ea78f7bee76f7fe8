/*
 * recurrence.h - do occurrences have a period, such as a timer's, cron's, a garbage collector's
 * or a quota's?
 *
 *	fixed rate     │█        │██       │█        │      from start to start
 *	fixed pause    │█│       │████│       │██│          from end to start
 *
 * Periods may be skipped, since not every occurrence is among the worst, and other occurrences
 * may lie in between. For several periods and tolerances, the test bounds the probability that
 * as many gaps are so close to multiples of the period by chance, that is, in a process without
 * a period: there a gap fits with the relative width of the tolerance. A period is reported if
 * at least six gaps show it and the bound is below e^-6.5. In simulations (test_recurrence.c),
 * fewer than 1 % of Poisson processes, and of more regular ones, are reported.
 */
#ifndef LIBTIME_EXPLAIN_RECURRENCE_H
#define LIBTIME_EXPLAIN_RECURRENCE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct occurrence {
	uint64_t start_ns, end_ns;
	uint32_t thread;
};

/* `fitting` of `of` gaps are close to a multiple of ns. */
struct period {
	uint64_t ns; /* 0: none */
	uint64_t fitting, of;
};

/* All zero: no period. */
struct recurrence {
	struct period rate;   /* from start to start */
	struct period pause;  /* from end to start, if that fits much better */
	uint64_t together;    /* occurrences of several threads at once */
	uint64_t occurrences; /* those that (nearly) overlap count as one */
};

static inline int recurrence_found(const struct recurrence *r)
{
	return r->rate.ns || r->pause.ns;
}

/* Find the periods of v, which is sorted and changed. ERR_NOMEM. */
int recurrence_find(struct occurrence *v, size_t n, struct recurrence *out, struct err *e);

#endif
