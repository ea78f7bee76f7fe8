/*
 * aggregate.h - counts samples by stack.
 *
 * A run of records (a slice) goes in; each sample is attributed to thread, comm and address
 * space, and its stack is named (names.h) and counted with those of the same names:
 *
 *	sample ──► runs of frames ──────────────────────────► tally
 *	   └── not now: ──► entries, equal raw words once ──┘ aggregate_finish
 *
 * Naming stacks at once leaves few distinct ones, even if nearly every callchain is new. While
 * the files that name them are still being read, or the machine does not know all records yet,
 * callchains are interned as raw bytes and named at the end, each once. Nothing is allocated
 * per sample. Several threads work on slices of one recording, each with an aggregate of its
 * own.
 */
#ifndef LIBSYM_AGGREGATE_H
#define LIBSYM_AGGREGATE_H

#include "base/arena.h"
#include "libparse/counters.h"
#include "libsym/branches.h"
#include "libsym/names.h"
#include "libsym/process/activity.h"
#include "libsym/process/machine.h"
#include "libsym/tally.h"

/* What distinguishes equal stacks, besides event, comm and address space. */
enum aggregate_by {
	BY_PID = 1,
	BY_TID = 2,
	BY_CPU = 4,
	BY_CGROUP = 8,
	BY_ADDR = 16,     /* the address of unnamed frames inside a mapping … */
	BY_UNMAPPED = 32, /* … and outside of any (names_options.addrs) */
};

/* Which samples count. Zero-initialised: all. Lists are short, unsorted and borrowed. */
struct sample_filter {
	const char *const *comms; /* names or globs; ":TID" is a thread without a name */
	size_t ncomms;
	int32_t *pids, *tids;
	size_t npids, ntids;
	uint32_t *cpus;
	size_t ncpus;
	uint64_t start, stop; /* [start, stop] in ns; stop 0 = no end */
	uint8_t *events;      /* one flag per event of the recording; NULL = all */
};

/* All samples, and those that were not counted. */
struct aggregate_stats {
	uint64_t samples; /* all, including filtered ones */
	uint64_t weight;  /* of all that were counted, by count_add */
	uint64_t filtered, guest, no_event;
	struct bad_records bad;
	uint64_t first_time, last_time;
	uint64_t deferred_missing;
};

struct aggregate;
struct chain_context;

struct aggregate_options {
	unsigned by;                 /* enum aggregate_by bits */
	int activity;                /* also find out how active processes were */
	struct branches *branches;   /* to be summed up; borrowed; NULL: not */
	struct sample_filter filter; /* borrowed */
	/* Turn a sample into stack words if its raw callchain is incomplete (register and stack
	 * dumps, deferred chains, LBR); NULL: raw callchains only. Called with `ctx`, one per
	 * aggregate. Returns 1 and host-order words valid until the next call, 0 to use the raw
	 * callchain, < 0 on failure. */
	int (*expand)(void *ctx, const struct sample *s, const struct thread_view *v, int swap,
		      const uint64_t **words, size_t *n);
	/* Called on the aggregate's thread when a distinct stack, its nth, is first seen; may
	 * be NULL. */
	void (*first_seen)(void *ctx, const struct stack_entry *x, size_t nth);
	void *first_seen_ctx;
};

/* A new, empty aggregate of `rec`, named by `names`. Both are borrowed; the recording and the
 * machine of `names` must not change meanwhile. */
int aggregate_new(struct aggregate **out, const struct recording *rec, struct names *names,
		  const struct aggregate_options *opt, void *expand_ctx, struct err *e);
void aggregate_free(struct aggregate *a);

/*
 * Count the samples of a run of whole records at [p, end). `offset` is p's offset in the file;
 * `home` is p's place in the mapped file, where chains stay readable, or NULL if the file is
 * not mapped. Samples that read counters (PERF_SAMPLE_READ) count for each counter that grew
 * since its last reading: such recordings need one aggregate and slices in file order. Other
 * records are skipped. 0 or ERR_NOMEM. The bytes are not needed afterwards.
 */
int aggregate_slice(struct aggregate *a, const uint8_t *p, const uint8_t *end,
		    const uint8_t *home, uint64_t offset, struct err *e);

/* After the last slice, when the machine knows all records: name the waiting stacks and free
 * them. Threads may do this at the same time for different aggregates. ERR_NOMEM. */
int aggregate_finish(struct aggregate *a);

/* The samples counted; all of them after aggregate_finish. The caller may move it away. */
struct tally *aggregate_tally(struct aggregate *a);

/* How active processes were, if that was asked. */
const struct activity *aggregate_activity(const struct aggregate *a);

/* Counts of all samples. */
const struct aggregate_stats *aggregate_stats(const struct aggregate *a);

/* Time of the earliest sample of event `index`, or UINT64_MAX when it has none. */
uint64_t aggregate_first_of_event(const struct aggregate *a, uint32_t index);
/* The latest valid time (below SAMPLE_DUMMY_TIMES) of its samples; 0 = none. */
uint64_t aggregate_last_of_event(const struct aggregate *a, uint32_t index);

#endif
