/*
 * episode_id.h - names of single episodes: "wait:8859+0.539214456" is the wait of thread 8859
 * that began 0.539214456 s after the recording. Of a gap the number is that of its CPU.
 *
 * An id is the same in a recording and its bundles and stores, whichever filters leave the
 * episode: where --time or a rule cuts it, the id is that of the whole wait or span.
 */
#ifndef LIBTIME_EXPLAIN_EPISODE_ID_H
#define LIBTIME_EXPLAIN_EPISODE_ID_H

#include "base/text/buf.h"
#include "libtime/explain/episodes.h"

/* Append the id of an episode of that kind. */
void episode_id_put(struct buf *b, const struct timeline *tl, enum episode_kind kind,
		    const struct episode *ep);

/* Parse "wait:8859+0.539214456"; the kind may be left out, and so may digits: "8859+0.5392". 1,
 * or 0 if it is none. */
int episode_id_parse(const char *text, struct episode_id *out);

/* 2 if it is the id of the episode, 1 if its moment is inside of it, else 0. */
int episode_id_fits(const struct timeline *tl, const struct episode_id *id,
		    const struct episode *ep, enum episode_kind kind);

/* The name of the first span with that id (strings id); 0: there is none. */
uint32_t episode_id_span(const struct timeline *tl, const struct episode_id *id);

#endif
