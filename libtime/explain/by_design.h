/*
 * by_design.h - waits that say nothing of whether a program was slow. They rank below the others
 * where no option says whose waits are asked for; nothing hides them.
 *
 *	blocked		where its thread spends most of its life, and not much longer than usual
 *			there: a ticker's sleep, the reader of a pipe that is empty most of the
 *			time; never a wait for a lock, a disk, a page or an
 *			answer over a connection that it made
 *	for a CPU	while the recorder had it; and, unless its program was recorded for or alone, of a
 *			thread that computes without waiting, or of low priority (nice 10 and more);
 *			never for a quota's next period
 */
#ifndef LIBTIME_EXPLAIN_BY_DESIGN_H
#define LIBTIME_EXPLAIN_BY_DESIGN_H

#include "libtime/explain/episodes.h"

/* Shorter waits than this are no tail of anything; they are not looked at. */
enum { DESIGN_LEAST_NS = 1000000 };

/* Set by_design of the waits in `x`, which was collected of `tl`. ERR_NOMEM. */
int by_design_mark(struct episodes *x, const struct timeline *tl, struct err *e);

#endif
