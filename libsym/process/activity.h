/*
 * activity.h - how active each process was: its samples of all events, whatever filters an
 * answer has, and whether they lie in more than a few moments. A program works all the time, a
 * command that only sets the recording's length (`sleep 10`) at its start and its end.
 */
#ifndef LIBSYM_PROCESS_ACTIVITY_H
#define LIBSYM_PROCESS_ACTIVITY_H

#include "base/hash.h"
#include "base/vec.h"

enum {
	ACTIVITY_MOMENTS = 6,
	ACTIVITY_SHIFT = 21, /* a moment is 2^21 ns, some 2 ms */
};

struct pid_activity {
	int32_t pid;
	uint32_t n;                        /* moments that are known; no more are counted */
	uint64_t moment[ACTIVITY_MOMENTS]; /* distinct, in no order */
	uint64_t samples;
};

/* Zero-initialised: empty. */
struct activity {
	VEC(struct pid_activity) v;
	struct u64map index;
	uint32_t last; /* the one that was counted last */
};

/* Count a sample of a process at a time in ns. ERR_NOMEM. */
int activity_add(struct activity *a, int32_t pid, uint64_t ns);

/* Add all that `more` has. ERR_NOMEM. */
int activity_merge(struct activity *a, const struct activity *more);

/* Add what a process did to *sum, whose pid stays. Does nothing for an unknown one. */
void activity_sum(const struct activity *a, int32_t pid, struct pid_activity *sum);

/* Release everything; the activity is empty afterwards. */
void activity_release(struct activity *a);

#endif
