/*
 * attach.h - puts a side file's spans on a timeline: on its clock, on its threads.
 *
 * A span with a tid belongs to the thread that had it then, if the span's pid and thread name
 * agree; one with only a pid, to the process's thread if it had one thread (of that name) then.
 * All others are windows: perfkit shows what chosen threads did meanwhile, but not whose work
 * the span was. So are spans that overlap others of their thread as one thread's work cannot
 * (side_nesting).
 */
#ifndef LIBTIME_JOIN_ATTACH_H
#define LIBTIME_JOIN_ATTACH_H

#include "libtime/join/clock.h"

struct side_counts {
	uint64_t spans;      /* put on the timeline */
	uint64_t outside;    /* left out: before or after the recording */
	uint64_t threadless; /* without a thread or process */
	uint64_t unmatched;  /* of a thread or process that was not recorded, or of several
			      */
	uint64_t overlapped; /* share their thread with other spans */
};

/* The timeline is one finished recording. A span that extends past the recording's edge is
 * OFF_OPEN and keeps its length. ERR_NOMEM, ERR_LIMIT: then release the timeline. */
int side_attach(struct timeline *tl, const struct side *side, const struct side_clock_map *map,
		struct side_counts *out, struct err *e);

#endif
