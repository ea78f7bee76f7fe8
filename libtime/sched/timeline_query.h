/*
 * timeline_query.h - what a finished timeline says of a thread, a CPU or a moment (timeline.h).
 */
#ifndef LIBTIME_SCHED_TIMELINE_QUERY_H
#define LIBTIME_SCHED_TIMELINE_QUERY_H

#include "libtime/sched/timeline.h"

/* The first thread of a part, if the threads are divided into so many with about as many
 * intervals each; of part `parts`: threads.n. Needs each thread's slice. */
uint32_t timeline_part_begin(const struct timeline *tl, unsigned part, unsigned parts);

/* The parts of a thread's life, in ns. */
struct tl_sums {
	uint64_t run, blocked, runnable, preempted /* of runnable */, unknown;
	uint64_t interrupted; /* of run, where interrupts were recorded; by part_sums alone */
	uint64_t offs, open, suspect; /* intervals */
};

/* 1 if context switches were recorded, even if none happened. */
int timeline_has_switches(const struct timeline *tl);

/* Sum up one thread. Needs a finished timeline. */
void timeline_thread_sums(const struct timeline *tl, uint32_t thread, struct tl_sums *out);

/* The index of the thread's first interval with end_ns > from; offcpu_first + offcpu_n if there
 * is none. A walk from here up to `to` sees all that the thread did in [from, to). */
uint32_t timeline_offcpu_after(const struct timeline *tl, uint32_t thread, uint64_t from);

/* The same, fastest if the answer is close to `near`, an index of timeline.offcpu; any other
 * value is harmless. */
uint32_t timeline_offcpu_after_near(const struct timeline *tl, uint32_t thread, uint64_t from,
				    uint32_t near);

/* The CPU that a thread runs on at `ns`, or gets next if it is off then; TL_NOCPU: not known.
 */
uint16_t timeline_cpu_at(const struct timeline *tl, uint32_t thread, uint64_t ns);

/* A time during which a thread had a CPU. */
struct tl_run {
	uint64_t start_ns, end_ns;
	uint32_t thread;
	uint16_t cpu;
	int16_t prio;
};

/* All runs, by CPU and then by start: which thread had which CPU when. `first` has ncpus + 1
 * indexes: CPU c has the runs [first[c], first[c + 1]). */
struct tl_runs {
	VEC(struct tl_run) v;
	VEC(uint32_t) first;
};
int timeline_runs(const struct timeline *tl, struct tl_runs *out, struct err *e);
void tl_runs_release(struct tl_runs *r);

#endif
