/*
 * worst.h - the worst episodes of one recording: what exports say of it in place of a question.
 *
 *	worst_collect(&w, &tl, NULL, &e);
 *	for (size_t i = 0; i < w.v.n; i++) ... w.v.v[i] ...
 *	worst_release(&w);
 */
#ifndef LIBTIME_EXPLAIN_WORST_H
#define LIBTIME_EXPLAIN_WORST_H

#include "base/text/buf.h"
#include "libtime/population/population.h"

enum { WORST_MOST = 1000 }; /* of waits, and of spans of one name */

/* One of them, as `tail` explains it. Names are strings ids of the timeline's stacks. */
struct worst_episode {
	uint64_t start_ns, end_ns, population, root_ns;
	uint32_t name, nth, thread, comm, path;
	uint32_t root_comm, root_process, root_function;
	uint8_t kind, cause, state, root_state, root_cause;
};

struct worst {
	VEC(struct worst_episode) v;
};

/* The waits, and the spans of each name, from p99.9 on, of a finished timeline with its causes,
 * whose strings may grow; none where most of them were not seen whole, of which `tail` says
 * nothing either. With the label of `of`, if that is not NULL. ERR_NOMEM; then, too, *w is to
 * be released. */
int worst_collect(struct worst *w, struct timeline *tl, const struct population *of,
		  struct err *e);
void worst_release(struct worst *w);

/* Append a frame's name as `tail` has it: what has none is known by its file. */
void worst_frame_name(struct buf *b, const struct timeline *tl, uint32_t frame);

#endif
