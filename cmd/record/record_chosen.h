/*
 * record_chosen.h - turns the choice of threads whose stacks are recorded into filters of the
 * scheduler's events.
 *
 * Switches of all threads are needed to know which thread had the CPU, and which woke which;
 * stacks, which are nine tenths of the bytes, only of the threads in question. A process is
 * filtered by the names of its threads, so that threads it starts later have stacks, too.
 */
#ifndef CMD_RECORD_RECORD_CHOSEN_H
#define CMD_RECORD_RECORD_CHOSEN_H

#include "libtime/record/plan.h"

/* The user's choice; texts are borrowed, NULL: not given. */
struct chosen_wish {
	const char *pid, *tid; /* lists of ids */
	const char *cpus;      /* "0,2-3" */
	const char *cgroup;    /* path, absolute or below /sys/fs/cgroup */
	const char *comm;      /* globs of thread names */
};

/* 1 if anything was chosen. */
int chosen_any(const struct chosen_wish *w);

/*
 * Make the filters. ERR_USAGE if no thread has that id or name, a list is malformed, or a
 * filter cannot contain all names; ERR_NOMEM. The caller releases *out in any case.
 */
int chosen_find(struct chosen *out, const struct chosen_wish *w, struct err *e);
void chosen_release(struct chosen *c);

#endif
