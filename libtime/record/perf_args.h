/*
 * perf_args.h - parses the command line of a `perf record` into options.
 *
 * The words come from the CMDLINE feature of a recording, so they are untrusted, and of any
 * perf from 3.x on. remedy.h changes them.
 */
#ifndef LIBTIME_RECORD_PERF_ARGS_H
#define LIBTIME_RECORD_PERF_ARGS_H

#include "libtime/record/words.h"

#include <stddef.h>
#include <stdint.h>

/* What an option controls, for those that a remedy may change. */
enum perf_role {
	PERF_OTHER,
	PERF_FREQ,       /* -F */
	PERF_COUNT,      /* -c */
	PERF_STACKS,     /* -g, --call-graph */
	PERF_SIDES,      /* --user-callchains, --kernel-callchains */
	PERF_EVENTS,     /* -e */
	PERF_FILTER,     /* --filter, --exclude-perf: of the tracepoint in front */
	PERF_CGROUPS,    /* -G: of the events in front */
	PERF_TARGET,     /* -p, -t ...: impossible with tracepoints on all CPUs; so are: */
	PERF_ALL_CPUS,   /* -a */
	PERF_CPUS,       /* -C */
	PERF_RING,       /* -m, --overwrite */
	PERF_CLOCK,      /* -k */
	PERF_OUTPUT,     /* -o, -q, --control */
	PERF_NO_BUILDID, /* -B */
	PERF_BUILDIDS,   /* --buildid-all, --buildid-mmap */
	PERF_NO_SAMPLES, /* -n */
	PERF_NO_TIMES,   /* --no-timestamp */
	PERF_TIMES,      /* -T */
	PERF_OFF_CPU,    /* --off-cpu */
	PERF_SYNTH,      /* --synth: of what was there before, no or not all mappings */
	PERF_ACTS,       /* names what perf runs, loads or asks, or may: not to be repeated */
};

/* One option: `opt` NULL if it is not known; `value` as given, or NULL. */
struct perf_arg {
	const struct perf_opt *opt;
	const char *word, *value; /* borrowed from the words */
	char letter;              /* of a cluster like -ag; 0: `word` is the option */
};

struct perf_args {
	VEC(struct perf_arg) v;
	size_t command; /* index of the recorded command's first word; nwords: none */
};

/* Parse the words after "perf record". ERR_FORMAT if they are not of perf record; ERR_NOMEM.
 * The caller releases *out in any case. */
int perf_args_read(struct perf_args *out, const char *const *words, size_t nwords);

/* The role of an option; PERF_OTHER for unknown ones without a value. */
enum perf_role perf_arg_role(const struct perf_arg *a);

/* Append the option as it was given. `out` keeps ERR_NOMEM. */
void perf_arg_add(struct words *out, const struct perf_arg *a);

/* The bytes of a value of -m: "8M", or a number of pages of that size. 0: it is neither. */
uint64_t perf_ring_bytes(const char *value, uint64_t page);

/* The other way round, "8M", which is right for pages of any size. */
enum { PERF_RING_TEXT = 24 };
const char *perf_ring_text(char text[PERF_RING_TEXT], uint64_t bytes);

/* Append -e and a list of recorded events; EVENT if perf may take one for a file. */
void words_events(struct words *out, const char *list);

/* Append -m and that text. */
void words_ring(struct words *out, uint64_t bytes);

/* Release everything; the options are empty afterwards. */
void perf_args_release(struct perf_args *a);

#endif
