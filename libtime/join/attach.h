/*
 * attach.h - a side file's spans, put on a timeline: on its clock, to its threads.
 *
 * A span that names a tid belongs to the thread that had it then, if the pid and name that the
 * span gives agree; one that names a process, to its thread if that had only one (of the name
 * given) then. All others have no thread: what was done in them can be told of threads that
 * somebody chooses (windows), not of the span. Nor of spans that overlap others of their thread
 * in a way that one thread's work cannot (side_nesting).
 */
#ifndef LIBTIME_JOIN_ATTACH_H
#define LIBTIME_JOIN_ATTACH_H

#include "libtime/join/clock.h"

struct side_counts {
	uint64_t spans;      /* put on the timeline */
	uint64_t outside;    /* not: they lie before or behind the recording */
	uint64_t threadless; /* name neither thread nor process */
	uint64_t strangers;  /* name a thread or process that was not recorded, or more than one
			      */
	uint64_t overlapped; /* share their thread with other spans */
};

/* The timeline is one finished recording. A span that reaches over the recording's edge is
 * OFF_OPEN, with its own length. ERR_NOMEM, ERR_LIMIT: then the timeline is to be released. */
int side_attach(struct timeline *tl, const struct side *side, const struct side_clock_map *map,
		struct side_counts *out, struct err *e);

#endif
