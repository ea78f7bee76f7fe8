/*
 * span_add.h - adds spans from side files to a finished timeline.
 */
#ifndef LIBTIME_SPANS_SPAN_ADD_H
#define LIBTIME_SPANS_SPAN_ADD_H

#include "libtime/sched/part_sums.h"

/* Sort timeline.spans by start, stably, with their parents and labels. ERR_NOMEM. */
int spans_sort(struct timeline *tl);

/* Set the parts of a span, which add up to end - start, and OFF_SUSPECT. Time outside its
 * threads' recorded lives, or without a thread, is unknown. */
void span_set_parts(const struct part_sums *parts, struct tl_span *x);

/*
 * Complete the spans that the caller appended after the first `base` of timeline.spans, with
 * times and threads (or TL_NONE) of the timeline, and parents and labels by index of
 * timeline.spans: set their parts and sort. The timeline must be finished. ERR_NOMEM: then
 * release the timeline.
 */
int spans_added(struct timeline *tl, size_t base, struct err *e);

#endif
