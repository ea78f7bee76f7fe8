/*
 * record_chosen.h - the threads whose stacks are recorded, as filters of the scheduler's
 * events.
 *
 * Everybody's switches are needed to say who had the CPU and who woke whom; stacks, which are
 * nine tenths of the bytes, only of those one asks about. A process is filtered by the names of
 * its threads, so that threads which it starts later have stacks, too.
 */
#ifndef CMD_RECORD_RECORD_CHOSEN_H
#define CMD_RECORD_RECORD_CHOSEN_H

#include "libtime/record/plan.h"

/* What a user chose by; texts are borrowed, NULL: not given. */
struct chosen_wish {
	const char *pid, *tid; /* lists of ids */
	const char *cpus;      /* "0,2-3" */
	const char *cgroup;    /* path below /sys/fs/cgroup, or whole */
	const char *comm;      /* globs of thread names */
};

/* 1 when anything was chosen. */
int chosen_any(const struct chosen_wish *w);

/*
 * Make the filters. ERR_USAGE where nothing has that id or name, a list is none, or the names
 * are more than a filter holds; ERR_NOMEM. Release it in any case.
 */
int chosen_find(struct chosen *out, const struct chosen_wish *w, struct err *e);
void chosen_release(struct chosen *c);

#endif
