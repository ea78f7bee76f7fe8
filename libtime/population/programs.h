/*
 * programs.h - threads that belong together: a program is all processes of one name, and a
 * process has the name of its first thread.
 */
#ifndef LIBTIME_POPULATION_PROGRAMS_H
#define LIBTIME_POPULATION_PROGRAMS_H

#include "base/text/buf.h"
#include "libtime/sched/timeline.h"

/* out[thread]: the name of its program, a strings id. `out` has room for all threads. ERR_NOMEM.
 */
int programs_of_threads(const struct timeline *tl, uint32_t *out);

/* The processes of a program: how many, and the lowest. */
enum { PROGRAM_PIDS = 2 };
struct program_pids {
	int32_t v[PROGRAM_PIDS]; /* ascending */
	size_t n;                /* may exceed the array */
};

/* Count a process, unless it is one of the lowest and was counted before: a pid may be given to
 * several threads one after the other. */
void program_add(struct program_pids *p, int32_t pid);

/* Append the option that asks about a program alone: "--pid 12,13", or "--comm NAME" if its
 * processes are many or not known. NAME is a shell's word, as recorded: escape it for a
 * terminal. */
void program_option(struct buf *b, const struct program_pids *p, const char *name);

/* The same for a program of a timeline, whose programs_of_threads are `of`. */
void program_option_of(struct buf *b, const struct timeline *tl, const uint32_t *of,
		       uint32_t name);

#endif
