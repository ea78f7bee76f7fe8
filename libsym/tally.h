/*
 * tally.h - samples of equal named stack counted together: what an aggregate comes to.
 *
 * A stack is its runs (names.h), leaf first.
 */
#ifndef LIBSYM_TALLY_H
#define LIBSYM_TALLY_H

#include "base/hash.h"
#include "base/vec.h"
#include "libsym/names.h"

/* Samples that count as one. All but the first three, and the runs, distinguish stacks. */
struct tallied {
	uint64_t weight, samples; /* sums */
	size_t runs;              /* where its runs begin in tally.runs */
	uint32_t nruns;
	uint32_t event;
	uint32_t comm;    /* strings id, or NO_ID */
	int32_t pid, tid; /* -1 where all count as one */
	uint32_t cpu, cgroup;
	uint32_t chain; /* the event records callchains */
};

/*
 * Zero-initialised is empty. What came last waits until there is a batch of it: a stack is
 * anywhere in tables larger than the CPU's caches, and the three reads that find it take three
 * times as long one sample after the other as when those of a batch are under way together.
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

/* All that was added shall be in t->v; no more will be. 0 or ERR_NOMEM. */
int tally_finish(struct tally *t);

/*
 * Put the stacks in the order of their frames, root first; those of equal frames stand
 * together. t->runs are frame ids then, root first. After tally_finish, when all has been
 * named; several threads may do so, one a tally. 0 or ERR_NOMEM.
 */
int tally_sort(struct tally *t, const struct names *n);

/* The order of tally_sort, of stacks in two tallies: < 0, 0 or > 0; 0 is of stacks that count
 * as one. */
int tally_compare(const struct tally *t, const struct tallied *x, const struct tally *u,
		  const struct tallied *y);

/* Give all back; empty then. */
void tally_release(struct tally *t);

#endif
