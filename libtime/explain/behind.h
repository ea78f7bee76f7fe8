/*
 * behind.h - the thread behind the work of a kernel thread: whose fsync a journal's commit is
 * for, whose pages a worker writes, whose allocation woke kswapd.
 *
 *	bulk   ███fsync┐░░░░░░░░░░░░░    gives it work, by the wakeup that ends its idle wait
 *	jbd2   ░░░░░░░░└█▒▒▒disk▒▒▒▒█    works until its next idle wait
 *	front      ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒█    waits for it
 */
#ifndef LIBTIME_EXPLAIN_BEHIND_H
#define LIBTIME_EXPLAIN_BEHIND_H

#include "libtime/explain/evidence.h"

struct behind {
	uint64_t ns; /* how much of the windows is work that this thread gave; 0: not known */
	uint32_t thread; /* TL_NONE: a timer or an interrupt gave it */
	uint32_t path;   /* the stack with which it did; 0: not recorded */
};

/* Does a kernel thread wait for work in that interval? Then its main function, the one that
 * kthread() called, waits itself. */
int kthread_is_idle(const struct timeline *tl, const struct offcpu *o);

/* Who gave a kernel thread most of its work in the windows. A worker that hands work on is
 * followed to who gave it that. */
struct behind kthread_behind(const struct timeline *tl, const struct window *w, size_t n);

#endif
