/*
 * tail_json.h - the answer of `tail` for programs: JSON (schema 2) and CSV.
 *
 * The schema is fixed: keys are added, never changed. Times are ns; start_ns and end_ns count
 * from recording.origin_ns (the first record), which is a string, so that no reader loses
 * digits. What does not apply or is not known is null. Stacks are root first. Of a store's
 * several recordings, "recordings" lists each with its id, an episode says by "recording" which
 * it is of, and its times count from that one's origin_ns.
 */
#ifndef RENDER_TAIL_TAIL_JSON_H
#define RENDER_TAIL_TAIL_JSON_H

#include "libtime/explain/tail_model.h"
#include "base/text/buf.h"

/* Append the JSON object and a newline; the first `rows` episodes (0 = all). ERR_NOMEM. */
int tailjson_write(struct buf *b, struct tail *t, uint64_t rows, struct err *e);

/* The median one of the episodes that were seen whole, as an object with the members that do
 * not depend on being chosen, or null. ERR_NOMEM. */
int tailjson_median(struct buf *b, struct tail *t, struct err *e);

/* Append a header line and one line an episode (RFC 4180, "\n" ends). ERR_NOMEM. */
int tailcsv_write(struct buf *b, struct tail *t, uint64_t rows, struct err *e);

#endif
