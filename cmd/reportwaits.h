/*
 * reportwaits.h - the scheduler's half of `perfkit report`: what each thread did with its time.
 *
 * Words are perf sched timehist's: run time, sch delay (runnable until switched in), wait time
 * (blocked + sch delay).
 */
#ifndef CMD_REPORTWAITS_H
#define CMD_REPORTWAITS_H

#include "cmd/tlinput.h"

/* Print totals, the table of the `top` (0 = all) threads that waited longest, and what the
 * recording lacks. `system`: kernel threads and perf too. 0 or ERR_NOMEM. */
int report_waits(const struct tlinput *ti, int top, int system);

#endif
