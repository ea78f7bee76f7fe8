/*
 * population.h - which waits a question is about, how much of each, and what is set apart:
 * filters, --time, and the verdicts of wait sites, the same for every command.
 *
 *	population_wait(&p, tl, off, &w):
 *
 *	--time    ├──────────────────────────────────┤
 *	interval       out ──── blocked ────► waking ──── runnable ────► in
 *	work             blocked                         runnable
 *	unclear          set apart, marked ?             runnable: late in any case
 *	idle             set apart, hidden               runnable
 */
#ifndef LIBTIME_POPULATION_POPULATION_H
#define LIBTIME_POPULATION_POPULATION_H

#include "base/radix.h"
#include "libtime/spans/label_lanes.h"

/* Zero-initialised: everything but the system. Lists are borrowed; n 0 = all. */
struct population {
	const char *const *comms;
	size_t ncomms;
	const int32_t *pids, *tids;
	size_t npids, ntids;
	const uint32_t *cpus; /* a wait: left or came back on one of them */
	size_t ncpus;
	uint64_t start_ns,
		stop_ns; /* [start, stop) on the recording's clock; stop 0 = no end */
	const struct label_lanes *label; /* only what has a label's value; NULL: not asked */
	uint32_t label_value;            /* strings id */
	uint64_t from_ns, to_ns; /* of population_part: cut to it, which leaves nothing open;
				  * to 0 = no end */
	int idle;                /* set nothing apart: all waits are alike */
	int system;              /* kernel threads and the recorder are in it */
	int ranked;     /* for a list of the worst: unclear waits are a list of their own,
			 * and so are waits of a whole life */
	int no_unclear; /* leave unclear waits out */
};

/* A thread by its ids, and its name (strings id) at that time: --comm, --pid, --tid. */
int population_has_task(const struct population *p, const struct timeline *tl, int32_t pid,
			int32_t tid, uint32_t comm);

/* The same of a thread of the timeline; never the idle task. */
int population_has_thread(const struct population *p, const struct timeline *tl,
			  uint32_t thread, uint32_t comm);

/* --cpu was not given, or names `a` or `b`. TL_NOCPU is on no list. */
int population_has_cpu(const struct population *p, const struct timeline *tl, uint16_t a,
		       uint16_t b);

/* A sample passes the filters of threads, CPUs and time, in which stop_ns itself is. One of no
 * thread passes where no thread is asked for. */
int population_has_sample(const struct population *p, const struct timeline *tl,
			  const struct tl_sample *s);
int population_has_event_sample(const struct population *p, const struct timeline *tl,
				const struct tl_event_sample *s);

/* --label: does a thread with that stack (a call path; 0: not known) have the label at `ns`? */
int population_has_label(const struct population *p, uint32_t thread, uint32_t path,
			 uint64_t ns);

/* Does a span have the label? If it has none of that key, the label around its start on its
 * thread decides. */
int population_has_span(const struct population *p, const struct timeline *tl, uint32_t span);

/*
 * Iterate over the stretches of [*at, to) in which a thread with that stack has the label. 1:
 * *part is the population cut to the next stretch, and *at is its end; 0: no more. Without
 * --label, the only stretch is all of [*at, to).
 */
int population_part(const struct population *p, uint32_t thread, uint32_t path, uint64_t *at,
		    uint64_t to, struct population *part);

/* Left out as system? */
int population_hides_thread(const struct population *p, const struct timeline *tl,
			    uint32_t thread);

/* Cut [*start, *end) at --time, and to the part. 0 when nothing is left; *cut is set when
 * --time cut it. */
int population_clip(const struct population *p, uint64_t *start, uint64_t *end, int *cut);

/* Cut a gap to --time and --cpu; if its place is not known, it keeps its length without a
 * place. 0 when nothing is left; OFF_OPEN is set if it was cut. */
int population_gap(const struct population *p, const struct timeline *tl, struct tl_gap *g);

/* What is set apart of a wait. */
enum apart {
	APART_NOT,
	APART_IDLE,     /* hidden */
	APART_UNCLEAR,  /* ranked by itself */
	APART_LEFT_OUT, /* unclear, with no_unclear */
	APART_LIFE, /* covers nearly all of its thread's life, or its process's exit ended it */
	APART_KINDS,
};

/* An off-CPU interval as a population sees it, cut to --time. */
struct wait {
	const struct off *off;
	uint64_t start, end;
	uint64_t blocked, runnable, preempted, unknown; /* preempted is part of runnable */
	enum apart apart; /* of blocked and unknown time, wait_split_off takes it out */
	int unclear;      /* its site is unclear, and it is not set apart */
	int open;         /* cut by an edge */
	int late_open;    /* so is what wait_split_off leaves of it */
	int unended;      /* its begin was seen, its end is past the end of the recording */
};

/* 0 when nothing of the interval is inside --time or its CPUs are not asked for. Threads are
 * not looked at: see population_has_thread. */
int population_wait(const struct population *p, const struct timeline *tl, const struct off *o,
		    struct wait *out);

/* Remove the time that is set apart: the wait then starts after it, and is open only if the
 * rest was cut. Returns the removed time. */
uint64_t wait_split_off(struct wait *w);

/* --- sums by site --------------------------------------------------------------------- */

struct site_sum {
	uint32_t site;       /* index of timeline.sites; 0: of none */
	uint32_t path, comm; /* of the longest wait */
	uint8_t open;        /* the longest one was cut: it lasted longer */
	uint64_t count, ns, p50_ns, max_ns;
};

struct site_sums {
	VEC(struct site_sum) v; /* once finished: the longest wait first */
	uint64_t count, ns, max_ns;
	VEC(struct radix_key) times; /* of each wait: ns, index of v */
	struct u64map index;         /* site → v */
};

/* Count `ns` of a wait. ERR_NOMEM. */
int site_sums_add(struct site_sums *s, const struct off *o, uint64_t ns, int open);

/* What was set apart of a population's waits, by enum apart, and its system threads' waits. */
struct set_apart {
	struct site_sums by[APART_KINDS]; /* [APART_NOT] is not used */
	uint64_t system, system_ns;
};

/* Is there any? */
int set_apart_any(const struct set_apart *x);

/* ERR_NOMEM. */
int set_apart_finish(struct set_apart *x);
void set_apart_release(struct set_apart *x);

#endif
