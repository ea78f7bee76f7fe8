/*
 * spans.h - begin and end events in time order → the spans of a timeline.
 *
 * A span is work between two events: of one thread, nested as a stack; of one CPU (interrupts);
 * or of all threads that handle one key. span_def.h says which events begin and end which
 * spans; this machine knows nothing of perf.data.
 *
 *	spans_new(&tl, &s, &e);
 *	spans_kind(s, &(struct span_kind){.name = id}, &kind);
 *	while (next record) spans_event(s, &ev, &e);
 *	... timeline finished ...
 *	spans_finish(s, origin_ns, end_ns, &e);         // tl.spans is complete
 *	spans_free(s);
 *
 *	thread   begin X ── begin Y ── end Y ── end X         Y's parent is X
 *	key 7    A: begin ── A: end      B: begin ── B: end   one span, A's begin to B's end
 */
#ifndef LIBTIME_SPANS_SPANS_H
#define LIBTIME_SPANS_SPANS_H

#include "libtime/spans/span_counters.h"

enum span_by {
	SPAN_BY_THREAD, /* an end closes the thread's innermost open span of its kind */
	SPAN_BY_CPU,    /* the same for each CPU: interrupts */
	SPAN_BY_KEY,    /* from the first begin of a key to its last end, on any threads */
};

/*
 * With SPAN_BY_KEY, a begin that comes after as many ends as begins either continues the span
 * (if it comes from a new thread) or starts another one (if it comes from the thread that began
 * the span or was the last to take it over: the key is in use again). If any thread may use a
 * key again, set `once`: then a begin always starts a span and an end always closes it.
 */
struct span_kind {
	uint32_t name; /* strings id */
	uint8_t by;    /* enum span_by */
	uint8_t once;
};

struct span_event {
	uint64_t time_ns, key; /* key: SPAN_BY_KEY only */
	uint32_t kind, thread; /* of spans_kind; TL_NONE: the idle task */
	uint16_t cpu;
	uint8_t end;
	const struct span_reading *reading; /* of spans of one thread; NULL: no counters */
};

struct spans;

/* A machine that writes into tl->spans (empty; tl is borrowed). ERR_NOMEM. */
int spans_new(struct timeline *tl, struct spans **out, struct err *e);

/* NULL is accepted; the timeline stays. */
void spans_free(struct spans *s);

/* Add a kind; *id is its number in events. ERR_NOMEM. */
int spans_kind(struct spans *s, const struct span_kind *kind, uint32_t *id);

/*
 * One event; times must not decrease. Spans of the idle task are dropped. An end whose begin
 * was not recorded makes a span that is open at its start if it is the first event of its kind
 * there; otherwise it is ignored. ERR_NOMEM; ERR_LIMIT past 2^32 - 2 spans.
 */
int spans_event(struct spans *s, const struct span_event *ev, struct err *e);

/* What another sample of the event's hit has read: for the span that it began or ended, if
 * nothing was read there yet. ERR_NOMEM. */
int spans_reading(struct spans *s, const struct span_event *ev);

/*
 * The probes of spans with that name (strings id) take `ns`, which is not work. spans_finish
 * moves the edges of the spans by that much, but not beyond the spans inside, subtracts the same
 * from their counters of time, and adds a counter PROBE_COST. ERR_NOMEM.
 */
int spans_probe_cost(struct spans *s, uint32_t name, uint32_t ns, struct err *e);

/*
 * The timeline must be finished. Open spans end with their thread (with a key: at end_ns), and
 * those without a begin start with it (at origin_ns); both have OFF_OPEN. All get their parts,
 * which sum up to end - start, and OFF_SUSPECT if an interval inside is suspect. They are
 * ordered by start, parents before children. ERR_NOMEM. Only spans_free may follow.
 *
 * A span that went from one thread to another has the first one's parts up to the time when it
 * last woke the other, or else up to its own end event, and the other's parts from then on.
 */
int spans_finish(struct spans *s, uint64_t origin_ns, uint64_t end_ns, struct err *e);

#endif
