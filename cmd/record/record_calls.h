/*
 * record_calls.h - `perfkit record calls`: counters of each call of functions and lines.
 */
#ifndef CMD_RECORD_RECORD_CALLS_H
#define CMD_RECORD_RECORD_CALLS_H

#include "libtime/record/calls.h"

struct calls_request {
	const char *binary; /* NULL: unknown */
	const char *const *regions;
	size_t nregions;
	struct calls_wish wish;
	int list, dry_run;
};

/* Record, or print what would run. Returns the exit status; `e` has the error. */
int record_calls(const struct calls_request *q, struct err *e);

/* 1 if the kernel has probes named perfkit:* : another recording uses them, or did not remove
 * them. */
int record_probes_are_taken(void);

/* Define the kernel's probes, or with `undo` remove them. ERR_IO, ERR_UNSUPPORTED. */
int record_calls_define(const struct calls *c, const char *binary, int undo, struct err *e);

#endif
