/*
 * collect.h - counts a whole recording into aggregates, side-band records first, then samples,
 * on all cores. There are two ways:
 *
 *	a file whole: its record headers are walked ─► side-band into the machine, places of
 *	       samples noted; then every slice of samples ─► worker threads, an aggregate each.
 *	a stream in rounds (rounds.h): once a round's records have all come, its samples are
 *	       counted, and reading goes on. Pipes, and compressed files, whose records are
 *	       only in memory. Stacks counted before all records are known are named at the
 *	       end.
 *
 * Compressed directories have no rounds: they are kept in memory, or, if too large, read a
 * second time for their samples.
 *
 * So memory grows with distinct stacks, not with the file, and no sample is ever sorted. Both
 * ways give the same.
 */
#ifndef LIBSYM_COLLECT_H
#define LIBSYM_COLLECT_H

#include "libsym/workers.h"
#include "libsym/expand.h"

struct collect_options {
	struct aggregate_options aggregate;
	int workers;                   /* 0 = as many as there are CPUs, at most MAX_WORKERS */
	void *expand_ctx[MAX_WORKERS]; /* one per worker, when aggregate.expand is set */
	struct deferred_chains
		*deferred; /* filled if the recording has deferred chains; or NULL */
	/* Called now and then on the calling thread, with the bytes done and the file's size;
	 * may be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

struct collection {
	struct aggregate *aggregates[MAX_WORKERS];
	int n;
};

/*
 * Read `rec` from its first record to its end, filling the machine of `names` and setting its
 * build-ids. 0, or < 0: a read error, no memory. The caller releases the collection in any
 * case.
 */
int collect(struct recording *rec, struct names *names, const struct collect_options *opt,
	    struct collection *out, struct err *e);

/* Name the waiting stacks (aggregate_finish), then sort all (tally_sort), on one thread per
 * aggregate. ERR_NOMEM. */
int collection_finish(struct collection *c, struct err *e);
int collection_sort(struct collection *c, const struct names *names, struct err *e);

/* How many workers `collect` would use for these options. */
int collect_workers(const struct collect_options *opt);

/* Free what `collect` filled in; also after its failure. */
void collection_release(struct collection *c);

#endif
