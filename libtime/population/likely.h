/*
 * likely.h - of unclear waits, which ones somebody probably waited for. This ranks and words
 * answers; it hides nothing, since the shape of waits proves nothing.
 *
 *	thread  ▒base▒ work ▒base▒ work ▒other▒ work ▒base▒ ...
 *	          └ the site where it waits most often: probably at rest
 *
 * A thread's base site is the one that it waits at most often; of two that it visits about as
 * often, the one whose waits are not answers (of threads that it had woken itself), or with
 * frame pointers the one with fewer functions above it. An unclear wait is probably waited for
 *
 *	at any other site, with a function of the application
 *	at a base site whose waits are answers, if it is ten times as long as the median there
 */
#ifndef LIBTIME_POPULATION_LIKELY_H
#define LIBTIME_POPULATION_LIKELY_H

#include "libtime/sched/timeline.h"

struct likely;

/* For a finished timeline, which is borrowed. ERR_NOMEM. */
int likely_new(const struct timeline *tl, struct likely **out);

/* NULL is accepted. */
void likely_free(struct likely *x);

/* 1 if an unclear interval is probably waited for; 0 also for all others, and if x is NULL. */
int likely_waited_for(const struct likely *x, const struct offcpu *o);

/* 1 if an interval bounds its thread's cycles: at its base site, or, of a thread whose waits are
 * all work, at the site where it waits most. */
int likely_bounds(const struct likely *x, const struct offcpu *o);

/* 1 if a site is a thread's base site. */
int likely_is_base(const struct likely *x, uint32_t site);

#endif
