/*
 * report_waits.h - the scheduler's half of `perfkit report`: how threads spent their time.
 *
 * Its waits are those that `tail` ranks; their idle parts have a column of their own. perf
 * sched timehist calls runnable time sch delay, and idle + blocked + runnable time wait time.
 */
#ifndef CMD_ANSWER_REPORT_WAITS_H
#define CMD_ANSWER_REPORT_WAITS_H

#include "cmd/answer/report_tables.h"

/* Append totals and the table of the threads that waited longest, of what passes --comm, --pid,
 * --tid, --cpu and --time. A wait has its thread's name at the time, and the CPUs that it left
 * and came back to; running time has its CPU. 0, or the exit status. */
int report_waits(struct tlinput *ti, const struct report_opts *o, struct buf *out);

#endif
