/*
 * lock_holders.h - which threads held a lock while a thread waited for it: the owner that the
 * probe on lock_wait read, then those that got it next, up to the thread that ended the wait.
 *
 *	wal    ░░░░░▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒    the wait; the probe read owner=flush
 *	flush  ██████████┐sleeps           held it until it woke b, another waiter
 *	b      ▒▒▒▒▒▒▒▒▒▒██┐               from then on b, until it woke c
 *	c      ▒▒▒▒▒▒▒▒▒▒▒▒██████┘         and c, which ended the wait
 *
 * The probe shows only the owner at the wait's begin; what that thread did after it released
 * the lock explains nothing. An owner has released it when it wakes another thread that waits
 * for this lock, or when another waiter's probe read a different owner.
 */
#ifndef LIBTIME_EXPLAIN_LOCK_HOLDERS_H
#define LIBTIME_EXPLAIN_LOCK_HOLDERS_H

#include "libtime/explain/evidence.h"

/*
 * Fill *out with the holders of the lock that the blocked interval `offcpu` waited for: windows
 * in order of time from its begin to its wakeup, without gaps, of other threads. Empty if no
 * probe with a field `owner` was hit just before it. A woken waiter counts as holder from its
 * wakeup on. ERR_NOMEM.
 */
int lock_holders(struct evidence *x, uint32_t offcpu, windows_vec *out, struct err *e);

/*
 * A wait for a lock that timed out and was begun again at once, with the same stack, is one
 * wait together with the next tries; the last one's end shows the holder (CPython's GIL: 5 ms,
 * HotSpot's monitors):
 *
 *	▒▒▒▒▒▒▒▒│▒▒▒▒▒▒▒▒│▒▒▒▒▒┘ woken by the holder
 *	 timed out        └ the index returned for all three
 *
 * Returns `offcpu` for other waits.
 */
uint32_t lock_last_try(const struct timeline *tl, uint32_t offcpu);

/* The same, but `offcpu` if the last try has no recorded waker. */
uint32_t lock_retried(const struct timeline *tl, uint32_t offcpu);

#endif
