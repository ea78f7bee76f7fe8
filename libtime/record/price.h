/*
 * price.h - what a recording costs: an estimate for a planned one, from the rates of its events,
 * which perf stat has counted, or a recording without stacks has measured; and what one did cost.
 */
#ifndef LIBTIME_RECORD_PRICE_H
#define LIBTIME_RECORD_PRICE_H

#include "libtime/record/plan.h"

/* One event of the plan; texts are the plan's. */
struct price_rate {
	char name[128];     /* may be a glob */
	const char *filter; /* NULL: none */
	double per_second;
	int stacks;  /* bytes copied, or one of GRAPH_* */
	int sampled; /* by frequency */
	int counted;
};

/* Zero-initialised is empty. */
struct price {
	VEC(struct price_rate) v;
	int measured;         /* recorded, not only counted: the fields below are set */
	double bytes, cpu_ns; /* per second, of the recording without stacks */
	uint64_t lost;
};

/* Add the events of a plan, which is borrowed. ERR_NOMEM. */
int price_plan(struct price *p, const struct record_plan *plan, const struct record_wish *w);

/* Append -e (and --filter) of the events whose rate must be counted; 0 if there are none. */
int price_countable(const struct price *p, struct words *w);

/* Set the rates from the output of `perf stat -x,` for one second,
 * "1234,,sched:sched_switch,...", which is modified; or from a recording of one second without
 * stacks. */
void price_from_stat(struct price *p, char *text);
void price_from_recording(struct price *p, struct recording *rec);

/* 1 if all necessary rates were counted. */
int price_is_known(const struct price *p);

/* The estimated bytes a second. */
double price_bytes(const struct price *p);

/* What a recording may take in a second; 0: no bound. */
struct price_budget {
	double bytes, cpu_ns;
};

/*
 * The first kind of stacks that stays within the budget: those planned; copies of half as many
 * bytes, down to PRICE_FLOOR; frame pointers; none. Bytes copied, GRAPH_FP or GRAPH_NONE; or
 * GRAPH_BAD, if the events alone are too many. *bytes, *cpu_ns: its estimate.
 */
enum { PRICE_FLOOR = 2048 };
int price_fit(const struct price *p, const struct price_budget *budget, double *bytes,
	      double *cpu_ns);

/* Append the rates, the estimate and cheaper alternatives, in lines that begin with "#". */
void price_text(struct buf *b, const struct price *p, const struct record_wish *w);

/* Free its memory. */
void price_release(struct price *p);

/* What a recording has cost. */
struct price_paid {
	uint64_t events, bytes, lost;
	uint64_t first_ns, last_ns; /* of samples with a time; last_ns 0: there are none */
	int64_t cpu_ns;             /* of perf, < 0: not known */
	int whole;                  /* cpu_ns: with its start and end */
};

/* Set all but the times and cpu_ns from a recording that was read to its end. */
void price_paid_read(struct price_paid *p, const struct recording *rec);

/* Append "3.0 s, 10400 events/s, 5.8 MB/s, none lost; perf took 2.1 % of a CPU". */
void price_paid_text(struct buf *b, const struct price_paid *p);

#endif
