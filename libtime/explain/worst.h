/*
 * worst.h - the worst episodes of one recording, for exports that have no question.
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

/* Collect the waits, and the spans of each name, that `tail` picks unless told otherwise: from
 * p99.9 on, at least PICK_LEAST; with the label of `of`, if that is not NULL. The timeline is
 * finished and has its causes; its strings may grow. Left out are those whose p99.9 is
 * uncertain, which `tail` does not answer either. ERR_NOMEM; release *w then, too. */
int worst_collect(struct worst *w, struct timeline *tl, const struct population *of,
		  struct err *e);
void worst_release(struct worst *w);

/* Append a frame's name as `tail` prints it: an unnamed frame has that of its file. */
void worst_frame_name(struct buf *b, const struct timeline *tl, uint32_t frame);

#endif
