/*
 * perfetto.h - a timeline as a trace of Perfetto: packets that ui.perfetto.dev and
 * trace_processor read.
 *
 *	run of a thread on a CPU   sched_switch at both ends, as ftrace records it: the UI makes
 *	                           its tracks of CPUs and of threads' states out of these
 *	wakeup of a wait           sched_waking on the waker's CPU, in the waker's name; in an
 *	                           interrupt that of process 0, marked with its context
 *	sample                     PerfSample with an interned call stack and its event's count
 *	                           so far on that CPU; each event is a sequence of its own
 *	switch-out with a stack    the same, of sched:sched_switch
 *	span                       a slice of its thread's track, with its key and labels as
 *	                           annotations; if it does not nest there, changes threads or
 *	                           has none, of a track of its own
 *	worst episode (worst.h)    a slice below its thread, with those of its waits in it; a flow
 *	                           from the waker's "wakeup" to where it made it runnable
 *	lost records, holes        a slice of a track of its own; the CPU looks idle there
 *
 * Times are those of the recording's clock. A thread that had its tid after another one shares
 * that one's track.
 *
 * The format: github.com/google/perfetto, protos/perfetto/trace; the files that define the
 * fields are named beside them.
 */
#ifndef RENDER_EXPORT_PERFETTO_H
#define RENDER_EXPORT_PERFETTO_H

#include "libtime/population/population.h"

#include <stdio.h>

/* Write a finished timeline of one recording with its causes to `f`; its strings may grow. Runs
 * and wakeups are always whole; of the rest, what has the label of `of`. ERR_NOMEM, ERR_IO. */
int perfetto_write(struct timeline *tl, const struct population *of, FILE *f, struct err *e);

#endif
