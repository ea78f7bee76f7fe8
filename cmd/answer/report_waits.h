/*
 * report_waits.h - the scheduler's half of `perfkit report`: what each thread did with its
 * time.
 *
 * Its waits are those that `tail` ranks: less their idle parts, which have a column of their
 * own. perf sched timehist calls runnable time sch delay, and idle + blocked + runnable wait
 * time.
 */
#ifndef CMD_ANSWER_REPORT_WAITS_H
#define CMD_ANSWER_REPORT_WAITS_H

#include "cmd/answer/report_tables.h"

/* Of what passes --comm, --pid, --tid, --cpu and --time (a wait by its name then, and by the
 * CPU it left or came back to; running time by the CPU it was on): print totals and the table
 * of the threads that waited longest. 0, or the exit status. */
int report_waits(struct tlinput *ti, const struct report_opts *o);

#endif
