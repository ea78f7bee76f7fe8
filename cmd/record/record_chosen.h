/*
 * record_chosen.h - finds the threads whose stacks are recorded, and what their stacks have in
 * use, in /proc.
 */
#ifndef CMD_RECORD_RECORD_CHOSEN_H
#define CMD_RECORD_RECORD_CHOSEN_H

#include "libtime/record/chosen.h"

/*
 * Find them, make the filters, and look for half a second at how much of their stacks is in use;
 * meanwhile the trial of `x` runs (NULL: none). ERR_USAGE if no thread has that id or name, or as
 * chosen_filters; ERR_NOMEM. The caller releases *out in any case.
 */
int chosen_find(struct chosen *out, const struct chosen_wish *w, const struct record_wish *x,
		struct err *e);

#endif
