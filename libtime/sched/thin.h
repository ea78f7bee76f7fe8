/*
 * thin.h - a timeline with less detail than a grain, for files that must not become too large.
 *
 *	full    run│off│run│off│run┃off ─────────────────┃ run│off│run
 *	thin    run──────│off──────┃off ─────────────────┃ run───│off─
 *	                           ┃ cell of one grain ┃
 *
 * Time is cut into cells of one grain. A thread's intervals that are in one cell, on one CPU,
 * and have the same stack, cause and flags become one interval of their total length; the
 * running time between them moves before it. Equal samples of a cell become one with the sum of
 * their periods. An interval that crosses cells stays as it is, and with it every interval
 * longer than a grain. For each thread, the sums of any stretch are off by at most one cell at
 * either end. Stretches in `keep` do not change.
 */
#ifndef LIBTIME_SCHED_THIN_H
#define LIBTIME_SCHED_THIN_H

#include "libtime/sched/timeline.h"

struct thin_keep {
	uint64_t from_ns, to_ns;
};

/*
 * Thin a finished timeline into *out, which has intervals, samples and threads of its own and
 * borrows all else. A merged interval has no waker. *out need not be initialised;
 * release it after a failure, too. ERR_NOMEM, ERR_IO.
 */
int timeline_thin(const struct timeline *tl, uint64_t grain_ns, const struct thin_keep *keep,
		  size_t nkeep, struct timeline *out, struct err *e);
void timeline_thin_release(struct timeline *out);

#endif
