/*
 * samples.h - samples of a recording or a store, folded by stack, for collapse and svg without
 * options about waiting. After samples_open, the two do not differ.
 */
#ifndef CMD_QUERY_SAMPLES_H
#define CMD_QUERY_SAMPLES_H

#include "cmd/query/meant_input.h"
#include "cmd/query/timeline_samples.h"

/* An event of the recording. Texts live as long as the samples. */
struct samples_event {
	const char *name;
	const char *unit; /* of its weights: event_unit */
	int tracepoint;
	int wanted;           /* named by --event, or that is absent */
	uint8_t skid, counts; /* enum event_skid, event_role */
	uint32_t group;       /* event_group */
};

struct samples {
	struct tlinput ti;           /* of a recording without labels, only ti.in is open */
	const struct stacks *stacks; /* of the rows' ids */
	VEC(struct samples_event) events;
	struct sample_sums sums; /* of a store, or with labels; `times` always */
	struct meant_rows meant; /* of a recording, if they are not the profile's */
	const struct folded *v;  /* rows in no order, weights as perf counts them */
	size_t n;
};

/*
 * Open `path` and fold all samples that pass the filters. `src`, if not NULL, is `path` opened
 * already, and is taken over. `by`: enum aggregate_by; BY_CGROUP is for recordings. 0, or the
 * exit status after one line on stderr.
 */
int samples_open(struct samples *s, const char *verb, const struct tlinput_opts *opt,
		 const char *path, struct source *src, unsigned by);

/* Valid after a failed open, too. */
void samples_close(struct samples *s);

/* The event that is shown where none is asked for (event_default_rank), index of s->events; with
 * samples_same_event, its other halves. NO_ID: no samples. */
uint32_t samples_default(const struct samples *s);

/* 1 if the event has samples that pass the filters. */
int samples_has(const struct samples *s, uint32_t event);

/* Time from the first to the last sample of the events that equal `event` according to `is`
 * (one of those below), summed over recordings. */
double samples_seconds(const struct samples *s, uint32_t event, event_is *is);

/* Time of the first sample of such an event on the recording's clock; UINT64_MAX: unknown. */
uint64_t samples_start(const struct samples *s, uint32_t event, event_is *is);

/* Say whose samples of such events are shown, and how many others are not. */
void samples_say_others(const struct samples *s, uint32_t event, event_is *is);

/* 1 for events with equal names, except for the kind of core; for all. */
event_is samples_same_event, samples_any_event;

/* Append the event's name as it is shown: with its other halves that have samples. */
void samples_event_shown(const struct samples *s, uint32_t event, struct buf *b);

/* Check findings for an answer about event `shown` (NO_ID: all wanted ones), as
 * input_check_findings does; those of a store were found by import. 0, or the exit status. */
int samples_check_findings(struct samples *s, uint32_t shown);

/* The weight of a row: for tracepoints the number of samples. */
uint64_t samples_weight(const struct samples *s, const struct folded *f);

#endif
