/*
 * bind.h - puts a side file's label histories on a timeline, where trampolines are frames.
 */
#ifndef LIBTIME_JOIN_BIND_H
#define LIBTIME_JOIN_BIND_H

#include "libsym/profile.h"
#include "libtime/join/clock.h"

struct side_bound {
	uint64_t bindings;    /* put on the timeline */
	uint64_t trampolines; /* functions of these bindings */
	uint64_t unseen;      /* of these, on no recorded stack */
	uint64_t unmatched;   /* of these, of a process that was not recorded */
	uint64_t shared;      /* of these, given by address: in one function with another, which
			       * stacks cannot tell apart */
};

/* A frame is a trampoline if its function has that name, with or without return type, outer
 * namespaces and arguments, or is what `p` has at the trampoline's address. Recording and
 * stacks are finished. ERR_REFUSED for addresses without `p`: a store has no mappings.
 * ERR_NOMEM: then release the timeline. */
int side_bind(struct timeline *tl, struct profile *p, const struct side *side,
	      const struct side_clock_map *map, struct side_bound *out, struct err *e);

#endif
