/*
 * ranges.h - trampolines that a side file knows by address: which frames they are.
 *
 *	tramp 8 0x55d0c0de1a20 0x55d0c0de1a40
 *	         └── code_at: search::call in /srv/server, at its offset 0x1a20
 *	frames   search::call of that file, or without a name, offsets 0x1a20 .. 0x1a3f
 */
#ifndef LIBTIME_JOIN_RANGES_H
#define LIBTIME_JOIN_RANGES_H

#include "libsym/profile.h"
#include "libtime/join/clock.h"

/* Frames of a file: those of the symbol `name` that begins at `low`, or without a name (0), in
 * [low, high). */
struct frame_range {
	uint64_t low, high;
	uint32_t file, name;
	int32_t pid;
	uint32_t trampoline; /* index of side.trampolines */
};

struct ranges {
	VEC(struct frame_range) v; /* by file, name and low */
	uint64_t shared;           /* as side_bound has it */
};

/* Zero-initialised *out is the caller's to release. ERR_NOMEM. */
int ranges_find(struct ranges *out, struct profile *p, const struct side *side,
		const struct side_clock_map *map);
void ranges_release(struct ranges *r);

/* The ranges that a frame is in: *n of them from the one returned on. */
const struct frame_range *ranges_of(const struct ranges *r, const struct frame *f, size_t *n);

#endif
