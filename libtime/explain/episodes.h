/*
 * episodes.h - a timeline → the population that `tail` ranks, its percentiles, and the worst.
 *
 *	timeline ─► episodes_collect (population.h; open and suspect ones separate)
 *	         ─► episodes_percentile ─► episodes_select ─► chain.h explains the selected
 *
 * An episode is one of
 *
 *	wait	    an off-CPU interval, less its separate part (population.h); tries for one
 *		    lock that each timed out are one wait
 *	span	    work between two events
 *	activation  a thread's time between the wakeup from an idle wait and its next idle
 *		    wait, from the waking on; waits at an unclear site that looks like a loop
 *		    bound it, too
 *
 * Percentiles are nearest rank, in integers: pX of n episodes is the ⌈X/100·n⌉-th smallest,
 * with X in thousandths of a percent.
 *
 * Open episodes (cut by the recording's or --time's edge) and suspect ones (touched by lost
 * records or holes) are not known in full: an open one lasted longer; where records are
 * missing, two waits may look like one. They are counted, have percentiles of their own, and
 * are not part of the clean population.
 */
#ifndef LIBTIME_EXPLAIN_EPISODES_H
#define LIBTIME_EXPLAIN_EPISODES_H

#include "libtime/population/population.h"

enum episode_kind {
	EPISODE_WAIT,
	EPISODE_SPAN, /* the work of one thread */
	EPISODE_ACTIVATION,
	EPISODE_WINDOW, /* a span as a time window: what all chosen threads did in it */
	EPISODE_GAP,    /* gaps of CPUs: gap_parts.h explains them */
};

/* "wait", "span", "activation", "window", "gap". */
const char *episode_kind_name(unsigned int kind);

/* A label that a span must have; strings ids. */
struct label_match {
	uint32_t key, value;
};

/* What to collect. Zero-initialised: all waits. Lists are borrowed. */
struct episode_query {
	enum episode_kind kind;
	uint32_t span; /* EPISODE_SPAN, _WINDOW: strings id of the name */
	const struct label_match *where;
	size_t nwhere;
	int by_base; /* EPISODE_ACTIVATION: the waits where a thread rests bound them (likely.h) */
	/* EPISODE_SPAN: the only thread that the filters leave, if alone is 1; spans that name
	 * no thread count as its */
	int alone;
	uint32_t alone_thread;
	struct population
		of; /* --cpu is compared with where an activation or span began to run */
};

struct episode {
	uint64_t start_ns, end_ns;
	uint64_t low_ns, high_ns;    /* it may have been as short, and as long, as this */
	uint64_t key;                /* spans across threads; else 0 */
	uint32_t thread, end_thread; /* equal unless a span was handed over; of a window also
				      * TL_NONE */
	uint32_t comm;               /* strings id: the thread's name */
	uint32_t at;       /* index of timeline.offcpu (wait), .spans or .gaps; else TL_NONE */
	uint16_t cpu;      /* where the thread ran after a wait; TL_NOCPU: not known */
	uint8_t flags;     /* OFF_OPEN, OFF_SUSPECT */
	uint8_t unknown;   /* part of its time is of state unknown */
	uint8_t ongoing;   /* a wait that began in the recording and had not ended at its end */
	uint8_t by_design; /* by_design.h; 0 until by_design_mark */
};

/* Open or suspect: its length is not known. */
static inline int is_dirty(const struct episode *ep)
{
	return (ep->flags & (OFF_OPEN | OFF_SUSPECT)) != 0;
}

struct episodes {
	struct episode_query query; /* as collected */
	struct likely *likely;    /* made for a ranking of waits, else NULL; query.of has it, or
				       that of the query asked */
	BIGVEC(struct episode) v; /* clean and dirty ones, by thread and time */
	BIGVEC(uint64_t) clean;   /* durations, ascending */
	VEC(uint64_t) dirty;      /* those of open and suspect episodes, ascending */
	/* Of suspect ones that are not open: as short, and as long, as they may have been; and the
	 * lengths of open ones. */
	VEC(uint64_t) low, high, cut;
	BIGVEC(uint64_t)
	both;            /* of waits: clean ones, with unclear ones in full, ascending; … */
	int both_differ; /* … if there are any, else empty */
	uint64_t open, suspect;      /* an episode that is both counts in both */
	uint64_t unknown;            /* clean ones with time in an unknown state */
	uint64_t threads, processes; /* distinct, of v */
	struct set_apart apart;    /* waits that are not in v, or whose late parts alone are */
	struct site_sums probable; /* unclear waits that are in v in full */
};

/*
 * Make one wait of the interval `offcpu`, as population_wait does. If it waited for a lock,
 * timed out and tried again (lock_holders.h), the wait ends with the last try: start, end, open
 * and ongoing are those of all tries together, the rest is the first one's. *last is the index
 * of the last try, or `offcpu`.
 */
int episode_wait(const struct timeline *tl, const struct population *of, uint32_t offcpu,
		 struct wait *out, uint32_t *last);

/* Collect the population. The timeline must be finished and have its causes. On failure
 * (ERR_NOMEM, ERR_IO) *out is empty; else release it with episodes_release. */
int episodes_collect(const struct timeline *tl, const struct episode_query *q,
		     struct episodes *out, struct err *e);
