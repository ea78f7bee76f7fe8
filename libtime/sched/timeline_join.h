/*
 * timeline_join.h - the recordings of a store side by side in one timeline, so that one
 * question is answered over all of them.
 *
 *	host a   CPU 0, 1, 2, 3       threads 0 .. 17      → parts[0]
 *	host b   CPU 4, 5 (its 0, 1)  threads 18 .. 40     → parts[1]
 *
 * Nothing is compared across recordings: a thread, a wait, a sample belongs to one of them, and
 * each keeps its own clock (timeline.h: tl_part, timeline_part_of, timeline_cpu).
 */
#ifndef LIBTIME_SCHED_TIMELINE_JOIN_H
#define LIBTIME_SCHED_TIMELINE_JOIN_H

#include "libtime/sched/timeline.h"

/*
 * Append `more` to `tl`; both are finished and use the same stacks, `more` is one recording.
 * Its threads and CPUs are numbered after those of `tl`; events of the same name become
 * one. tl->rec then sums up: origin_ns and end_ns span all, host is "" unless there is just
 * one, wall_ns is 0. ERR_LIMIT (more CPUs, events or intervals than there are numbers for),
 * ERR_NOMEM; then release `tl`.
 */
int timeline_join(struct timeline *tl, const struct timeline *more, struct err *e);

/* The last step: set part.label to the host, or "2:host" for the second recording of a host.
 * ERR_NOMEM. */
int timeline_label_parts(struct timeline *tl, struct err *e);

#endif
