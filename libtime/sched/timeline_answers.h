/*
 * timeline_answers.h - whether what was recorded answers a question, and of whom it does.
 */
#ifndef LIBTIME_SCHED_TIMELINE_ANSWERS_H
#define LIBTIME_SCHED_TIMELINE_ANSWERS_H

#include "libtime/sched/timeline.h"

/*
 * Can off-CPU questions be answered? 0, or ERR_REFUSED with the reason and the right
 * `perf record` line: no switches recorded, sched_switch sampled, per-task without switch-ins,
 * or the events' names cut off (timeline_unnamed_events).
 * Recordings with only accumulated --off-cpu totals are answerable for sums per stack only:
 * `in_time` asks for their places in time.
 */
int timeline_answerable(const struct timeline *tl, int in_time, struct err *e);

/* How many waits have a stack that ends in an unnamed kernel frame, so that neither what they
 * waited for nor whether they were idle is known. Threads of the system are left out; *all is
 * the number of waits looked at. */
uint64_t timeline_unnamed_waits(const struct timeline *tl, uint64_t *all);

/* 1 when only some switches have stacks: perfkit record -p and others record the switches of
 * all threads, and again with stacks those of the chosen ones. */
int timeline_stacks_of_some(const struct timeline *tl);

/* The thread by which to call the process that has nine tenths of the waits with stacks;
 * TL_NONE if there is none. */
uint32_t timeline_stacked_process(const struct timeline *tl);

/* Why context switches cannot be recognized although they may be there: the names and formats
 * of tracepoints are at the end of the file, which was cut off. NULL if they are known. */
const char *timeline_unnamed_events(const struct timeline *tl);

#define TIMELINE_NAMELESS                                                                 \
	"its tracepoints have no names, which perf writes at the end of a file: context " \
	"switches cannot be recognized"

#endif
