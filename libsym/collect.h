/*
 * collect.h - a whole recording into aggregates: side-band records first, samples after, on all
 * cores. Whatever a recording is read from, there are two ways.
 *
 *	a file whole: its record headers are walked ─► side-band into the machine, places of
 *	       samples noted; then every slice of samples ─► worker threads, an aggregate each.
 *	a stream in rounds (rounds.h): once a round's records have all come, its samples are
 *	       counted, and reading goes on. Pipes, and compressed files, whose records are
 *	       nowhere but in memory. What is counted before all records are known is named in
 *	       the end.
 *
 * Compressed directories have no rounds: they are kept whole, and those that are too large for
 * that are read a second time for their samples.
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
		*deferred; /* filled on the way when the recording has such; or NULL */
	/* Called now and then from the calling thread: bytes done so far of the file's. NULL:
	 * not. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

struct collection {
	struct aggregate *aggregates[MAX_WORKERS];
	int n;
};

/*
 * Read `rec`, from its first record to its end. The machine of `names` is filled
 * and its build-ids are set. 0, or < 0: a read error, no memory. The collection is the caller's
 * to release in any case.
 */
int collect(struct recording *rec, struct names *names, const struct collect_options *opt,
	    struct collection *out, struct err *e);

/* Name what waited for it (aggregate_finish), and then sort what was counted (tally_sort), on
 * as many threads as there are aggregates. ERR_NOMEM. */
int collection_finish(struct collection *c, struct err *e);
int collection_sort(struct collection *c, const struct names *names, struct err *e);

/* How many workers `collect` would use for these options. */
int collect_workers(const struct collect_options *opt);

/* Give back what `collect` filled in; also after its failure. */
void collection_release(struct collection *c);

#endif
