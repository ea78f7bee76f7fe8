/*
 * timeline_samples.h - a timeline's events and samples as the options about samples choose
 * them.
 */
#ifndef CMD_QUERY_TIMELINE_SAMPLES_H
#define CMD_QUERY_TIMELINE_SAMPLES_H

#include "cmd/query/timeline_input.h"
#include "cmd/query/waits.h"

/* The event of an answer about one: the one that --event names, else that of the first sample;
 * 0 where there are none. ERR_USAGE, `what` ("--flamechart draws") beginning the sentence. */
int tl_one_event(const struct tlinput *ti, const char *what, uint32_t *event, struct err *e);

/* 0, or 2 after saying that --event names one that is not there. */
int tl_check_events(const struct tlinput *ti);

/* 1 when --event names it, or is absent. */
int tl_event_wanted(const struct tlinput *ti, uint32_t event);

/* 1 when two names are one event: the cpu_core and cpu_atom halves count as one. */
int tl_same_event(const char *a, const char *b);

/* perf record --off-cpu: its samples are of waits. */
#define OFF_CPU_EVENT "offcpu-time"
int tl_is_off_cpu(const char *event);

/* What its samples weigh: "ns" for clocks and OFF_CPU_EVENT, "samples" for tracepoints, else
 * "events". */
const char *event_unit(const struct event *ev);
/* The same by an event's name, which is all that a timeline keeps. */
const char *tl_event_unit(const char *name, int tracepoint);

/* 1 when a sample is of this event, by name, and passes the filters. */
int tl_sample_is_of(const struct tlinput *ti, const struct tl_sample *s, const char *event);

/* The value (strings id, 0: none) of the label of --split label:KEY on a thread then. */
uint32_t tl_split_label(const struct tlinput *ti, uint32_t thread, uint64_t time_ns);

/* The thread of such a sample, where labels are asked for; else TL_NONE. */
uint32_t tl_event_thread(const struct tlinput *ti, const struct tl_event_sample *s);

/* 1 when a sample passes --label, --time, --cpu, --comm, --pid, --tid. */
int tl_sample_passes(const struct tlinput *ti, const struct tl_sample *s);
int tl_event_sample_passes(const struct tlinput *ti, const struct tl_event_sample *s);

#endif
