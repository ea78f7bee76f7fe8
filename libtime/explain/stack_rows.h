/*
 * stack_rows.h - stacks with their weights in ns: waits, waits with their wakers or with the
 * chain of threads behind them, wall-clock time, or the time inside the worst episodes. Rows
 * have the same shape for every question, so that each output format needs one function.
 *
 *	comm ── state ── below ── stack of `path`, root first ── above ── "--" waker's stack
 *	     [runnable]  [open]                                  lock     reversed, its name ── ...
 */
#ifndef LIBTIME_EXPLAIN_STACK_ROWS_H
#define LIBTIME_EXPLAIN_STACK_ROWS_H

#include "libsym/profile.h"
#include "libtime/explain/tail_model.h"
#include "libtime/population/wait_sums.h"

/* The thread that ended a wait, or that held up a link of a chain. */
struct row_waker {
	uint32_t path; /* 0: not known */
	const char
		*name; /* of the thread, or "[hardirq]" and the like; valid during the call */
};

struct stack_row {
	struct folded of;  /* whose, and where; its weight, and how many it stands for (0: that
			   * was not counted) */
	const char *state; /* a mark below all others: "[runnable]"; NULL: none */
	const char *below, *above; /* marks; NULL: none */
	const char *cause;         /* of a wait, with WAITS_BY_CAUSE; else NULL. "runnable" with
				    * a state */
	uint64_t unknown_ns;       /* of a wait's weight, in no known state */
	const struct row_waker *wakers;
	size_t nwakers;
	int waiting; /* the time was not spent running */
};

/* The row is valid during the call. A return value other than 0 stops, and is passed on. */
typedef int stack_row_sink(void *ctx, const struct stack_row *r, struct err *e);

/*
 * Each function calls `add` for its rows; equal rows may come more than once. *hidden gets the
 * separate waits; the caller always releases it. ERR_NOMEM, or the error of `add`.
 *
 * Waits: summed up; with WAITS_BY_WAKER a row has its waker.
 */
int stack_rows_waits(const struct timeline *tl, const struct wait_selection *s,
		     stack_row_sink *add, void *ctx, struct set_apart *hidden, struct err *e);

/* Running and waiting, thread by thread in the order of time: marks above the stack say what
 * kind of time it was. */
int stack_rows_wall(const struct timeline *tl, const struct population *of, stack_row_sink *add,
		    void *ctx, struct set_apart *hidden, struct err *e);

/* Each wait with the chain of threads that held it up. A link explains only part of the one
 * before it, so a wait makes one row for each link: the time that its chain explains up to
 * there. */
int stack_rows_chains(const struct timeline *tl, const struct population *of,
		      stack_row_sink *add, void *ctx, struct set_apart *hidden, struct err *e);

/* The same for the shown episodes. */
int stack_rows_tail_chains(const struct tail *t, stack_row_sink *add, void *ctx, struct err *e);

/* The time inside the shown episodes: tail_times.h. */
int stack_rows_tail(const struct tail *t, stack_row_sink *add, void *ctx, struct err *e);

/* The same, where waits are divided by what the root of their chain did meanwhile: its stack is
 * that of the waker. */
int stack_rows_tail_roots(const struct tail *t, stack_row_sink *add, void *ctx, struct err *e);

/* The same of as many episodes around the median. *ns: their time, and that of the shown ones.
 */
int stack_rows_median(const struct tail *t, stack_row_sink *add, void *ctx, uint64_t *tail_ns,
		      uint64_t *median_ns, struct err *e);

#endif
