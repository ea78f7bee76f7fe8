/*
 * side.h - what a side file says: the spans, with their labels, that a program or another tool
 * wrote while perf recorded, on the clock of that program.
 *
 *	csv, otlp, chrome, ldb ─► spans, labels         ─attach─► timeline
 *	histories              ─► trampolines, bindings ─bind───► of the
 *	hiccups                ─► spans without thread  ─attach─► recording
 *	gaps, samplers         ─► gaps, spinners        ─place──► recording
 *
 * The readers know nothing of a recording: times are as the file has them, in nanoseconds;
 * threads are named, not found. A row that breaks its format is left out, counted and
 * remembered by its line; the rest is used.
 */
#ifndef LIBTIME_SIDE_SIDE_H
#define LIBTIME_SIDE_SIDE_H

#include "base/text/strtab.h"
#include "base/vec.h"

#include <stdint.h>

/* What a file's times count. */
enum side_clock {
	SIDE_CLOCK_UNKNOWN, /* the file does not say */
	SIDE_CLOCK_MONO,    /* CLOCK_MONOTONIC */
	SIDE_CLOCK_RAW,     /* CLOCK_MONOTONIC_RAW */
	SIDE_CLOCK_REAL,    /* CLOCK_REALTIME: since 1970 */
	SIDE_CLOCK_TSC,     /* the CPU's time stamp counter */
	SIDE_CLOCK_SAME,    /* the recording's own */
};

/* "CLOCK_MONOTONIC" ...; "mono", "raw", "real", "tsc" → the clock, UNKNOWN for other words. */
const char *side_clock_name(enum side_clock clock);
enum side_clock side_clock_of(const char *word, size_t n);

/* Which spans of one thread can belong to it at the same time, one inside another. Others that
 * overlap show a thread that works on several at once. */
enum side_nesting {
	NEST_OTHER_NAMES, /* those of other names: a request holds its steps, no other request
			   */
	NEST_ANY,         /* all: calls of functions */
	NEST_PARENTS,     /* those that the file says are its parents */
};

enum side_span_flag {
	SIDE_NO_THREAD = 1,  /* its thread does other work meanwhile: asynchronous */
	SIDE_OWN_NUMBER = 2, /* tid may be a number that only its language knows */
	SIDE_OPEN = 4,       /* it was not over when the file ended */
};

/* One span. Texts are strings ids, 0 where not known. */
struct side_span {
	uint64_t start_ns, end_ns;
	uint64_t id, parent; /* 0: none; parents are looked for among spans of the same key */
	uint64_t handed_ns;  /* when end_tid got it from tid; 0: one thread did it all */
	uint64_t site;       /* of a function's call: the address that it returned to; else 0 */
	uint32_t name, key;
	uint32_t thread_name;
	int32_t pid, tid;        /* -1: not told */
	int32_t end_tid;         /* where handed_ns is set */
	uint32_t label, nlabels; /* side.labels[label ..] */
	uint32_t flags;
};

struct side_label {
	uint32_t key, value; /* strings ids */
};

/* A function that labelled work was called through, and what it stood for from a time on. */
struct side_trampoline {
	uint32_t symbol; /* strings id */
	int32_t pid;     /* -1: not known */
};

struct side_binding {
	uint64_t at_ns;
	uint32_t trampoline; /* index of side.trampolines */
	uint32_t key, value; /* strings ids */
};

/* Time that a program which spins on a CPU did not get: it lies in [start, end]. */
struct side_gap {
	uint64_t start_ns, end_ns, lost_ns;
	int32_t cpu; /* -1: not told */
};

struct side_spinner {
	int32_t cpu, tid;
	int control; /* of a CPU that was to be idle */
};

/* The clocks at one moment, by enum side_clock, which is error_ns uncertain. */
struct side_anchor {
	uint64_t ns[SIDE_CLOCK_REAL + 1], error_ns;
};

enum { SIDE_BAD_SHOWN = 4 };

/* Rows that were left out, and why the first ones were. */
struct side_bad {
	uint64_t n;
	struct {
		uint64_t line;
		const char *why; /* static */
	} first[SIDE_BAD_SHOWN];
};

struct side {
	struct strtab *strings; /* borrowed */
	VEC(struct side_span) spans;
	VEC(struct side_label) labels;
	VEC(struct side_trampoline) trampolines;
	VEC(struct side_binding) bindings; /* as they stand in the file */
	VEC(struct side_gap) gaps;
	VEC(struct side_spinner) spinners;
	VEC(struct side_anchor) anchors;
	int from_start;   /* times count from its own start, which the file does not contain */
	uint64_t dropped; /* gaps that the sampler could not keep */
	uint64_t unbound; /* labels that found no trampoline */
	enum side_clock clock;
	enum side_nesting nesting;
	uint64_t rows; /* broken ones too */
	struct side_bad bad;
};

/* Give spans and labels back; the strings stay the caller's. */
void side_release(struct side *s);

/* Count a row that is left out; `why` is kept. */
void side_bad_row(struct side *s, uint64_t line, const char *why);

/* Intern n untrusted bytes; of a text with a NUL what stands before it. ERR_NOMEM. */
int side_intern(struct side *s, const char *text, size_t n, uint32_t *id);

/* One more label for the span that is added next. ERR_NOMEM. */
int side_add_label(struct side *s, uint32_t key, const char *value, size_t n);

/* Add a span with the labels since the last one, or forget those. ERR_NOMEM; ERR_LIMIT past
 * 2^32 - 2 of either. */
int side_add_span(struct side *s, struct side_span *span);
void side_drop_labels(struct side *s);

#endif
