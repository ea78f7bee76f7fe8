/*
 * stack_source.h - the stacks of collapse, svg and export: samples, waits, wall-clock time or
 * the time inside the worst episodes, of a recording, bundle or store, as the rows of
 * stack_rows.h.
 *
 *	stack_source_open(&s, "svg", STACKS_OF_WAITS, opt, path, NULL, 0);
 *	stack_source_rows(&s, add, ctx, &e);
 *	stack_source_close(&s);
 */
#ifndef CMD_QUERY_STACK_SOURCE_H
#define CMD_QUERY_STACK_SOURCE_H

#include "cmd/query/samples.h"
#include "cmd/query/tail_query.h"
#include "libtime/explain/stack_rows.h"

enum stack_question {
	STACKS_OF_SAMPLES,
	STACKS_OF_WAITS,
	STACKS_OF_WAKERS, /* waits with their wakers */
	STACKS_OF_WALL,
	STACKS_OF_CHAINS,
	STACKS_OF_TAIL,       /* the time inside the worst episodes */
	STACKS_OF_TAIL_ROOTS, /* the same, with the stacks of those that held it up */
};

struct stack_source {
	enum stack_question asked;
	const struct tail_opts *opt;
	unsigned by;                 /* enum aggregate_by; for waits, only the first two */
	int causes;                  /* waits: rows by cause; set before stack_source_rows */
	int states;                  /* the same: run-queue delay has rows of its own */
	struct tlinput *ti;          /* the open input */
	const struct stacks *stacks; /* of the rows' ids */

	/* STACKS_OF_SAMPLES: the event, and those that equal it according to `is`; NO_ID: all
	 * events. Set before stack_source_rows. Weights are periods, or numbers of samples for
	 * tracepoints and with `count`. */
	struct samples samples;
	uint32_t event;
	event_is *is;
	int count;
	int any_order; /* whoever gets the rows sorts them: they are not grouped by thread */
	uint64_t shown, left_out; /* samples, and those of other events */

	struct tail_run run; /* STACKS_OF_TAIL, _ROOTS */
	struct tail tail;
	struct tlinput own;      /* of other questions */
	struct set_apart hidden; /* set by stack_source_rows */
};

/* Open `path`; `src`, for samples, as in samples_open. 0, or the exit status after one line on
 * stderr, and nothing is open. */
int stack_source_open(struct stack_source *s, const char *verb, enum stack_question asked,
		      const struct tail_opts *opt, const char *path, struct source *src,
		      unsigned by);

/* Call `add` for all rows. ERR_USAGE, ERR_NOMEM, or the error of `add`. */
int stack_source_rows(struct stack_source *s, stack_row_sink *add, void *ctx, struct err *e);

/* Release everything. */
void stack_source_close(struct stack_source *s);

#endif
