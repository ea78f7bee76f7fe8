/*
 * budget.h - bounds the memory and output of commands that read untrusted files.
 *
 * The bounds of nested formats multiply, so there is one for all: --max-memory, by default 2
 * GB, for the memory of this process (RLIMIT_DATA; mapped files and tables that bigvec.h has
 * moved to disk do not count), and for each file written or stream printed. --force removes it.
 */
#ifndef CMD_INPUT_BUDGET_H
#define CMD_INPUT_BUDGET_H

#include "cmd/cli/opt.h"

#include <stdint.h>

/* Make room on the stack, of the main thread and of others, if the limit is low. 0, or the exit
 * status after a line on stderr if that is not allowed. */
int budget_stack(void);

/* Set the bounds, if the verb has them (it uses input_rows). 0, or 2 after a line on stderr. */
int budget_begin(const struct verb *v, const void *opts);

/* The most bytes of an output; 0: no bound. */
uint64_t budget_output(void);

/* The exit status for a shortage: 3 if --max-memory was reached, else 1. */
int budget_status(void);

#endif
