/*
 * rounds.h - how far a stream of records is complete.
 *
 * perf reads its ring buffers one behind the other and ends each round with FINISHED_ROUND.
 * What is older than the newest record of round k cannot come after round k+1:
 *
 *	records  ──round k──┤──round k+1──┤──round k+2 ...
 *	newest         t(k)        t(k+1)
 *	safe                              t(k)
 */
#ifndef LIBPARSE_ROUNDS_H
#define LIBPARSE_ROUNDS_H

#include "libparse/sample.h"

/* Zero-initialised: nothing came. */
struct rounds {
	uint64_t newest; /* of all records so far */
	uint64_t last;   /* that when the last round ended */
	uint64_t safe;   /* up to here all records came; 0: not known */
};

/* A record came. Invalid times (0, SAMPLE_DUMMY_TIMES and above) are ignored. */
static inline void rounds_note(struct rounds *r, uint64_t time)
{
	if (time > r->newest && time < SAMPLE_DUMMY_TIMES)
		r->newest = time;
}

/* A round ended; `newest` is what its records, and those before, are known to reach. */
static inline void rounds_end(struct rounds *r, uint64_t newest)
{
	r->safe = r->last;
	r->last = newest;
}

#endif
