/*
 * interpreter_lock.h - who held an interpreter's lock (Python's GIL), where wakeups do not show
 * it.
 *
 *	a  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒    waits for the lock, at times with a timeout
 *	b  ███████████████████     interprets: has it
 *	c  ░░░sleeps░░░░░░░░░░█    let it go before it slept, although it ends a's wait
 *
 * A thread has the lock while it interprets, and lets it go before it waits for anything else.
 */
#ifndef LIBTIME_EXPLAIN_INTERPRETER_LOCK_H
#define LIBTIME_EXPLAIN_INTERPRETER_LOCK_H

#include "libtime/explain/evidence.h"

/*
 * Correct the holders of the lock of class `lock` that `waiter` waited for: *v is windows in
 * order of time, without gaps, TL_NONE where nobody is known. Where that is so, or the holder
 * waited for something else, the one thread of the process that ran or wanted a CPU for three
 * quarters of the time, with an interpreter's function on its stack, has it. Several: TL_NONE.
 * ERR_NOMEM.
 */
int interpreter_holders(struct evidence *x, uint32_t waiter, uint64_t lock, windows_vec *v,
			struct err *e);

#endif
