/*
 * report_waits.h - the scheduler's half of `perfkit report`: what each thread did with its
 * time.
 *
 * Its waits are those that `tail` ranks: less their idle parts, which have a column of their
 * own. perf sched timehist calls runnable time sch delay, and idle + blocked + runnable wait
 * time.
 */
#ifndef CMD_REPORT_WAITS_H
#define CMD_REPORT_WAITS_H

#include "cmd/query/timeline_input.h"

/* Of what passes --comm, --pid, --tid, --cpu and --time (a wait by its name then, and by the
 * CPU it left or came back to; running time by the CPU it was on): print totals, the table of
 * the `top` (0 = all) threads that waited longest, and what the recording lacks. `system`:
 * kernel threads and perf too. 0 or ERR_NOMEM. */
int report_waits(const struct tlinput *ti, int top, int system);

#endif
