/*
 * episodes.h - a timeline → the population that `tail` ranks, its percentiles, and the worst.
 *
 *	timeline ─► episodes_collect (population.h; open and suspect ones apart)
 *	         ─► episodes_percentile ─► episodes_select ─► chain.h explains the selected
 *
 * An episode is one of
 *
 *	wait	    an off-CPU interval, less what population.h sets apart of it; the tries
 *		    for one lock, each of which timed out, are one wait
 *	span	    work between two events
 *	activation  a thread's stay between the wakeup out of an idle wait and its next idle
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
	EPISODE_SPAN, /* those that are one thread's work */
	EPISODE_ACTIVATION,
	EPISODE_WINDOW, /* spans as times in which chosen threads did something: all of them */
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
	/* EPISODE_SPAN: spans that name no thread are this one's, where the filters leave just
	 * one; alone 0: they do not */
	int alone;
	uint32_t alone_thread;
	struct population of; /* of an activation or span, --cpu: where it ran at first */
};

struct episode {
	uint64_t start_ns, end_ns;
	uint64_t key;                /* spans across threads; else 0 */
	uint32_t thread, end_thread; /* the same but for spans handed over; of a window also
				      * TL_NONE */
	uint32_t comm;               /* strings id: the thread's name */
	uint32_t at;     /* index of timeline.off (wait), .spans or .gaps; else TL_NONE */
	uint16_t cpu;    /* where a wait came back; TL_NOCPU = not known */
	uint8_t flags;   /* OFF_OPEN, OFF_SUSPECT */
	uint8_t unknown; /* part of its time is of state unknown */
	uint8_t unended; /* a wait that began, and was not over when the recording ended */
};

struct episodes {
	struct episode_query query;  /* as collected */
	VEC(struct episode) v;       /* work: clean ones and others, by thread and time */
	VEC(uint64_t) clean;         /* durations, ascending */
	VEC(uint64_t) dirty;         /* those of open and suspect episodes, ascending */
	VEC(uint64_t) both;          /* of waits: clean ones, unclear ones in full, ascending */
	uint64_t open, suspect;      /* episodes; both counts one that is both */
	uint64_t unknown;            /* clean ones with time of unknown state */
	uint64_t threads, processes; /* distinct, of v */
	struct set_apart apart;      /* the waits that are not in v, or only their late parts */
};

/*
 * The interval `off` as one wait: as population_wait, but where it waits for a lock, timed out
 * and was begun again (lock_holders.h), as far as its last try: start and end, open and unended
 * are of them all, the rest of the first. *last is the index of that one, or `off`.
 */
int episode_wait(const struct timeline *tl, const struct population *of, uint32_t off,
		 struct wait *out, uint32_t *last);

/* Collect the population. The timeline must be finished and have its causes. On failure
 * (ERR_NOMEM) the object is empty; else it is released by episodes_release. */
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
	/* in two parts, so that n may be any number */
	uint64_t whole = n / 100000 * millipercent, rest = n % 100000 * millipercent;
	uint64_t rank = whole + (rest + 99999) / 100000;
	return rank ? rank : 1;
}

/* How many episodes it takes for this percentile to be another than the longest of them. */
static inline uint64_t percentile_needs(uint32_t millipercent)
{
	uint32_t above = millipercent < 100000 ? 100000 - millipercent : 0;
	return above ? (100000 + above - 1) / above : 0;
}

/* pX of the clean population, or with the open and suspect ones in it, as long as they were
 * seen. 0 when there is none. */
uint64_t episodes_percentile(const struct episodes *x, uint32_t millipercent, int with_dirty);

/* pX of x->both. */
uint64_t episodes_percentile_of_both(const struct episodes *x, uint32_t millipercent);

/* Which episodes are the tail. */
struct episode_pick {
	enum { PICK_PERCENTILE, PICK_OVER, PICK_TOP, PICK_KEY } kind;
	uint32_t millipercent; /* PICK_PERCENTILE: those of at least that length */
	uint64_t ns;           /* PICK_OVER: those of at least ns */
	uint64_t top;          /* PICK_TOP: the longest */
	uint32_t key_text;     /* PICK_KEY: the spans of that key, the others as well; */
	uint64_t key;          /* by this number where a span's key is no text */
	int dirty;             /* list open and suspect ones among them */
};

struct episode_selection {
	VEC(uint32_t) v;       /* indexes of episodes.v: longest first, then by start, thread */
	uint64_t threshold_ns; /* the shortest selected length */
	uint64_t dirty;        /* open and suspect ones that reach the threshold */
	/* More of them than clean ones do: the tail is not known. */
	int uncertain;
};

/* Choose the tail of what was collected of `tl`. ERR_NOMEM. */
int episodes_select(const struct episodes *x, const struct timeline *tl,
		    const struct episode_pick *pick, struct episode_selection *out,
		    struct err *e);
void episode_selection_release(struct episode_selection *s);

/* Would pX rest mostly on open and suspect episodes? */
int episodes_are_uncertain(const struct episodes *x, uint32_t millipercent);

/* 1 when a query's filters leave the thread. */
int episodes_include_thread(const struct timeline *tl, const struct episode_query *q,
			    uint32_t thread);

/* The one thread that a query's filters leave: 1 and *thread; 0 where there are none or more.
 * Threads of the system count where they are asked for. */
int episodes_only_thread(const struct timeline *tl, const struct episode_query *q,
			 uint32_t *thread);

/* 1 when the span's time is that of one thread: *thread, which `q` may say. */
int episodes_span_thread(const struct timeline *tl, const struct episode_query *q,
			 uint32_t span, uint32_t *thread);

/* 1 when a span, whatever its name, is an episode of the query's kind that its filters leave:
 * *out, cut to --time. */
int episodes_span(const struct timeline *tl, const struct episode_query *q, uint32_t span,
		  struct episode *out);

/* The key that a side file gave an episode of spans or windows; 0 for none (strings id). */
uint32_t episode_key_text(const struct episodes *x, const struct timeline *tl,
			  const struct episode *ep);

/* The distinct names of the timeline's spans in the order of their first appearance, into
 * names[0..max); returns how many there are. */
size_t episodes_span_names(const struct timeline *tl, uint32_t *names, size_t max);

#endif
