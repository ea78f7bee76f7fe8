/*
 * collect.h - a whole recording into aggregates: side-band records first, samples after, on all
 * cores.
 *
 *	by rounds: perf ends a round of reading its ring buffers with FINISHED_ROUND; once round
 *	       k+1 has ended, nothing older than the newest record of round k can come. So round
 *	       k's samples are handed to the counting threads, and reading goes on. Pipes and
 *	       compressed files, which stop for the counting; and files of stack dumps, which do
 *	       not, as long as no thread needs what a new side-band record changes.
 *	       What is counted before all records are known is named in the end.
 *	headers first: all other files, those where a record came later than its round allows
 *	       (perf record --tail-synthesize), and compressed directories that hold more than
 *	       can be kept, which are read twice. The record headers are walked once ─►
 *	       side-band into the machine, samples' places noted; then every slice of samples
 *	       ─► worker threads, one aggregate each.
 *
 * So memory grows with distinct stacks, not with the file, and no sample is ever sorted. Both
 * ways give the same.
 */
#ifndef LIBSYM_COLLECT_H
#define LIBSYM_COLLECT_H

#include "libsym/counting.h"
#include "libsym/expand.h"

struct collect_options {
	struct aggregate_options aggregate;
	int headers_first;             /* do not count before all headers are known */
	int workers;                   /* 0 = as many as there are CPUs, at most MAX_WORKERS */
	void *expand_ctx[MAX_WORKERS]; /* one per worker, when aggregate.expand is set */
	struct deferred_chains
		*deferred; /* filled on the way when the recording has such; or NULL */
	/* Called from the calling thread when the walk over a file meets a sample of the
	 * kernel, with the machine as it was before all times: the kernel's symbols can be read
	 * while the walk goes on. Once at most, and not for all inputs. NULL: not. */
	void (*on_kernel_sample)(void *ctx);
	void *kernel_met_ctx;
	/* Called now and then from the calling thread: bytes done so far of the file's. NULL:
	 * not. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

struct collection {
	struct aggregate *aggregates[MAX_WORKERS];
	int n;
	struct tally tally; /* of all, after collection_finish */
};

/*
 * Read `rec`, of which no record has been read, to its end. The machine of `names` is filled
 * and its build-ids are set. 0, or < 0: a read error, no memory. 1: a record came too late for
 * samples that were counted already, or may yet; the caller starts over, with headers_first and
 * with recording, machine and expand contexts as they were. The collection is the caller's to
 * release in any case.
 */
int collect(struct recording *rec, struct names *names, const struct collect_options *opt,
	    struct collection *out, struct err *e);

/* Name what waited for it (aggregate_finish), on as many threads as there are aggregates, and
 * put together what they counted: most stacks were met by several. ERR_NOMEM. */
int collection_finish(struct collection *c, struct err *e);

/* How many workers `collect` would use for these options. */
int collect_workers(const struct collect_options *opt);

/* Give back what `collect` filled in; also after its failure. */
void collection_release(struct collection *c);

#endif
