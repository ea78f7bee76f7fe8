/*
 * population.h - which waits a question is about, which part of each, and what is listed
 * separately: filters, --time, and the verdicts of wait sites, the same for every command.
 *
 *	population_wait(&p, tl, off, &w):
 *
 *	--time    ├──────────────────────────────────┤
 *	interval       out ──── blocked ────► waking ──── runnable ────► in
 *	work             blocked                         runnable
 *	unclear          separate, marked ?              runnable: late in any case
 *	idle             separate, hidden                runnable
 */
#ifndef LIBTIME_POPULATION_POPULATION_H
#define LIBTIME_POPULATION_POPULATION_H

#include "base/radix.h"
#include "libtime/population/likely.h"
#include "libtime/spans/label_lanes.h"

/* Zero-initialised: everything but the system. Lists are borrowed; n 0 = all. */
struct population {
	const char *const *comms;
	size_t ncomms;
	const int32_t *pids, *tids;
	size_t npids, ntids;
	int meant;            /* only processes that are meant if nobody says (meant.h) */
	const uint32_t *cpus; /* a wait: left or came back on one of them */
	size_t ncpus;
	uint64_t start_ns,
		stop_ns; /* [start, stop) on the recording's clock; stop 0 = no end */
	const struct label_lanes *label; /* only what has this label and value; NULL: all */
	uint32_t label_value;            /* strings id */
	const uint8_t *sites;            /* of waits: by index of timeline.sites; NULL: all */
	uint64_t from_ns, to_ns; /* of population_part: cut to it, which leaves nothing open;
				  * to 0 = no end */
	int idle;                /* --idle: treat all waits alike, none separately */
	int system;              /* include kernel threads and the recorder */
	int ranked;     /* for a ranking: separate unclear waits, and those of a thread's whole
			 * life */
	int no_unclear; /* leave out unclear waits */
	/* ranked: unclear waits that are probably waited for are not separate; NULL: all are */
	const struct likely *likely;
};

/* A thread by its ids, and its name (strings id) at that time: --comm, --pid, --tid, but not
 * `meant`. */
int population_has_task(const struct population *p, const struct timeline *tl, int32_t pid,
			int32_t tid, uint32_t comm);

/* The same of a thread of the timeline; never the idle task. Asked for each interval, like the
 * next ones: without a filter they make no call. */
static inline int population_has_thread(const struct population *p, const struct timeline *tl,
					uint32_t thread, uint32_t comm)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	int any = !p->ncomms && !p->npids && !p->ntids;
	return !(t->flags & THREAD_IDLE_TASK) && (!p->meant || t->flags & THREAD_MEANT) &&
	       (any || population_has_task(p, tl, t->pid, t->tid, comm));
}

/* Used by population_has_cpu only. */
int population_lists_cpu(const struct population *p, const struct timeline *tl, uint16_t a,
			 uint16_t b);

/* 1 without --cpu, or if that includes `a` or `b`. TL_NOCPU is in no list. */
static inline int population_has_cpu(const struct population *p, const struct timeline *tl,
				     uint16_t a, uint16_t b)
{
	return !p->ncpus || population_lists_cpu(p, tl, a, b);
}

/* 1 if a sample passes the filters of threads, CPUs and time (including stop_ns). One without a
 * thread passes if there is no filter of threads. */
int population_has_sample(const struct population *p, const struct timeline *tl,
			  const struct tl_sample *s);
/* One of the timeline's own. */
int population_has_event_sample(const struct population *p, const struct timeline *tl,
				const struct tl_event_sample *s);

/* --label: does a thread with that stack (call path; 0: unknown) have the label at `ns`? */
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

/* 1 if it is left out as a system thread. */
int population_hides_thread(const struct population *p, const struct timeline *tl,
			    uint32_t thread);

/* Used by population_clip only. */
int population_cut(const struct population *p, uint64_t *start, uint64_t *end, int *cut);

