/*
 * gap_text.h - the answer of `tail --by gap` (libtime/explain/gap_answer.h) as text, JSON and
 * CSV.
 */
#ifndef RENDER_TAIL_GAP_TEXT_H
#define RENDER_TAIL_GAP_TEXT_H

#include "libtime/explain/gap_parts.h"
#include "render/tail/episodes_answer.h"

/* What used the CPU in the selected gaps, a table of the gaps, and the first ones in full.
 * ERR_NOMEM. */
int gaps_text(struct buf *b, const struct episodes_answer *a, struct err *e);

/*
 * {"schema":1,"by":"gap","interrupts_recorded","population":{"count","open","p50_ns" ...
 * "max_ns"},"episodes":[{"rank","cpu","start_ns","end_ns","duration_ns","open","placed",
 * "spinner":{"tid","pid","comm"},"parts":[{"by","tid","pid","comm","vector","ns"}]}],
 * "control":[{"cpu","count","p50_ns" ... "max_ns"}]}; start_ns, end_ns count from the
 * recording's first record and are null if the gap is not placed; "by" is a gap_part_kind_name.
 * ERR_NOMEM.
 */
int gaps_json(struct buf *b, const struct episodes_answer *a, struct err *e);

/* A line for each part of each gap, below a line of names; times are ns on the recording's
 * clock, empty if the gap is not placed. ERR_NOMEM. */
int gaps_csv(struct buf *b, const struct episodes_answer *a, struct err *e);

/* Append what took a part: "cc1/812", "local_timer", "[unexplained]". */
void gap_describe_taker(struct buf *b, const struct timeline *tl, const struct gap_part *p);

#endif
