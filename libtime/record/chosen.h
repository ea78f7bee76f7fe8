/*
 * chosen.h - turns the choice of threads whose stacks are recorded into filters of the
 * scheduler's events.
 *
 * Switches of all threads are needed to know which thread had the CPU, and which woke which;
 * stacks, which are nine tenths of the bytes, only of the threads in question. A process is
 * filtered by the names of its threads, so that threads it starts later have stacks, too, and
 * by its id, which its main thread keeps when it execs and gets another name.
 */
#ifndef LIBTIME_RECORD_CHOSEN_H
#define LIBTIME_RECORD_CHOSEN_H

#include "libtime/record/plan.h"

/* The user's choice; texts are borrowed, NULL: not given. */
struct chosen_wish {
	const char *pid, *tid; /* lists of ids */
	const char *cpus;      /* "0,2-3" */
	const char *cgroup;    /* path, absolute or below /sys/fs/cgroup */
	const char *comm;      /* globs of thread names */
	int copies;            /* how much of their stacks is copied depends on what they use */
};

/* A thread that was found for it. */
struct chosen_thread {
	long pid, tid;
	char comm[16];
};

/* 1 if anything was chosen. */
int chosen_any(const struct chosen_wish *w);

/* ERR_USAGE if more than one way to choose is given. */
int chosen_check(const struct chosen_wish *w, struct err *e);

/*
 * Make the filters for the n threads that were found. ERR_USAGE if the list of CPUs is
 * malformed, or a filter cannot contain all names; ERR_NOMEM. The caller releases *out in any
 * case.
 */
int chosen_filters(struct chosen *out, const struct chosen_wish *w,
		   const struct chosen_thread *v, size_t n, struct err *e);
void chosen_release(struct chosen *c);

/* How many bytes of stack to copy if at most `used` are in use; 0: not known. */
int chosen_copy(uint64_t used);

#endif
