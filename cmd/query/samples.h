/*
 * samples.h - samples folded by stack, of a recording or a store: what collapse and svg show
 * where nothing is said of waiting. Behind samples_open nobody can tell which of the two it
 * was.
 */
#ifndef CMD_QUERY_SAMPLES_H
#define CMD_QUERY_SAMPLES_H

#include "cmd/query/timeline_samples.h"

/* An event of the recording. Texts live as long as the samples. */
struct samples_event {
	const char *name;
	const char *unit; /* of its weights: see event_unit */
	int tracepoint;
	int wanted; /* --event names it, or is absent */
};

struct samples {
	struct tlinput ti;           /* of a recording: ti.in alone is open, but with labels */
	const struct stacks *stacks; /* what the rows' ids mean */
	VEC(struct samples_event) events;
	struct sample_sums sums; /* of a timeline: of a store, or with labels; times of all */
	const struct folded *v;  /* rows in no order, weights as perf counts them */
	size_t n;
};

/*
 * Open `path`, or take `src` over whose first bytes were looked at (NULL: look), and fold all
 * samples that pass the filters. `by`: enum aggregate_by; BY_CGROUP is for recordings. 0, or
 * the exit status after one line on stderr.
 */
int samples_open(struct samples *s, const char *verb, const struct tlinput_opts *opt,
		 const char *path, struct source *src, unsigned by);

/* Valid after a failed open, too. */
void samples_close(struct samples *s);

/* The event of the earliest sample, index of s->events, of two at once the first; NO_ID: there
 * are no samples. */
uint32_t samples_earliest(const struct samples *s);

/* 1 when the event has samples that pass. */
int samples_has(const struct samples *s, uint32_t event);

/* From the first to the last sample of the events that `is` says are `event` (one of those
 * below), summed over recordings. */
double samples_seconds(const struct samples *s, uint32_t event, event_is *is);

/* When the first sample of such an event was taken, on the recording's clock; UINT64_MAX: at
 * no known time. */
uint64_t samples_start(const struct samples *s, uint32_t event, event_is *is);

/* 1 for events of one name; of one but for the half of a hybrid CPU; for all there are. */
event_is samples_same_name, samples_same_event, samples_any_event;

/* Judge the recording for an answer about event `shown` (NO_ID: about all that are wanted): as
 * input_check_findings, of a store by what import found. 0, or the exit status. */
int samples_check_findings(struct samples *s, uint32_t shown);

/* What a row weighs: of tracepoints its samples, else its weight. */
uint64_t samples_weight(const struct samples *s, const struct folded *f);

#endif
