/*
 * aggregate.h - samples of equal stack counted together while they still are raw words.
 *
 * The fast half of a profile: a run of records (a slice) goes in, each sample is attributed to
 * thread, comm and address space, and its callchain is interned as the bytes it has in the
 * file. Nothing is symbolized, nothing allocated per sample. Several threads work on slices of
 * one recording, each with an aggregate of its own; the entries of all are then named one by
 * one (names.h), each distinct stack once.
 */
#ifndef LIBSYM_AGGREGATE_H
#define LIBSYM_AGGREGATE_H

#include "base/arena.h"
#include "libparse/counters.h"
#include "libsym/process/machine.h"

/* What keeps two equal stacks apart, beside event, comm and address space. */
enum aggregate_by {
	BY_PID = 1,
	BY_TID = 2,
	BY_CPU = 4,
	BY_CGROUP = 8,
};

/* Which samples count. Zero-initialised: all. Lists are sorted by nobody and short. */
struct sample_filter {
	uint32_t *comms; /* strings ids */
	size_t ncomms;
	int32_t *nameless; /* tids; threads without a name that are asked for as `:TID` */
	size_t n_nameless;
	int32_t *pids, *tids;
	size_t npids, ntids;
	uint32_t *cpus;
	size_t ncpus;
	uint64_t start, stop; /* [start, stop] in ns; stop 0 = no end */
	uint8_t *events;      /* one flag per event of the recording; NULL = all */
};

/* How a sample's stack words are to be read. */
enum chain_kind {
	CHAIN_NONE,    /* words is the ip alone: the event records no callchain */
	CHAIN_RAW,     /* words are the recorded callchain, in the file's byte order */
	CHAIN_UNWOUND, /* words are in host order and may hold UNWOUND_USER (stack_words.h) */
};

struct stack_entry {
	uint64_t weight; /* sum of periods */
	uint64_t samples;
	uint64_t first; /* time of the first sample seen with it: when to look up mappings */
	const uint8_t *words;
	uint32_t nwords;
	uint32_t event;
	uint32_t comm;    /* strings id, or NO_ID */
	int32_t pid, tid; /* of the first sample; all samples' when BY_PID, BY_TID or comm is
			     NO_ID */
	uint32_t cpu;
	uint32_t cgroup;  /* BY_CGROUP: strings id of the path, NO_ID unknown; else 0 */
	uint32_t space;   /* NO_ID when the process is not known */
	uint32_t version; /* of the space: mappings made by then */
	uint8_t kind;     /* enum chain_kind */
	uint8_t cpumode;  /* of the sample, for words in front of any context marker */
};

/* Counts of what did not become part of an entry. */
struct aggregate_stats {
	uint64_t samples; /* met, filtered ones included */
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
	/* Told of each distinct stack, the nth of its aggregate, when it comes first; from the
	 * thread that the aggregate works on. NULL: nobody. */
	void (*first_seen)(void *ctx, const struct stack_entry *x, size_t nth);
	void *first_seen_ctx;
};

/* A new, empty aggregate over `rec` and `m`, both borrowed and not changed meanwhile. */
int aggregate_new(struct aggregate **out, const struct recording *rec, const struct machine *m,
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

/* No more slices will come: give back what it takes to find equal stacks. */
void aggregate_done(struct aggregate *a);

/* The entries so far, in order of arrival; valid until the next slice. */
const struct stack_entry *aggregate_entries(const struct aggregate *a, size_t *n);

/* Forget the entries from the nth on, and give their memory back. */
void aggregate_keep(struct aggregate *a, size_t n);

/* Counts of all samples that came. */
const struct aggregate_stats *aggregate_stats(const struct aggregate *a);

/* Time of the earliest sample of event `index`, or UINT64_MAX when it has none. */
uint64_t aggregate_first_of_event(const struct aggregate *a, uint32_t index);
/* Time of the latest one that is a time (not SAMPLE_DUMMY_TIMES and above); 0 = none. */
uint64_t aggregate_last_of_event(const struct aggregate *a, uint32_t index);

#endif
