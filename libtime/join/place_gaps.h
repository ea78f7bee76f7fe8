/*
 * place_gaps.h - a side file's gaps, put on a timeline.
 */
#ifndef LIBTIME_JOIN_PLACE_GAPS_H
#define LIBTIME_JOIN_PLACE_GAPS_H

#include "libtime/join/clock.h"

struct side_placed {
	uint64_t gaps;      /* put on the timeline */
	uint64_t outside;   /* left out: before or after the recording */
	uint64_t rough;     /* of `gaps`: those whose place is known only as an interval */
	uint64_t length_ns; /* of the longest such interval */
};

/*
 * Gaps that name no CPU are of `cpu` (-1: not told, ERR_USAGE). Where the file names no
 * spinner, it is the thread that had the CPU longest from its first gap to its last, if none
 * had half as much. The timeline is finished. ERR_NOMEM.
 */
int side_place_gaps(struct timeline *tl, const struct side *side,
		    const struct side_clock_map *map, int cpu, struct side_placed *out,
		    struct err *e);

#endif
