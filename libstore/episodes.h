/*
 * episodes.h - what `tail` ranks: the population of episodes, its percentiles, the worst of it.
 *
 *	timeline ──population──► episodes (clean) + counts of what is hidden or in doubt
 *	                             │
 *	                             ├─ episodes_percentile: nearest rank, integers only
 *	                             └─ episodes_select: the tail, worst first
 *
 * By wait, an episode is one off-CPU interval less its idle part. Intervals that are open or
 * suspect are not in the population: they are kept apart as lower bounds.
 */
#ifndef LIBSTORE_EPISODES_H
#define LIBSTORE_EPISODES_H

#include "libstore/timeline.h"

/* Percentiles are thousandths of a percent: p99.9 is 99900. */
enum {
	PCT_ALL = 100000,
	PCT_50 = 50000,
	PCT_90 = 90000,
	PCT_99 = 99000,
	PCT_999 = 99900,
	PCT_9999 = 99990
};

/*
 * The nearest rank of a percentile among n > 0 values: ⌈pct/100000 · n⌉, from 1 to n, without
 * rounding errors for any n < 2^47. percentile_rank(12000, PCT_999) is 11988.
 */
uint64_t percentile_rank(uint64_t n, uint32_t pct);

/* The value of that rank; `sorted` ascending; 0 when n is 0. */
uint64_t percentile_of(const uint64_t *sorted, size_t n, uint32_t pct);

/* "99.9" → 99900; 1, or 0 for what is not a percentage of at most three decimals from 0 (not
 * included) to 100. */
int percentile_parse(const char *text, uint32_t *pct);

/* Who is in the population. Zero-initialised: every thread, always; idle and system hidden. */
struct population {
	const int32_t *pids, *tids;
	size_t npids, ntids;
	const uint32_t *comms; /* strings ids */
	size_t ncomms;
	const uint32_t *cpus; /* out or in on one of them */
	size_t ncpus;
	uint64_t start_ns, stop_ns; /* [start, stop); stop 0 = the end */
	int idle, system;           /* show them too */
};

struct episode {
	uint64_t start_ns, end_ns;
	uint32_t thread;
	uint32_t off;  /* by wait: index of timeline.off */
	uint8_t flags; /* OFF_OPEN, OFF_SUSPECT */
};

struct episodes {
	VEC(struct episode) clean;    /* the population, in the timeline's order */
	VEC(struct episode) doubtful; /* open or suspect: at least this long */
	VEC(uint64_t) sorted;         /* durations of the population, ascending */
	VEC(uint64_t) sorted_all;     /* those of the doubtful among them */
	uint64_t open, suspect;       /* of the doubtful; one may be both */
	uint64_t unknown;             /* in the population: how they split is not known */
	uint64_t idle_hidden, idle_hidden_ns;
	uint64_t system_hidden, system_hidden_ns;
	uint32_t idle_path,
		idle_comm; /* the hidden stack with the most time, and whose it is */
	uint64_t idle_path_ns;
};

/* 1 when a thread passes the pid, tid and (by its last name) comm filters. */
int population_has(const struct population *p, const struct timeline *tl, uint32_t thread);

/* Collect by wait. `out` is zeroed here; ERR_NOMEM. */
int episodes_by_wait(const struct timeline *tl, const struct population *p,
		     struct episodes *out, struct err *e);

void episodes_release(struct episodes *x);

/* The percentile of the population; with `doubtful`, of all with lower bounds for those. */
uint64_t episodes_percentile(const struct episodes *x, uint32_t pct, int doubtful);

/* What to select: the first of these that is set. */
struct selection {
	uint32_t pct;     /* episodes ≥ this percentile */
	uint64_t over_ns; /* episodes ≥ this */
	size_t top;       /* the N worst */
};

struct tail {
	VEC(struct episode) v; /* worst first; equal ones by start, then thread */
	uint64_t threshold_ns; /* the shortest one that would have been selected */
	uint64_t doubtful;     /* open and suspect ones at least that long */
	int cannot_say;        /* these are most of the tail: it may be theirs alone */
};

/* ERR_NOMEM. An empty population gives an empty tail. */
int episodes_select(const struct episodes *x, const struct selection *how, struct tail *out,
		    struct err *e);
void tail_release(struct tail *t);

#endif
