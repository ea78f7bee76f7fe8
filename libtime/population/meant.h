/*
 * meant.h - who is meant if nobody says: the processes that a recording was made for, and their
 * children. A recording of all CPUs shows the whole machine, but it was made for somebody: for
 * the command that perf ran, or for the threads whose stacks `perfkit record` recorded. The
 * timeline keeps who that was as facts, so that a store answers like its recording.
 *
 *	command line ──recorded_for_read──► struct recorded_for ┐
 *	processes and their names (machine), activity ──────────┴─meant_find─► struct meant
 *	struct meant ──meant_keep──► facts ──meant_mark──► THREAD_MEANT
 */
#ifndef LIBTIME_POPULATION_MEANT_H
#define LIBTIME_POPULATION_MEANT_H

#include "base/text/buf.h"
#include "libsym/process/activity.h"
#include "libsym/process/machine.h"
#include "libtime/sched/timeline.h"

/* Whom a command line names. Zero-initialised: nobody. */
struct recorded_for {
	int whole;            /* all tasks of the CPUs were recorded, not those of some */
	VEC(int32_t) ids;     /* of processes or threads */
	VEC(char *) comms;    /* globs of thread names, if there are no ids */
	const char *command;  /* the program that perf ran, borrowed; NULL: none */
	const char *recorder; /* the program that recorded, borrowed; NULL: not known */
};

/* Release everything that is not borrowed. */
void recorded_for_release(struct recorded_for *w);

/* The processes that are meant. Zero-initialised: no choice, so all are. */
struct meant {
	VEC(int32_t) pids; /* ascending */
	struct buf name;   /* of their programs: "redis-server", "make, cc1 and 3 more" */
};

/*
 * Choose among the processes of `m`, which has applied all records. Those that `w` names are
 * always meant. The command that perf ran is only if it worked: if its processes have at least
 * 1 % of the samples of all programs but the recorder, and in more than a few moments
 * (activity.h). The recorder is never meant, and no process is for being a child of process 1.
 * ERR_NOMEM.
 */
int meant_find(struct meant *out, const struct recorded_for *w, const struct machine *m,
	       const struct activity *a, struct err *e);

/* 1 if a process is meant. */
int meant_has(const struct meant *w, int32_t pid);

/* Release everything. */
void meant_release(struct meant *w);

/* Keep the choice as facts of a timeline of one recording: kind "population". Does nothing
 * without a choice. ERR_NOMEM. */
int meant_keep(struct meant *w, struct timeline *tl, struct err *e);

/*
 * Mark the threads, samples of tracepoints and sums of processes that are meant, of recordings
 * without a choice all. *any: 1 if some recording has a choice. Appends the names to `name`.
 * ERR_NOMEM.
 */
int meant_mark(struct timeline *tl, int *any, struct buf *name, struct err *e);

#endif
