/*
 * span_counters.h - readings of counters at the start and end of spans → the counts of
 * each span.
 *
 * A probe in a group of events reads the group's counters whenever it is hit. Both probes may
 * be in one group (`-e '{page-faults/period=0/,begin:S,end:S}'`). If each leads its own
 * (`-e '{begin,page-faults}:S' -e '{end,page-faults}:S'`), there are two sets of counters of
 * the same events, which may have been started at different moments (perf attached to a
 * running thread). Then the readings bound the offset between the two sets, since a counter
 * never decreases:
 *
 *	begin's group   12 ─────────────── 15 ───            o: what the end's group missed
 *	end's group           11 ────────────────── 14       11 + o ≥ 12, 15 ≥ 11 + o ...
 */
#ifndef LIBTIME_SPANS_SPAN_COUNTERS_H
#define LIBTIME_SPANS_SPAN_COUNTERS_H

#include "libtime/sched/timeline.h"

enum { SPAN_COUNTERS = 16 }; /* per group; more are ignored */

/* How a group's counters are divided over threads and CPUs. */
enum reading_place {
	READING_THREAD, /* one for the thread, on all CPUs */
	READING_CPU,    /* one for the thread on each CPU */
};

/* One reading of a group's counters. */
struct span_reading {
	uint32_t group;    /* the event that leads it */
	uint32_t instance; /* which of the group's instances was read, in the same order for all
			    * groups */
	uint8_t place;     /* enum reading_place */
	uint8_t from_zero; /* all groups of the thread were started at one moment */
	uint8_t n;
	uint64_t enabled_ns, running_ns; /* both 0: not recorded */
	uint32_t name[SPAN_COUNTERS];    /* strings ids */
	uint64_t value[SPAN_COUNTERS];
};

/* Zero-initialised: nothing was read. */
struct span_counters {
	VEC(struct kept_reading) kept;
	VEC(uint64_t) values;
	VEC(struct counted_span) counted;
	VEC(struct counter_offset) offsets;
	struct u64map offset_of;
};

/* Free its memory. */
void span_counters_release(struct span_counters *c);

/* A reading at the start of a span of `kind` by `thread`. Pass *id to span_counters_end; 0
 * means no reading. ERR_NOMEM. */
int span_counters_begin(struct span_counters *c, uint32_t thread, uint32_t kind,
			const struct span_reading *r, uint32_t *id);

/* The reading at the end of `span`, which began with reading `id` of the same thread and kind.
 * ERR_NOMEM. */
int span_counters_end(struct span_counters *c, uint32_t thread, uint32_t kind, uint32_t span,
		      const struct span_reading *r, uint32_t id);

/* Put the counters of all spans into tl->counters, sorted by span. ERR_NOMEM. */
int span_counters_finish(struct span_counters *c, struct timeline *tl);

#endif
