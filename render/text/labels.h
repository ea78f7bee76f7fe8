/*
 * labels.h - a span's key and labels from side files, as text and as JSON.
 */
#ifndef RENDER_TEXT_LABELS_H
#define RENDER_TEXT_LABELS_H

#include "base/text/buf.h"
#include "libtime/sched/timeline.h"
#include "render/text/json.h"

/* "req-17 (route=/pay, status=200)", in visible form; nothing for a span without either. */
void labels_words(struct buf *b, const struct timeline *tl, uint32_t span);

/* A span's counters: "page-faults 12, task-clock 0.4 ms"; nothing if it has none. "≥": at
 * least; "~": extrapolated. */
void counters_words(struct buf *b, const struct timeline *tl, uint32_t span);

/* "counters":[{"event","value","error" or null where no limit is known,"scaled"}, ...] */
void counters_json(struct json *j, const struct timeline *tl, uint32_t span);

/* "labels":[{"key","value"}, ...] */
void labels_json(struct json *j, const struct timeline *tl, uint32_t span);

#endif
