/*
 * rounds.h - how far a stream of records is complete.
 *
 * perf reads its ring buffers one after another and ends each round with FINISHED_ROUND.
 * Nothing older than the newest record of round k comes after round k+1:
 *
 *	records  ──round k──┤──round k+1──┤──round k+2 ...
 *	newest         t(k)        t(k+1)
 *	safe                              t(k)
 */
#ifndef LIBPARSE_ROUNDS_H
#define LIBPARSE_ROUNDS_H

#include "libparse/sample.h"

/* Zero-initialised: no record yet. */
struct rounds {
	uint64_t newest; /* of all records so far */
	uint64_t last;   /* newest when the last round ended */
	uint64_t safe;   /* all records up to here have come; 0: not known */
};

/* A record came. Invalid times (0, SAMPLE_DUMMY_TIMES and above) are ignored. */
static inline void rounds_note(struct rounds *r, uint64_t time)
{
	if (time > r->newest && time < SAMPLE_DUMMY_TIMES)
		r->newest = time;
}

/* A round ended; `newest` is the newest time of its records and those before. */
static inline void rounds_end(struct rounds *r, uint64_t newest)
{
	r->safe = r->last;
	r->last = newest;
}

#endif
