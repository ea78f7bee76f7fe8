/*
 * side.h - the content of a side file: spans, labels and gaps that a program or another tool
 * wrote while perf recorded, on that program's clock. One reader for each format is in this
 * room.
 *
 *	csv, otlp, chrome, ldb ─► spans, labels         ─attach─► timeline
 *	histories              ─► trampolines, bindings ─bind───► of the
 *	hiccups                ─► spans without thread  ─attach─► recording
 *	gaps, samplers         ─► gaps, spinners        ─place──► recording
 *
 * The readers do not look at the recording: times are the file's, in nanoseconds; threads are
 * numbers that need not exist. A malformed row is left out and counted, and the first ones are
 * kept with their lines; the other rows are used.
 */
#ifndef LIBTIME_SIDE_SIDE_H
#define LIBTIME_SIDE_SIDE_H

#include "base/text/strtab.h"
#include "base/vec.h"

#include <stdint.h>

/* The clock of a file's times. */
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

/* Which spans of one thread may nest. Others that overlap mean that the thread worked on
 * several requests at once. */
enum side_nesting {
	NEST_OTHER_NAMES, /* those of other names: requests contain steps, not requests */
	NEST_ANY,         /* all: calls of functions */
	NEST_PARENTS,     /* those that the file names as its parents */
};

enum side_span_flag {
	SIDE_NO_THREAD = 1,  /* asynchronous: its thread does other work meanwhile */
	SIDE_OWN_NUMBER = 2, /* tid may be the language's number, not the kernel's */
	SIDE_OPEN = 4,       /* it had not ended when the file did */
};

/* What calls of functions do not have, so that millions of them are small. */
struct side_link {
	uint64_t id, parent; /* 0: none; parents are searched among spans of the same key */
	uint64_t handed_ns;  /* when tid handed it to end_tid; 0: one thread did it all */
	int32_t end_tid;     /* valid if handed_ns is set */
	uint32_t thread_name;
};

/* One span. Texts are strings ids, 0 where not known. */
struct side_span {
	uint64_t start_ns, end_ns;
	uint64_t site; /* of a function call: its return address; else 0 */
	uint32_t name, key;
	int32_t pid, tid;        /* -1: unknown */
	uint32_t label, nlabels; /* side.labels[label ..] */
	uint32_t link;           /* see side_link_of */
	uint32_t flags;
};

struct side_label {
	uint32_t key, value; /* strings ids */
};

/* A function that labelled work is called through; side_binding says what it stands for. */
struct side_trampoline {
	uint32_t symbol; /* strings id */
	int32_t pid;     /* -1: unknown */
	uint64_t low,
		high; /* its code in the process, [low, high); high 0: given by the symbol */
};

struct side_binding {
	uint64_t at_ns;
	uint32_t trampoline; /* index of side.trampolines */
	uint32_t key, value; /* strings ids */
};

/* A mapping of a file in a process. */
struct side_map {
	uint64_t start, end, offset;
	uint32_t path; /* strings id */
};

/* Time that a program which spins on a CPU did not get, somewhere in [start, end]. */
struct side_gap {
	uint64_t start_ns, end_ns, lost_ns;
	int32_t cpu; /* -1: unknown */
};

struct side_spinner {
	int32_t cpu, tid;
	int control; /* on a CPU that should be idle */
};

/* The clocks, by enum side_clock, at one moment, within error_ns. */
struct side_anchor {
	uint64_t ns[SIDE_CLOCK_REAL + 1], error_ns;
};

enum { SIDE_BAD_SHOWN = 4 };

/* Malformed rows, and what was wrong with the first ones. */
struct side_bad {
	uint64_t n;
	int records; /* the file has records, not lines */
	struct {
		uint64_t line;   /* or record, from 1 */
		const char *why; /* static */
	} first[SIDE_BAD_SHOWN];
};

struct side {
	struct strtab *strings; /* borrowed */
	VEC(struct side_span) spans;
	VEC(struct side_link) links;
	VEC(struct side_label) labels;
	VEC(struct side_trampoline) trampolines;
	VEC(struct side_binding) bindings; /* in the file's order */
	VEC(struct side_map) maps;         /* by start */
	VEC(struct side_gap) gaps;
	VEC(struct side_spinner) spinners;
	VEC(struct side_anchor) anchors;
	int from_start; /* times count from the sampler's start, which the file does not contain
			 */
	uint64_t dropped; /* gaps that the sampler could not keep */
	uint64_t unbound; /* labels that found no trampoline */
	enum side_clock clock;
	enum side_nesting nesting;
	uint64_t rows; /* including malformed ones */
	struct side_bad bad;
};

/* Release everything except the strings, which are the caller's. */
void side_release(struct side *s);

/* "line" or "record": what rows are called. */
const char *side_bad_unit(const struct side_bad *bad);

/* Count a malformed row. `why` is static text. */
void side_bad_row(struct side *s, uint64_t line, const char *why);

/* Intern n untrusted bytes, up to the first NUL. ERR_NOMEM. */
int side_intern(struct side *s, const char *text, size_t n, uint32_t *id);

/* Add a label to the span that is added next. ERR_NOMEM. */
int side_add_label(struct side *s, uint32_t key, const char *value, size_t n);

/* Add a span with the labels since the last one (or drop those labels). ERR_NOMEM; ERR_LIMIT
 * past 2^32 - 2 of either. */
int side_add_span(struct side *s, struct side_span *span);
void side_drop_labels(struct side *s);

/* Give a span that is still to be added its link. ERR_NOMEM. */
int side_set_link(struct side *s, struct side_span *span, const struct side_link *link);

/* A span's link; of one without, all is 0. */
const struct side_link *side_link_of(const struct side *s, const struct side_span *span);

#endif