/* Cut [*start, *end) to --time and to the part. 0 if nothing is left; *cut is set if --time cut
 * it. */
static inline int population_clip(const struct population *p, uint64_t *start, uint64_t *end,
				  int *cut)
{
	int all = !p->start_ns && !p->stop_ns && !p->to_ns;
	return all ? *end > *start : population_cut(p, start, end, cut);
}

/* Cut a gap to --time and --cpu; one that is not placed exactly keeps its length. 0 if nothing
 * is left; OFF_OPEN is set if it was cut. */
int population_gap(const struct population *p, const struct timeline *tl, struct tl_gap *g);

/* The list that a wait's waiting part is in, if not that of work. */
enum apart {
	APART_NOT,
	APART_IDLE,     /* hidden */
	APART_UNCLEAR,  /* ranked separately */
	APART_LEFT_OUT, /* unclear, with no_unclear */
	APART_LIFE, /* covers nearly all of its thread's life, or its process's exit ended it */
	APART_KINDS,
};

/* An off-CPU interval as a population sees it, cut to --time. */
struct wait {
	const struct offcpu *offcpu;
	uint64_t start, end;
	uint64_t blocked, runnable, preempted, unknown; /* preempted is part of runnable */
	enum apart apart; /* if not APART_NOT, wait_split_off removes blocked and unknown */
	int unclear;      /* its site is unclear, but it is not separate */
	int open;         /* cut by an edge */
	int late_open;    /* open after wait_split_off */
	int ongoing;      /* it began in the recording and had not ended at the end */
};

/* Make the wait of an interval: 1; 0 if --time, --cpu or --site exclude it. Does not check its
 * thread: see population_has_thread. */
int population_wait(const struct population *p, const struct timeline *tl,
		    const struct offcpu *o, struct wait *out);

/* OFF_OPEN and OFF_SUSPECT of a wait, given the time in which it may have ended (OFF_REST). */
uint8_t wait_flags(const struct timeline *tl, const struct wait *w);

/* 1 if population.ranked makes no difference to the wait of an interval. */
static inline int wait_ranks_alike(const struct offcpu *o)
{
	return !(o->flags & (OFF_IDLE | OFF_UNCLEAR)) && o->cause != CAUSE_JOIN &&
	       o->cause != CAUSE_CHILD;
}

/* Remove the separate part: the wait then starts after it, and is open only if the rest was
 * cut. Returns the removed time. */
uint64_t wait_split_off(struct wait *w);

/* --- sums by site --------------------------------------------------------------------- */

struct site_sum {
	uint32_t site;       /* index of timeline.sites; 0: none */
	uint32_t path, comm; /* of the longest wait */
	uint8_t open;        /* the longest wait was cut, so it lasted longer */
	uint64_t count, ns, p50_ns, max_ns;
};

struct site_sums {
	VEC(struct site_sum) v; /* once finished, by longest wait */
	uint64_t count, ns, max_ns;
	VEC(struct radix_key) times; /* of each wait: ns, index of v */
	struct u64map index;         /* sites_told → v */
};

/* Add `ns` of a wait. ERR_NOMEM. */
int site_sums_add(struct site_sums *s, const struct timeline *tl, const struct offcpu *o,
		  uint64_t ns, int open);

/* Sort them by longest wait and find the medians, after the last site_sums_add. ERR_NOMEM. */
int site_sums_finish(struct site_sums *s);
void site_sums_release(struct site_sums *s);

/* Sums of the separate parts of waits, by enum apart, and of system threads' waits. */
struct set_apart {
	struct site_sums by[APART_KINDS]; /* [APART_NOT] is not used */
	uint64_t system, system_ns;
};

/* 1 if any sum is not empty. */
int set_apart_any(const struct set_apart *x);

/* ERR_NOMEM. */
int set_apart_finish(struct set_apart *x);
void set_apart_release(struct set_apart *x);

#endif
