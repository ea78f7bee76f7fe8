/*
 * sample_sums.h - sums a timeline's samples by thread name, stack and other keys, and finds
 * when each event had samples. Used by collapse, svg and export for stores, and for recordings
 * with labels.
 */
#ifndef LIBTIME_POPULATION_SAMPLE_SUMS_H
#define LIBTIME_POPULATION_SAMPLE_SUMS_H

#include "base/hash.h"
#include "libsym/profile.h"
#include "libtime/population/population.h"
#include "libtime/spans/label_sets.h"

/* Which samples a question is about. Zero-initialised: all. */
struct sample_selection {
	struct population of;
	const uint8_t *events;    /* a flag per event of the timeline; NULL: all. Borrowed */
	struct label_sets *split; /* rows apart by them; NULL: not asked. Borrowed */
};

/* 1 if the sample is selected. */
int sample_is_selected(const struct sample_selection *s, const struct timeline *tl,
		       const struct tl_sample *x);
int event_sample_is_selected(const struct sample_selection *s, const struct timeline *tl,
			     const struct tl_event_sample *x);

/* First and last sample of an event, ns; first UINT64_MAX: none. */
struct event_time {
	uint64_t first, last; /* last 0: without times */
	uint64_t others;      /* samples of processes that are not meant */
};

/* Of every event in every recording: v[recording * events + event]. */
struct event_times {
	size_t events;
	VEC(struct event_time) v;
};

/* 1 when event `a` counts as `b`. */
typedef int event_is(const void *ctx, uint32_t a, uint32_t b);

/* 1 when the event has samples. */
int event_times_has(const struct event_times *t, uint32_t event);

/* From the first to the last sample of the events that are `event`, summed over recordings. */
double event_times_seconds(const struct event_times *t, uint32_t event, event_is *is,
			   const void *ctx);

/* Time of the first sample of such an event; UINT64_MAX: unknown. */
uint64_t event_times_start(const struct event_times *t, uint32_t event, event_is *is,
			   const void *ctx);

/* Samples of such events that are left out because their processes are not meant. */
uint64_t event_times_others(const struct event_times *t, uint32_t event, event_is *is,
			    const void *ctx);

/* Zero-initialised: empty. */
struct sample_sums {
	VEC(struct folded) rows; /* in order of first appearance */
	struct event_times times;
	struct idmap index;
	uint64_t weight; /* of all rows */
};

/*
 * Sum up the selected samples, including those of tracepoints and sums loaded from a store,
 * which have no CPU, time or label. `by`: BY_PID, BY_TID, BY_CPU of enum aggregate_by. The
 * caller releases *out, after a failure too. ERR_NOMEM, ERR_LIMIT (a sum above 2^63).
 */
int sample_sums_collect(struct sample_sums *out, const struct timeline *tl,
			const struct sample_selection *s, unsigned by, struct err *e);
void sample_sums_release(struct sample_sums *s);

#endif
