/*
 * timeline_spans.h - what belongs to the spans of a timeline: labels, counters, the functions
 * that Python's trampolines stood for.
 */
#ifndef LIBTIME_SCHED_TIMELINE_SPANS_H
#define LIBTIME_SCHED_TIMELINE_SPANS_H

#include "libtime/sched/timeline.h"

/* 1 when a counter counts nanoseconds. */
int counter_is_time(const char *event);

/* Sort trampolines by frame, then by history. */
void timeline_sort_trampolines(struct timeline *tl);

/* The first unused number for a history. */
uint32_t timeline_next_history(const struct timeline *tl);

/* The labels of a span: timeline.labels[*first], and how many. */
size_t timeline_labels_of(const struct timeline *tl, uint32_t span, size_t *first);

/* The value of a span's label (strings ids); 0 if it has no label with that key. */
uint32_t timeline_label(const struct timeline *tl, uint32_t span, uint32_t key);

/*
 * The thread in whose row a span is drawn: its own. A span without a thread, which waited in a
 * queue, is drawn with the thread that took it out: there a span of the same key begins as it
 * ends. TL_NONE if no thread did.
 */
uint32_t timeline_span_thread(const struct timeline *tl, uint32_t span);

/* Sort counters by span, then by event. */
void timeline_sort_counters(struct timeline *tl);

/* The counters of a span: timeline.counters[*first], and how many. */
size_t timeline_counters_of(const struct timeline *tl, uint32_t span, size_t *first);

/* A span's counter of an event (strings id), or NULL. */
const struct tl_counter *timeline_counter(const struct timeline *tl, uint32_t span,
					  uint32_t event);

#endif
