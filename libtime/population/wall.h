/*
 * wall.h - sums running and waiting time of the same threads: where wall-clock time went.
 *
 *	thread  ──running──┐blocked│runnable┌──running──
 *	samples   s1   s2                      (none)
 *
 * A running interval's time is spread evenly over its samples; without any it is
 * "[running, no sample]". All rows add up to the threads' recorded lives, less what is hidden.
 * Blocked time of unclear sites is "[unclear]".
 */
#ifndef LIBTIME_POPULATION_WALL_H
#define LIBTIME_POPULATION_WALL_H

#include "libtime/population/population.h"
#include "libtime/sched/by_thread.h"

struct wall_row {
	uint32_t comm, path;
	uint32_t thread; /* of the timeline */
	int32_t pid, tid;
	const char
		*what; /* "lock", "runnable", "[running, no sample]" …; NULL: plain running */
	int waiting;
	uint64_t start_ns, ns;
};

/*
 * A thread ran in [from, to). Call `piece` for each sample's share of that time, with NULL for
 * time without samples. With --label, only for shares that have the label by the sample's
 * stack, else by the spans there. A return other than 0 stops and is returned.
 */
int wall_running(const struct timeline *tl, const struct population *of,
		 const struct by_thread *samples, uint32_t thread, uint64_t from, uint64_t to,
		 int (*piece)(void *ctx, const struct tl_sample *s, uint64_t from, uint64_t to),
		 void *ctx);

/* Call `row` for every piece, thread by thread in order of time; a return other than 0 stops
 * and is returned. The caller releases *hidden, the sums of what is hidden, in any case. */
int wall_collect(const struct timeline *tl, const struct population *of,
		 int (*row)(void *ctx, const struct wall_row *r), void *ctx,
		 struct set_apart *hidden, struct err *e);

#endif
