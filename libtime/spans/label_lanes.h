/*
 * label_lanes.h - which value a label has on a thread at a moment: that of the innermost
 * trampoline on its stack, else that of the innermost span there which has the label.
 *
 *	span  route=/pay   ├───────────────────────────┤
 *	span  (no route)       ├────────┤
 *	span  route=/card                    ├────┤
 *	lane               │   /pay          │/card│/pay │ (none)
 *	                   ^ from here on, not 1 ns before
 *
 * Spans that are no thread's work (windows, those that share their thread) label nothing. A
 * span that was handed over labels the first thread until then, and the other from there on.
 *
 * A trampoline is a function; the program logs what it stands for, and from when on:
 *
 *	query=41   ├─────────┤query=42                 its history; from the binding on it is 42
 *	stack       main; work; trampoline<7>; search  bears what trampoline<7> stood for then
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
	VEC(struct label_piece) v; /* by thread, then in time; they do not overlap */
	VEC(uint32_t) first;       /* thread t has v[first[t]] .. v[first[t + 1]] */
	VEC(uint32_t) by_tid;      /* all threads, by tid, then by index */
	int kind;                  /* what of a span is its value: label_lanes.c */
	uint32_t key;
	const struct timeline *tl; /* where trampolines have the label; else NULL */
	VEC(uint32_t)
	inner; /* by path: the nearest one from it to the root that ends in a
		* trampoline; 0: none */
};

/*
 * The lanes of a key of a finished timeline, which is borrowed; where nothing has such a label,
 * "span" stands for the spans' names, "key" for their keys. 1; 0 where there is nothing of that
 * name; ERR_NOMEM. *out is the caller's to release in any case.
 */
int label_lanes_build(const struct timeline *tl, const char *key, struct label_lanes *out);
void label_lanes_release(struct label_lanes *x);

/* The key of lanes that were built of `tl`. */
const char *label_lanes_key(const struct label_lanes *x, const struct timeline *tl);

/* The value (strings id; 0: none) that a span of the timeline has itself. */
uint32_t label_lanes_of_span(const struct label_lanes *x, const struct timeline *tl,
			     uint32_t span);

/* The thread of one of the timeline's event samples, which name it by its ids: the one that had
 * the tid then in the same recording; TL_NONE. */
uint32_t label_lanes_thread(const struct label_lanes *x, const struct timeline *tl,
			    const struct tl_event_sample *s);

/* The value (strings id; 0: none) that holds at `ns` for a thread with that stack (a call path;
 * 0: not known), and up to when (UINT64_MAX: for good). */
uint32_t label_lanes_at(const struct label_lanes *x, uint32_t thread, uint32_t path,
			uint64_t ns, uint64_t *until);

#endif
