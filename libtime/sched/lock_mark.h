/*
 * lock_mark.h - hits of a probe on the function in which a thread waits for a contended lock
 * (glibc's __lll_lock_wait), read from marks of a timeline.
 */
#ifndef LIBTIME_SCHED_LOCK_MARK_H
#define LIBTIME_SCHED_LOCK_MARK_H

#include "libtime/sched/timeline.h"

/* Fields that the mark does not have are 0. */
struct lock_mark {
	uint64_t time_ns, address;
	long owner; /* tid */
	uint32_t thread;
};

/* Read a mark about a lock: 1, or 0 for a mark of something else. */
int lock_mark_read(const struct timeline *tl, const struct tl_mark *m, struct lock_mark *out);

#endif
