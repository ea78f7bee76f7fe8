/*
 * tail_events.h - the other events inside an episode: single events (marks) of its thread, and
 * spans of that thread.
 */
#ifndef RENDER_TAIL_TAIL_EVENTS_H
#define RENDER_TAIL_TAIL_EVENTS_H

#include "base/text/buf.h"
#include "libtime/explain/chain.h"

/* Events of one name inside an episode. */
struct inner_event {
	uint64_t count, ns; /* ns: of spans, their time inside the episode */
	uint64_t first_ns;
	uint32_t name, text; /* strings ids; text: the first one's fields; 0 for spans */
};
typedef VEC(struct inner_event) inner_events;

/* All events of an episode, in order of their first appearance; *out is emptied first, and the
 * caller releases it. ERR_NOMEM. */
int events_inside(struct evidence *ev, const struct episode *ep, inner_events *out,
		  struct err *e);

/*
 * The events inside an episode, in order of their first appearance, appended to b: "irq 3 times
 * (0.2 ms), probe:retry (id=17) at +1.2 ms". At most `max` names. Nothing is appended if there
 * are none. ERR_NOMEM.
 */
int describe_events(struct buf *b, struct evidence *ev, const struct episode *ep, size_t max,
		    struct err *e);

#endif
