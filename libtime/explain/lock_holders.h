/*
 * lock_holders.h - which threads held a lock while a thread waited for it, from the last to the
 * first: the one that let it go and so ended the wait, the one that let it go before, and so on.
 *
 *	wal    ░░░░░▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒    the wait, which c ended
 *	c      ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒██████┘     c has held it since it waited for it itself;
 *	b      ▒▒▒▒▒▒▒▒▒██████┘            before that b, which woke c,
 *	flush  ██████████┐ sleeps          and before that flush, which woke b
 *
 * A thread that waits for the lock does not hold it, whatever it does next. A woken waiter counts
 * as holder from its wakeup on. Not if it found the lock taken and waits again: then whoever let
 * it go next had it, since another thread let it go. Nor before it had a CPU, if another thread
 * may have taken the lock meanwhile. Three more things bound a turn: the owner that a probe read;
 * the function that lets the lock go, if it also takes it (the thread has the lock only while
 * that is on its stack); the begin of the wait. What is left is nobody's.
 */
#ifndef LIBTIME_EXPLAIN_LOCK_HOLDERS_H
#define LIBTIME_EXPLAIN_LOCK_HOLDERS_H

#include "libtime/explain/evidence.h"

/*
 * Fill *out with the holders of the lock that the blocked interval `offcpu` waited for: windows
 * in order of time from its begin to its wakeup, without gaps, of other threads; TL_NONE where
 * the holder is not known, also where the search for it was given up. Empty if it waited for no
 * lock, or for one that cannot be told from others. ERR_NOMEM.
 */
int lock_holders(struct evidence *x, uint32_t offcpu, windows_vec *out, struct err *e);

struct lock_readers {
	uint64_t ns;   /* of the wait: one of them or more had the lock */
	uint32_t n;    /* how many had it */
	uint32_t comm; /* strings id: the name of all; 0: they have several */
};

/* If the holders of the lock that `offcpu` waited for were readers whose turns overlapped, so
 * that the lock did not become free: 1 and *out, else 0. ERR_NOMEM. */
int lock_readers(struct evidence *x, uint32_t offcpu, struct lock_readers *out, struct err *e);

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
