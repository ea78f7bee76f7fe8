/*
 * remedy_internal.h - what the makers of remedy lines share: the recorded line, read.
 */
#ifndef LIBTIME_RECORD_REMEDY_INTERNAL_H
#define LIBTIME_RECORD_REMEDY_INTERNAL_H

#include "libparse/recording.h"
#include "libtime/record/perf_args.h"
#include "libtime/record/plan.h"

typedef unsigned long long ull; /* for printf */

enum { PAGE = 4096, RING_TEXT = 24 };

/* How stacks are taken, as --call-graph and the terms of an event say it. */
struct graph {
	char kind[8];  /* "fp", "dwarf", "lbr", "no"; "": not said */
	uint32_t size; /* bytes copied, of dwarf */
};

struct line {
	const struct recording *rec;
	struct remedy r;
	struct perf_args args;
	uint64_t freq, period; /* the rate of all events; 0: not given */
	int has_stacks, has_events;
	int mixed;     /* tracepoints beside: every other event carries its own rate */
	int per_event; /* an event says how its stacks are taken: then all do, as a
			  --call-graph for all of them would take user stacks from it */
	int probes;    /* events of probes that are gone by now */
	int others;    /* events that are none of these */
	int some_cpus; /* -C */
	int known;     /* the recorded line could be read */
	uint64_t ring;
	struct graph graph;  /* of all events */
	unsigned sched_seen; /* of plan_sched_events, those that the line has; a bit each */
};

/* The plan of wish->like with wish->change. ERR_NOMEM. */
int remedy_plan(struct record_plan *p, const struct record_wish *wish);

/* Read the recorded line, and settle what contradicts itself in the changes; perf_args_release
 * of its args. */
struct line remedy_line(const struct recording *rec, const struct remedy *r);

/* 1 when `s` begins with `with`. */
int remedy_starts(const char *s, const char *with);

/* Bytes of larger ring buffers; locked memory of all CPUs together stays below a gigabyte. */
uint64_t remedy_larger_ring(const struct line *l);

/* The value of -m for them: "64M"; in pages for `perfkit record`. */
const char *remedy_ring_text(const struct line *l, char text[RING_TEXT]);

/* `size` with what is asked for: at least r.dump, at most r.max_dump. */
uint32_t remedy_copy(const struct remedy *r, uint32_t size);

/* Take a --call-graph apart. */
struct graph remedy_graph(const char *value);

/* Take in what a list of events behind -e says of the whole line. */
void remedy_look_at_list(struct line *l, const char *list);

/* Append -e and a list of events without those that are asked for anyway, each with
 * the rate and the stacks it is to have; groups stay only where nothing changes. */
void remedy_put_list(struct line *l, struct words *out, const char *list);

/* The recording's own events as a list, where the line names none. */
void remedy_put_recorded(struct line *l, struct words *out);

/* Where no event but those of probes is left: how they are set. */
void remedy_put_probes(const struct line *l, struct record_plan *p, const char *perf);

/* 1 when `perfkit record` made the recording and its own line is the remedy: it sets probes and
 * removes them. */
int remedy_is_own(const struct line *l);
void remedy_own_line(const struct line *l, struct words *out);

#endif
