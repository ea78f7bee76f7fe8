/*
 * remedy_internal.h - the parsed recorded line, shared by the makers of remedy lines.
 */
#ifndef LIBTIME_RECORD_REMEDY_INTERNAL_H
#define LIBTIME_RECORD_REMEDY_INTERNAL_H

#include "libparse/recording.h"
#include "libtime/record/perf_args.h"
#include "libtime/record/plan.h"

typedef unsigned long long ull; /* for printf */

/* Recordings do not say the size of pages. */
enum { PAGE = 4096 };

/* The kind of stacks, from --call-graph and the terms of an event. */
struct graph {
	char kind[8];  /* "fp", "dwarf", "lbr", "no"; "": not given */
	uint32_t size; /* bytes copied, of dwarf */
};

struct line {
	const struct recording *rec;
	struct u64map names; /* of its events: the hash of a name → the first that has it */
	struct remedy r;
	struct perf_args args;
	uint64_t freq, period; /* the rate of all events; 0: not given */
	int has_stacks, has_events;
	int mixed;     /* has tracepoints, so other events have rates of their own */
	int per_event; /* an event says how its stacks are taken: then all do, as a
			  --call-graph for all of them would take user stacks from it */
	int probes;    /* has events of probes, which no longer exist */
	int others;    /* has other events */
	int some_cpus; /* -C */
	int known;     /* the recorded line could be read */
	uint64_t ring;
	struct graph graph;  /* of all events */
	unsigned sched_seen; /* bits of the plan_sched_events that the line has */
};

/* The plan of wish->like with wish->change. ERR_NOMEM. */
int remedy_plan(struct record_plan *p, const struct record_wish *wish);

/* Read the recorded line, and resolve contradictions in the changes. */
struct line remedy_line(const struct recording *rec, const struct remedy *r);
void remedy_line_release(struct line *l);

/* 1 if `s` begins with `with`. */
int remedy_starts(const char *s, const char *with);

/* Bytes of larger ring buffers; all CPUs together lock less than a gigabyte. */
uint64_t remedy_larger_ring(const struct line *l);

/* `size`, but at least r.dump and at most r.max_dump. */
uint32_t remedy_copy(const struct remedy *r, uint32_t size);

/* Parse a --call-graph. */
struct graph remedy_graph(const char *value);

/* Note what a list of events after -e means for the whole line. */
void remedy_look_at_list(struct line *l, const char *list);

/* The plan_sched_events in a list, as bits. */
unsigned remedy_list_sched(const struct line *l, const char *list);

/* Append -e and the list of events, without those that are added anyway, each with its new rate
 * and stacks. Groups remain, except those that `ungroup` or `sched` takes apart. */
void remedy_put_list(struct line *l, struct words *out, const char *list);

/* Append the recording's events as a list, if the line names none. */
void remedy_put_recorded(struct line *l, struct words *out);

/* If only events of probes are left: the commands that set them. */
void remedy_put_probes(const struct line *l, struct record_plan *p, const char *perf);

/* 1 if `perfkit record` made the recording, so that the remedy is a line of it, which sets and
 * removes probes. */
int remedy_is_own(const struct line *l);

/* Append that line, without its command; 1 if it takes none. */
int remedy_own_line(const struct line *l, struct words *out);

#endif
