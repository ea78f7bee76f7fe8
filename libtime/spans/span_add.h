/*
 * span_add.h - spans from other sources, put among those of a finished timeline.
 */
#ifndef LIBTIME_SPANS_SPAN_ADD_H
#define LIBTIME_SPANS_SPAN_ADD_H

#include "libtime/sched/timeline.h"

/* Order timeline.spans by start, equal ones as they were; parents and labels follow. ERR_NOMEM.
 */
int spans_sort(struct timeline *tl);

/*
 * Add n spans of the timeline's own times and threads (or TL_NONE), with the parents that they
 * have among each other, and labels by index of v. Their parts, which sum up to end - start,
 * and OFF_SUSPECT are set here; time outside of a thread's recorded life, or without a thread,
 * is unknown. The timeline must be finished. ERR_NOMEM, ERR_LIMIT past 2^32 - 2 spans: then
 * the timeline is to be released.
 */
int spans_add(struct timeline *tl, const struct tl_span *v, size_t n,
	      const struct tl_label *labels, size_t nlabels, struct err *e);

#endif
