/*
 * tailevents.h - what the recording's other events say about an episode: single events (marks)
 * of its thread, and spans of that thread that lie in it.
 */
#ifndef RENDER_TAILEVENTS_H
#define RENDER_TAILEVENTS_H

#include "base/buf.h"
#include "libstore/chain.h"

/*
 * The events inside an episode, in order of their first appearance, appended to b: "irq 3 times
 * (0.2 ms), probe:retry (id=17) at +1.2 ms". At most `max` names. Nothing is appended where
 * there are none. ERR_NOMEM.
 */
int words_events(struct buf *b, struct evidence *ev, const struct episode *ep, size_t max,
		 struct err *e);

#endif
