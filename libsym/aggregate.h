/*
 * aggregate.h - samples of equal stack counted together.
 *
 * A run of records (a slice) goes in; each sample is attributed to thread, comm and address
 * space, and its stack is named (names.h) and counted with those of the same names:
 *
 *	sample ──► runs of frames ──────────────────────────► tally
 *	   └── not now: ──► entries, equal raw words once ──┘ aggregate_finish
 *
 * Named at once, even where nearly every callchain is new, there are few different stacks to
 * keep. Where the files that name them are still being read, or the machine does not know all
 * records yet, callchains are interned as the bytes they have in the file and named in the end,
 * each once. Nothing is allocated per sample. Several threads work on slices of one recording,
 * each with an aggregate of its own.
 */
#ifndef LIBSYM_AGGREGATE_H
#define LIBSYM_AGGREGATE_H

#include "base/arena.h"
#include "libparse/counters.h"
#include "libsym/names.h"
#include "libsym/process/machine.h"
#include "libsym/tally.h"

/* What keeps two equal stacks apart, beside event, comm and address space. */
enum aggregate_by {
	BY_PID = 1,
	BY_TID = 2,
	BY_CPU = 4,
	BY_CGROUP = 8,
	BY_ADDR = 16,     /* unnamed frames by their address, where a mapping holds it … */
	BY_UNMAPPED = 32, /* … and elsewhere (names_options.addrs) */
};

/* Which samples count. Zero-initialised: all. Lists are short and unsorted. */
struct sample_filter {
	uint32_t *comms; /* strings ids */
	size_t ncomms;
	int32_t *unnamed_tids; /* tids; threads without a name that are asked for as `:TID` */
	size_t n_unnamed_tids;
	int32_t *pids, *tids;
	size_t npids, ntids;
	uint32_t *cpus;
	size_t ncpus;
	uint64_t start, stop; /* [start, stop] in ns; stop 0 = no end */
	uint8_t *events;      /* one flag per event of the recording; NULL = all */
};

/* Counts of what did not become part of an entry. */
struct aggregate_stats {
	uint64_t samples; /* all, including filtered ones */
	uint64_t filtered, guest, no_event;
	struct bad_records bad;
	uint64_t first_time, last_time;
	uint64_t deferred_missing;
};

struct aggregate;
struct chain_context;

struct aggregate_options {
	unsigned by;                 /* enum aggregate_by bits */
	struct sample_filter filter; /* borrowed */
	/* Turn a sample into stack words when its raw callchain is not the whole story
	 * (register and stack dumps, deferred chains, LBR); NULL: raw callchains only. Called
	 * with `ctx`, one per aggregate. Returns 1 and host-order words valid until the next
	 * call, 0 to use the raw callchain, < 0 on failure. */
	int (*expand)(void *ctx, const struct sample *s, const struct thread_view *v, int swap,
		      const uint64_t **words, size_t *n);
	/* Called for each distinct stack, the nth of its aggregate, when it is first seen, on
	 * the aggregate's thread; may be NULL. */
	void (*first_seen)(void *ctx, const struct stack_entry *x, size_t nth);
	void *first_seen_ctx;
};

/* A new, empty aggregate over `rec`, named by `names`; both are borrowed, and the recording and
 * the machine of the names are not changed meanwhile. */
int aggregate_new(struct aggregate **out, const struct recording *rec, struct names *names,
		  const struct aggregate_options *opt, void *expand_ctx, struct err *e);
void aggregate_free(struct aggregate *a);

/*
 * Take the samples of a run of whole records at [p, end); `offset` is p's place in the file,
 * `home` the place in a mapped file that p was copied from (or p, or NULL when it comes from
 * none): chains are found there again.
 * Samples that read counters (PERF_SAMPLE_READ) count for each counter that moved since its
 * reading before: recordings that have such want one aggregate and slices in file order.
 * Other records are passed over. 0 or ERR_NOMEM. The bytes are not needed afterwards.
 */
int aggregate_slice(struct aggregate *a, const uint8_t *p, const uint8_t *end,
		    const uint8_t *home, uint64_t offset, struct err *e);

/* No more slices will come, and the machine knows all records: name what waited, which takes
 * its memory back. Several threads may do so, one an aggregate. ERR_NOMEM. */
int aggregate_finish(struct aggregate *a);

/* The samples counted; all of them after aggregate_finish. To be taken away, if wanted. */
struct tally *aggregate_tally(struct aggregate *a);

/* Counts of all samples that came. */
const struct aggregate_stats *aggregate_stats(const struct aggregate *a);

/* Time of the earliest sample of event `index`, or UINT64_MAX when it has none. */
uint64_t aggregate_first_of_event(const struct aggregate *a, uint32_t index);
/* Time of the latest one that is a time (not SAMPLE_DUMMY_TIMES and above); 0 = none. */
uint64_t aggregate_last_of_event(const struct aggregate *a, uint32_t index);

#endif
