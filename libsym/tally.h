/*
 * tally.h - samples counted by named stack: an aggregate's result.
 *
 * A stack is its runs (names.h), leaf first.
 */
#ifndef LIBSYM_TALLY_H
#define LIBSYM_TALLY_H

#include "base/hash.h"
#include "base/vec.h"
#include "libsym/names.h"

/* Samples of one stack, counted. Everything but the first three members distinguishes stacks,
 * as do the runs. */
struct tallied {
	uint64_t weight, samples; /* sums */
	size_t runs;              /* index of its first run in tally.runs */
	uint32_t nruns;
	uint32_t event;
	uint32_t comm;    /* strings id, or NO_ID */
	int32_t pid, tid; /* -1 if all count as one */
	uint32_t cpu, cgroup;
	uint32_t chain; /* the event records callchains */
};

/*
 * Zero-initialised is empty. New samples wait until they fill a batch: finding a stack takes
 * three reads in tables larger than the CPU's caches, and these take a third of the time if
 * those of a batch overlap.
 */
struct tally {
	VEC(struct tallied) v; /* in order of arrival */
	VEC(uint32_t) runs;
	struct idmap index;
	struct tally_batch *batch;
};

/* Count key->samples samples of key->weight with these runs (key->runs, nruns are filled in).
 * 0 or ERR_NOMEM. */
int tally_add(struct tally *t, const struct tallied *key, const uint32_t *runs, size_t n);

/* Count the last batch into t->v; nothing may be added after. 0 or ERR_NOMEM. */
int tally_finish(struct tally *t);

/*
 * Sort the stacks by their frames, root first; t->runs become frame ids, root first. Call it
 * after tally_finish, when all stacks are named; threads may sort different tallies at the same
 * time. 0 or ERR_NOMEM.
 */
int tally_sort(struct tally *t, const struct names *n);

/* The order of tally_sort for stacks of two tallies: < 0, 0 or > 0; 0 if they count as one. */
int tally_compare(const struct tally *t, const struct tallied *x, const struct tally *u,
		  const struct tallied *y);

/* Free everything; empty then. */
void tally_release(struct tally *t);

#endif
