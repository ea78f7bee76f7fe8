/*
 * probe_cost.h - what the probes of a call add to the time between their samples: measured by
 * recording functions that do nothing, with the same counters. Functions have probes at entry
 * and return, lines at two instructions.
 *
 * The kernel emulates some instructions under a probe and steps over the others, which takes
 * ten times as long. So the empty functions begin with different instructions, and a region is
 * compared with the one that begins as it does; if none does, with the cheapest.
 */
#ifndef CMD_RECORD_PROBE_COST_H
#define CMD_RECORD_PROBE_COST_H

#include "libtime/record/calls.h"

enum { EMPTY_FUNCTIONS = 5 };

/* The mode of `perfkit record` that perf runs: calls the empty functions, which are in a file.
 * The exit status. */
#define EMPTY_CALLS "empty-calls"
int empty_calls(const char *path);

/* The median of each empty function's calls, by their probes: [1] at two of its instructions.
 */
struct probe_costs {
	uint64_t ns[2][EMPTY_FUNCTIONS];
};

/* Set probes on the empty functions, and run perf with the options and counters of `w` on them.
 * ERR_UNSUPPORTED where that fails. */
int probe_costs_measure(struct probe_costs *out, const struct calls_wish *w, struct err *e);

/* Append `fact probe` lines (libtime/build/fact_table.h) for the regions of `calls`, whose
 * first instructions are read from `binary`. */
void probe_costs_facts(struct buf *out, const struct probe_costs *costs,
		       const struct calls *calls, const char *binary);

#endif
