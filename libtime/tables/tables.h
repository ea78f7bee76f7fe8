/*
 * tables.h - the tables of `report --by WHAT`, and their rows from a timeline.
 *
 *	timeline ──by_thread, by_wait, by_lock, by_span──► rows (rows.h) ──render/text──► text
 *
 * A table is an element of table_kinds: columns, order, and the function that fills it. All of
 * them apply the same filters, and each adds up to the totals of `tail`, or of perf: time
 * counts once, for the thread, wait or span that it belongs to.
 *
 * With `every_ns`, each window of time has rows of its own. Waits, spans and interrupts belong
 * as a whole to the window in which they begin; the time of threads is cut at the edges.
 */
#ifndef LIBTIME_TABLES_TABLES_H
#define LIBTIME_TABLES_TABLES_H

#include "libsym/profile.h"
#include "libtime/explain/episodes.h"
#include "libtime/population/wait_sums.h"
#include "libtime/tables/rows.h"

struct table_query {
	struct population of;            /* lists are borrowed */
	uint32_t causes;                 /* bits of enum cause: only waits with these count;
					  * 0: all do */
	const struct label_match *where; /* spans must have these labels */
	size_t nwhere;
	const uint8_t *events; /* whose samples count: a flag per event; NULL: all. Borrowed */
	uint32_t label;        /* of "label:KEY": strings id of KEY */
	uint64_t every_ns;     /* 0: one window for all */
	int outermost;         /* spans inside of others with the same name do not count */
	uint64_t expected_ns; /* "jitter": between two requests that a gap may delay; 0: none */
	const struct wait_selection
		*waits;   /* of table_functions: waits, not samples. Borrowed */
	int fold_inlined; /* of table_functions: inlined calls count as their callers */
	int of_threads;   /* --comm, --pid or --tid was given, so the idle task is left out */
	int filtered;     /* threads of which nothing passes the filters have no row */
};

/* The *n tables that --by can name. */
const struct table_kind *table_kinds(size_t *n);

/* The kind with that name ("label:KEY" for any KEY), or NULL. */
const struct table_kind *table_kind_of(const char *name);

/* The tables of threads and of programs without context switches: their samples. */
const struct table_kind *table_sampled(void);
const struct table_kind *table_sampled_programs(void);

/* The table of cgroups if only samples show them: --all-cgroups. */
const struct table_kind *table_sampled_cgroups(void);

/* Samples and waits by a label of trampolines (libtime/spans/label_lanes.h). */
const struct table_kind *table_bound(void);

/* Functions inside of slow requests, compared with those inside of median ones. */
const struct table_kind *table_in_tail(void);

/* Functions by themselves and with what they call, in samples of q->events (NULL: of CPU time) or
 * q->waits; weights are times or counts. */
const struct table_kind *table_functions(int are_times);

/* The event whose samples are counted in it; NO_ID: there are none. */
uint32_t table_function_event(const struct timeline *tl, const struct table_query *q);

/* 1 if calls of functions were recorded, so that "function" is about them. */
int table_has_calls(const struct timeline *tl);

/* 1 if the table is about waits, so that it needs context switches with both ends. */
int table_needs_waits(const struct table_kind *kind);

/*
 * Collect the rows from a finished timeline with causes. The caller releases *out, after a
 * failure too. ERR_NOMEM; ERR_LIMIT past 2^20 windows; ERR_REFUSED if the timeline has no data
 * for the table; the message says what would record them.
 */
int table_collect(const struct table_kind *kind, const struct timeline *tl,
		  const struct table_query *q, struct rows *out, struct err *e);

/* The rows of programs, from samples that were folded by BY_PID | BY_TID, n of them; without
 * those of tracepoints. Names are ids of the profile's strings. ERR_NOMEM. */
int table_programs(struct profile *p, const struct folded *v, size_t n, struct rows *out,
		   struct err *e);

/* The rows of cgroups, from samples that were folded by them (BY_CGROUP | BY_TID); samples of
 * tracepoints count only if there are no others. Names are ids of the profile's strings.
 * ERR_NOMEM; ERR_REFUSED if no sample has its cgroup. */
int table_cgroups(struct profile *p, struct rows *out, struct err *e);

/* count[i] += the samples of `of` with the stack i (0: without), which has room for all: with
 * `waits` waits count too, except for those without a stack, else samples of tracepoints. */
void tables_count_stacks(const struct timeline *tl, const struct population *of, int waits,
			 uint64_t *count);

/* ERR_REFUSED if the timeline has no gaps. */
int tables_need_gaps(const struct timeline *tl, struct err *e);

#endif
