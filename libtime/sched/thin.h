/*
 * thin.h - a timeline with less detail than a grain, for files that must not become too large.
 *
 *	full    run│off│run│off│run┃off ─────────────────┃ run│off│run
 *	thin    run──────│off──────┃off ─────────────────┃ run───│off─
 *	                           ┃ cell of one grain ┃
 *
 * Time is cut into cells of one grain. Of the intervals of a thread that lie in one cell, on
 * one CPU, those of equal stack, cause and flags become one as long as all; what ran between
 * them runs before. Equal samples of a cell become one with the sum of their periods. What
 * reaches from cell to cell stays as it is, so every interval of a grain or longer does, and
 * the sums of any stretch are off by no more than what one cell has at either end, a thread.
 */
#ifndef LIBTIME_SCHED_THIN_H
#define LIBTIME_SCHED_THIN_H

#include "libtime/sched/timeline.h"

/*
 * Thin a finished timeline into *out, which has intervals, samples and threads of its own and
 * borrows all else. A merged interval has no waker. *out is zeroed before, and for
 * timeline_thin_release also after a failure: ERR_NOMEM, ERR_IO.
 */
int timeline_thin(const struct timeline *tl, uint64_t grain_ns, struct timeline *out,
		  struct err *e);
void timeline_thin_release(struct timeline *out);

#endif