void episodes_release(struct episodes *x);

static inline uint64_t episode_ns(const struct episode *ep)
{
	return ep->end_ns - ep->start_ns;
}

/* The rank, 1..n, of a percentile given in thousandths of a percent (1..100000) of n > 0. */
static inline uint64_t percentile_rank(uint64_t n, uint32_t millipercent)
{
	/* in two parts, so that large n do not overflow */
	uint64_t whole = n / 100000 * millipercent, rest = n % 100000 * millipercent;
	uint64_t rank = whole + (rest + 99999) / 100000;
	return rank ? rank : 1;
}

/* How many episodes are needed for this percentile to differ from the longest one. */
static inline uint64_t percentile_needs(uint32_t millipercent)
{
	uint32_t above = millipercent < 100000 ? 100000 - millipercent : 0;
	return above ? (100000 + above - 1) / above : 0;
}

/* pX of the clean population, or with the open and suspect ones in it at the length that was
 * seen. 0 if there are none. */
uint64_t episodes_percentile(const struct episodes *x, uint32_t millipercent, int with_dirty);

/* What pX may be, given what is suspect: *low..*high; equal if that is within 1 % or 5 us. */
void episodes_percentile_range(const struct episodes *x, uint32_t millipercent, uint64_t *low,
			       uint64_t *high);

/* How many waits are clean, with unclear ones in full; 0 for other kinds. And their pX. */
size_t episodes_count_of_both(const struct episodes *x);
uint64_t episodes_percentile_of_both(const struct episodes *x, uint32_t millipercent);

/* episode_pick.least, if the user asks for no percentile: one wait proves little. */
enum { PICK_LEAST = 10 };

/* What an id names (episode_id.h). */
struct episode_id {
	enum episode_kind kind;
	int any_kind;    /* the id does not say which */
	uint64_t number; /* tid, or CPU of a gap */
	uint64_t ns,
		within; /* its begin, from that of the recording, is in [ns, ns + within) */
};

/* Which episodes are the tail. */
struct episode_pick {
	enum { PICK_PERCENTILE, PICK_OVER, PICK_TOP, PICK_KEY, PICK_ID } kind;
	uint32_t millipercent; /* PICK_PERCENTILE: those of at least that length, */
	uint32_t least;        /* or the longest ones, if they are fewer than this */
	uint64_t ns;           /* PICK_OVER: those of at least ns */
	uint64_t top;          /* PICK_TOP: the longest */
	uint32_t key_text;     /* PICK_KEY: spans with that key, whatever their length; */
	uint64_t key;          /* a span whose key is not text needs this number */
	struct episode_id id;  /* PICK_ID: the one with that id, else those around its moment */
	int dirty;             /* list open and suspect ones, too */
	int unusual; /* rank waits by design (by_design.h) below: of a percentile leave them
			out, if the others have a tail of their own */
};

struct episode_selection {
	VEC(uint32_t) v;       /* indexes of episodes.v: longest first, then by start, thread */
	uint64_t threshold_ns; /* the shortest selected length */
	uint64_t whole;        /* clean ones that reach the threshold */
	uint64_t dirty;        /* open and suspect ones that reach it, */
	uint64_t unlisted;     /* and those of them that are not in v */
	/* More dirty ones may reach it than surely do: the tail is not known. */
	int uncertain;
	int extended;                   /* more than reach the percentile: episode_pick.least */
	int everybody;                  /* nobody's program was meant */
	uint64_t by_design, longest_ns; /* waits by design left out that reach the threshold */
};

/* Choose the tail of what was collected of `tl`. Sets by_design if that is asked. ERR_NOMEM. */
int episodes_select(struct episodes *x, const struct timeline *tl,
		    const struct episode_pick *pick, struct episode_selection *out,
		    struct err *e);
void episode_selection_release(struct episode_selection *s);

/* Would pX depend mostly on open episodes, whose length has no bound? */
int episodes_are_uncertain(const struct episodes *x, uint32_t millipercent);

/* 1 if a query's filters leave the thread. */
int episodes_include_thread(const struct timeline *tl, const struct episode_query *q,
			    uint32_t thread);

/* If a query's filters leave exactly one thread: 1 and *thread; else 0. Threads of the system
 * count only with --system. */
int episodes_only_thread(const struct timeline *tl, const struct episode_query *q,
			 uint32_t *thread);

/* 1 if the span's time is that of one thread: *thread, which may come from `q`. */
int episodes_span_thread(const struct timeline *tl, const struct episode_query *q,
			 uint32_t span, uint32_t *thread);

/* Make *out of a span, cut to --time: 1 if it is an episode of the query's kind that the
 * filters leave. Its name is not checked. */
int episodes_span(const struct timeline *tl, const struct episode_query *q, uint32_t span,
		  struct episode *out);

/* The key that a side file has for an episode's span (strings id), or 0. */
uint32_t episode_key_text(const struct episodes *x, const struct timeline *tl,
			  const struct episode *ep);

/* The distinct names of the timeline's spans in the order of their first appearance, into
 * names[0..max); returns how many there are. */
size_t episodes_span_names(const struct timeline *tl, uint32_t *names, size_t max);

#endif
