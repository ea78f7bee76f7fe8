/*
 * record_budget.h - --max-rate and --max-cpu: a plan that stays within them, and a recording
 * that ends where the load has grown past them.
 */
#ifndef CMD_RECORD_RECORD_BUDGET_H
#define CMD_RECORD_RECORD_BUDGET_H

#include "libtime/record/price.h"

/* Parse "20M" (bytes a second; B, K, M or G) and "1%" or "0.5" (of one CPU); NULL: no bound.
 * ERR_USAGE. */
int budget_parse(struct price_budget *b, const char *rate, const char *cpu, struct err *e);

/*
 * Count the plan's events for a second; if it would take more than the budget, plan again with
 * stacks that cost less, and say on stderr which were given up. `stacks` is room for w->stacks.
 * ERR_REFUSED: the events alone take more, or they cannot be counted; as record_plan.
 */
enum { BUDGET_STACKS = 24 };
int budget_fit(struct record_plan *plan, struct record_wish *w, const struct price_budget *b,
	       char stacks[BUDGET_STACKS], struct err *e);

/*
 * The same for perfkit's own recorder: how many bytes a second its stacks may take, in *stacks.
 * ERR_REFUSED if the events alone are too many; ERR_NOMEM.
 */
int budget_of_stacks(const struct record_plan *plan, const struct record_wish *w,
		     const struct price_budget *budget, uint64_t *stacks, struct err *e);

#endif
