/*
 * call_sites.h - where the direct calls in code lead, by their bytes (arch.h next_call).
 *
 * Made once from the code of a segment, then asked by target. Bytes that only look like a call
 * are in it, too: callers check what they find against the stack.
 */
#ifndef LIBSYM_UNWIND_CALL_SITES_H
#define LIBSYM_UNWIND_CALL_SITES_H

#include "base/vec.h"

#include <stdint.h>

struct cfi;

struct callsite {
	uint32_t target;  /* of the call, as an offset from base */
	uint32_t returns; /* where the call returns to, likewise */
};

struct callsites {
	uint64_t base;              /* address in the file of the first byte looked at */
	VEC(struct callsite) sites; /* sorted by target, then return address */
};

/* The calls within the segment around va, 32 MB of it at most. Without code at va there are
 * none. 0 or ERR_NOMEM; callsites_release is right after both. */
int callsites_init(struct callsites *s, const struct cfi *c, uint64_t va);
void callsites_release(struct callsites *s);

/* Those that call the function at `target`: the first, and how many follow it in place. */
const struct callsite *callsites_of(const struct callsites *s, uint64_t target, size_t *n);

#endif
