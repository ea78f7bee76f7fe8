/*
 * label_lanes.h - which value a label has on a thread at a time: that of the innermost
 * trampoline on its stack, else that of the thread's innermost span with the label.
 *
 *	span  route=/pay   ├───────────────────────────┤
 *	span  (no route)       ├────────┤
 *	span  route=/card                    ├────┤
 *	lane               │   /pay          │/card│/pay │ (none)
 *	                   ^ from here on
 *
 * Windows, and spans that share their thread with others, do not label the thread. A span that
 * was handed over labels the first thread up to then, and the other one from then on.
 *
 * A trampoline is a function; the program logs which value it has, and since when:
 *
 *	query=41   ├─────────┤query=42                 its history: 42 from this binding on
 *	stack       main; work; trampoline<7>; search  has the value that trampoline<7> had
 */
#ifndef LIBTIME_SPANS_LABEL_LANES_H
#define LIBTIME_SPANS_LABEL_LANES_H

#include "libtime/sched/timeline.h"

struct label_piece {
	uint64_t from_ns, to_ns;
	uint32_t thread, value; /* strings id */
};

/* Zero-initialised: no label anywhere. */
struct label_lanes {
	VEC(struct label_piece) v; /* by thread and time; they do not overlap */
	VEC(uint32_t) first;       /* thread t has v[first[t]] .. v[first[t + 1]] */
	VEC(uint32_t) by_tid;      /* all threads, by tid and index */
	int kind;                  /* where a span has its value: label_lanes.c */
	uint32_t key;
	const struct timeline *tl; /* NULL: no trampoline has the label */
	VEC(uint32_t)
	inner; /* by path: the longest path up to it that ends in a trampoline; 0: none */
};

/*
 * Build the lanes of a key. The timeline is finished, and borrowed. If nothing has such a
 * label, "span" means the spans' names and "key" their keys. 1; 0 if there is nothing with that
 * name; ERR_NOMEM. The caller releases *out in any case.
 */
int label_lanes_build(const struct timeline *tl, const char *key, struct label_lanes *out);
void label_lanes_release(struct label_lanes *x);

/* The key of lanes that were built from `tl`. */
const char *label_lanes_key(const struct label_lanes *x, const struct timeline *tl);

/* The value (strings id; 0: none) that a span of the timeline has itself. */
uint32_t label_lanes_of_span(const struct label_lanes *x, const struct timeline *tl,
			     uint32_t span);

/* The thread of one of the timeline's event samples, which have only ids: the thread that had
 * the tid then in the same recording; TL_NONE: none. */
uint32_t label_lanes_thread(const struct label_lanes *x, const struct timeline *tl,
			    const struct tl_event_sample *s);

/* The value (strings id; 0: none) at `ns` of a thread with that stack (a call path; 0: not
 * known), and up to when it stays so (UINT64_MAX: to the end). */
uint32_t label_lanes_at(const struct label_lanes *x, uint32_t thread, uint32_t path,
			uint64_t ns, uint64_t *until);

#endif
