/*
 * segments.h - overlapping address ranges as sorted, disjoint segments.
 *
 *	spans   [------ 0 ------)      segments  0   1   2    none
 *	           [-- 1 --)                     |   |   |    |
 *	                [---- 2 ----)
 *
 * Where several ranges cover an address, the one with the highest id wins.
 */
#ifndef LIBSYM_DWARF_SEGMENTS_H
#define LIBSYM_DWARF_SEGMENTS_H

#include "base/search.h"
#include "base/vec.h"

#include <stdint.h>

enum { SPAN_NONE = UINT32_MAX };

struct span { /* [lo, hi) */
	uint64_t lo, hi;
	uint32_t id; /* below SPAN_NONE */
};
typedef VEC(struct span) spans_vec;

struct span_seg { /* [va, next segment's va) */
	uint64_t va;
	uint32_t id; /* SPAN_NONE = a gap; the last segment is always one */
};
typedef VEC(struct span_seg) span_segs_vec;

/* Sort `spans` in place and append their segments to *segs: at most 2 per span, in O(n log n).
 * 0 or ERR_NOMEM. */
int segments_build(spans_vec *spans, span_segs_vec *segs);

/* The id at va, or SPAN_NONE. */
static inline uint32_t segments_find(const span_segs_vec *segs, uint64_t va)
{
	size_t lo = PARTITION_POINT(i, 0, segs->n, segs->v[i].va <= va);
	return lo ? segs->v[lo - 1].id : SPAN_NONE;
}

#endif
