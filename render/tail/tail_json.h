/*
 * tail_json.h - the answer of `tail` for programs as JSON (schema 2).
 *
 * The schema is fixed: keys are added, never changed. Times are ns; start_ns and end_ns count
 * from recording.origin_ns (the first record), which is a string, so that no reader loses
 * digits. Members that do not apply or are not known are null. Stacks are root first. If a
 * store has several recordings, "recordings" lists each with its id; an episode's "recording"
 * is one of them, and its times count from that one's origin_ns.
 */
#ifndef RENDER_TAIL_TAIL_JSON_H
#define RENDER_TAIL_TAIL_JSON_H

#include "libtime/explain/tail_model.h"
#include "base/text/buf.h"

/* Append the JSON object and a newline; the first `rows` episodes (0 = all); with `said`
 * also the clauses of sentences. ERR_NOMEM. */
int tailjson_write(struct buf *b, struct tail *t, uint64_t rows, int said, struct err *e);

/* The median of the episodes recorded completely, as an object with the members that do not
 * depend on the selection, or null. ERR_NOMEM. */
int tailjson_median(struct buf *b, struct tail *t, struct err *e);

#endif
