/*
 * budget.h - how much memory and output a verb that reads untrusted files may take.
 *
 * Bounds of single formats multiply where one is nested in another, so there is one for the
 * whole: --max-memory, by default 2 GB, for the memory of this process (RLIMIT_DATA; tables
 * that have left memory, see bigvec.h, and mapped files do not count) and for each file written
 * or stream printed. --force lifts it.
 */
#ifndef CMD_INPUT_BUDGET_H
#define CMD_INPUT_BUDGET_H

#include "cmd/cli/opt.h"

#include <stdint.h>

/* Set the bounds that the options ask for, if the verb is one of those that have them (it reads
 * input_rows). 0, or 2 after a line on stderr. */
int budget_begin(const struct verb *v, const void *opts);

/* The most bytes of an output; 0: no bound. */
uint64_t budget_output(void);

/* The exit status for a shortage: 3 where --max-memory was what ran out, else 1. */
int budget_status(void);

#endif
