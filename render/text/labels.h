/*
 * labels.h - what side files say of a span, its key and labels, as text and as JSON.
 */
#ifndef RENDER_TEXT_LABELS_H
#define RENDER_TEXT_LABELS_H

#include "base/text/buf.h"
#include "libtime/sched/timeline.h"
#include "render/text/json.h"

/* "req-17 (route=/pay, status=200)", in visible form; nothing of a span without either. */
void labels_words(struct buf *b, const struct timeline *tl, uint32_t span);

/* What was counted in it: "page-faults 12, task-clock 0.4 ms"; nothing where nothing was. "≥":
 * at least; "~": extrapolated. */
void counters_words(struct buf *b, const struct timeline *tl, uint32_t span);

/* "counters":[{"event","value","error" or null where no limit is known,"scaled"}, ...] */
void counters_json(struct json *j, const struct timeline *tl, uint32_t span);

/* "labels":[{"key","value"}, ...] */
void labels_json(struct json *j, const struct timeline *tl, uint32_t span);

#endif
