/*
 * place_gaps.h - puts a side file's gaps on a timeline.
 */
#ifndef LIBTIME_JOIN_PLACE_GAPS_H
#define LIBTIME_JOIN_PLACE_GAPS_H

#include "libtime/join/clock.h"

struct side_placed {
	uint64_t gaps;      /* put on the timeline */
	uint64_t outside;   /* left out: before or after the recording */
	uint64_t rough;     /* of `gaps`: those known only to be within an interval */
	uint64_t length_ns; /* of the longest such interval */
};

/*
 * Gaps without a CPU belong to `cpu` (if that is -1: ERR_USAGE). If the file names no spinner,
 * it is the thread that had the CPU longest from its first gap to its last, unless another had
 * half as much. The timeline is finished. ERR_NOMEM.
 */
int side_place_gaps(struct timeline *tl, const struct side *side,
		    const struct side_clock_map *map, int cpu, struct side_placed *out,
		    struct err *e);

#endif
