/*
 * trial.h - would frame pointers have given the stacks that copies give? A short recording of
 * the same switches with both answers it.
 *
 * A program built with frame pointers is not enough: its waits are in the C library, and where
 * that has none, the function that called it is missing from the chain.
 */
#ifndef LIBTIME_RECORD_TRIAL_H
#define LIBTIME_RECORD_TRIAL_H

#include "libtime/record/plan.h"

/* Append the options of `perf record` that record the chosen threads' switches twice. */
void trial_words(struct words *w, const struct chosen *c);

/*
 * Compare the two stacks of each switch in the recording at `path`: sets waits, alike and fp of
 * *t. Stacks are alike if the copy was unwound to the thread's start, and they differ at most in
 * the two outermost frames, those of the C library that start a thread. ERR_* as recording_open.
 */
int trial_read(struct stack_trial *t, const char *path, struct err *e);

/*
 * How to record stacks of which `copy` bytes are wanted: GRAPH_FP if frame pointers suffice;
 * that many bytes if the trial's load stays within PLAN_BUDGET, else half of it, down to 2048,
 * and then GRAPH_FP, too.
 */
int trial_copy(const struct stack_trial *t, int copy);

/* Append what was found, as a line that begins with "#". `copy`: the bytes wanted. */
void trial_text(struct buf *b, const struct stack_trial *t, int copy);

#endif
