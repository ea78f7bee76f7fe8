/*
 * call_sites.h - the direct calls in code, by target.
 *
 * Made once from the bytes of a segment's code (arch.h next_call). Bytes that only look like a
 * call are included: callers check results against the stack.
 */
#ifndef LIBSYM_UNWIND_CALL_SITES_H
#define LIBSYM_UNWIND_CALL_SITES_H

#include "base/vec.h"

#include <stdint.h>

struct cfi;

struct callsite {
	uint32_t target;  /* of the call, as an offset from base */
	uint32_t returns; /* the return address, likewise */
};

struct callsites {
	uint64_t base;              /* address in the file of the first byte searched */
	VEC(struct callsite) sites; /* sorted by target, then return address */
};

/* Find the calls within the segment around va, in at most 32 MB of it; none without code at va.
 * 0 or ERR_NOMEM; call callsites_release in both cases. */
int callsites_init(struct callsites *s, const struct cfi *c, uint64_t va);
void callsites_release(struct callsites *s);

/* The calls of the function at `target`: the first of *n. */
const struct callsite *callsites_of(const struct callsites *s, uint64_t target, size_t *n);

#endif
