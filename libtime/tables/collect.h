/* collect.h - shared by the functions that fill tables; only for libtime/tables. */
#ifndef LIBTIME_TABLES_COLLECT_H
#define LIBTIME_TABLES_COLLECT_H

#include "libtime/tables/tables.h"

struct by_thread;

struct collect {
	const struct timeline *tl;
	const struct table_query *q;
	struct rows *rows;
	uint64_t base_ns;      /* start of the first window */
	const uint32_t *group; /* strings ids by thread if rows are groups of them; else NULL */
	const struct by_thread *samples; /* with --label; else NULL */
	struct err *e;
};

/* The window that contains a moment; 0 without --every. */
static inline uint32_t collect_window(const struct collect *c, uint64_t ns)
{
	return c->q->every_ns && ns > c->base_ns
		       ? (uint32_t)((ns - c->base_ns) / c->q->every_ns)
		       : 0;
}

/* A population cut to one window: *cut, or `of` itself without --every. */
const struct population *collect_population(const struct collect *c,
					    const struct population *of, uint32_t window,
					    struct population *cut);

/* The row of a key in the window that contains `ns`. ERR_NOMEM. */
int collect_row(struct collect *c, uint64_t ns, uint64_t key, uint32_t *row);

/* 1 if --cause selects waits with this cause. */
int collect_wants(const struct collect *c, unsigned cause);

/* Call `take` for every wait that passes `of` and --cause, with the population of each part of
 * it that has the label. A return other than 0 stops and is returned. */
typedef int collect_wait(struct collect *c, const struct population *of, const struct offcpu *o,
			 void *ctx);
int collect_waits(struct collect *c, const struct population *of, collect_wait *take,
		  void *ctx);

/* One function for each table; 0, ERR_NOMEM, ERR_REFUSED. */
int collect_threads(struct collect *c);
int collect_cgroups(struct collect *c);
int collect_programs(struct collect *c);
int collect_sampled(struct collect *c);
int collect_sampled_programs(struct collect *c);
int collect_sites(struct collect *c);
int collect_wakers(struct collect *c);
int collect_locks(struct collect *c);
int collect_spans(struct collect *c);
int collect_functions(struct collect *c);
int collect_in_tail(struct collect *c);
int collect_weights(struct collect *c);
int collect_labels(struct collect *c);
int collect_interrupts(struct collect *c);
int collect_disks(struct collect *c);
int collect_gaps(struct collect *c);
int collect_jitter(struct collect *c);
int collect_bound(struct collect *c);

#endif
