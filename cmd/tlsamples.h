/*
 * tlsamples.h - a timeline's samples folded by stack: what collapse and svg draw on-CPU from a
 * store.
 */
#ifndef CMD_TLSAMPLES_H
#define CMD_TLSAMPLES_H

#include "cmd/tlinput.h"
#include "cmd/waits.h"

struct tl_folded {
	VEC(struct folded) rows; /* weights as `perfkit collapse` counts them: periods, or 1 */
	struct idmap index;
	uint32_t event; /* the one drawn, index of timeline.events; TL_NONE: all were asked for
			 */
	uint64_t left_out; /* FOLD_DRAWN: samples of others that pass the filters and --event */
};

/* Which events, unless --event names them. */
enum tl_fold_which {
	FOLD_ALL,
	FOLD_EARLIEST, /* that of the earliest sample, as collapse shows */
	FOLD_DRAWN,    /* the first that is no tracepoint, as svg draws, also of those named */
};

/*
 * Fold the samples that pass the filters. `by`: enum aggregate_by. ERR_REFUSED when the store
 * cannot know which event was the earliest, or samples are asked for that it does not have
 * (those of tracepoints and of --off-cpu are kept as waits, marks and sums); ERR_USAGE for an
 * unknown --event.
 */
int tl_fold_samples(const struct tlinput *ti, unsigned by, enum tl_fold_which which,
		    struct tl_folded *out, struct err *e);

/* The event that --event names (event_name_fits), index of timeline.events; TL_NONE. */
uint32_t tl_find_event(const struct tlinput *ti, const char *want);

/* ERR_USAGE when --event names one that is not there. */
int tl_check_events(const struct tlinput *ti, struct err *e);

/* 1 when two names are one event: the cpu_core and cpu_atom halves count as one. */
int tl_same_event(const char *a, const char *b);
void tl_folded_release(struct tl_folded *f);

/* perf record --off-cpu: its samples are of waits. */
#define OFF_CPU_EVENT "offcpu-time"

/* What its samples weigh: "ns" for clocks and OFF_CPU_EVENT, "samples" for tracepoints, else
 * "events". */
const char *event_unit(const struct event *ev);
/* The same by an event's name, which is all that a timeline keeps. */
const char *tl_event_unit(const char *name, int tracepoint);

/* 1 when a sample is of this event, by name, and passes the filters. */
int tl_sample_is_of(const struct tlinput *ti, const struct tl_sample *s, const char *event);

/* 1 when a sample passes --time, --cpu, --comm, --pid, --tid. */
int tl_sample_passes(const struct tlinput *ti, const struct tl_sample *s);

#endif
