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
 * Take the spans in that were put behind the first `base` ones of the timeline: of its own
 * times and threads (or TL_NONE), with parents and labels by index of timeline.spans. Their
 * parts, which sum up to end - start, and OFF_SUSPECT are set here; time outside of a thread's
 * recorded life, or without a thread, is unknown. The timeline must be finished. ERR_NOMEM:
 * then the timeline is to be released.
 */
int spans_added(struct timeline *tl, size_t base, struct err *e);

#endif
