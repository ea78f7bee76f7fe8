/*
 * perf_args.h - what somebody asked of `perf record`: the words of its command line, as
 * options.
 *
 * Read from the CMDLINE feature of a recording, so the words are untrusted and belong to any
 * perf from 3.x on; remedy.h changes them.
 */
#ifndef LIBTIME_RECORD_PERF_ARGS_H
#define LIBTIME_RECORD_PERF_ARGS_H

#include "libtime/record/words.h"

#include <stddef.h>

/* What an option decides, of those that a remedy may have to change. */
enum perf_role {
	PERF_OTHER,
	PERF_FREQ,       /* -F */
	PERF_COUNT,      /* -c */
	PERF_STACKS,     /* -g, --call-graph */
	PERF_SIDES,      /* --user-callchains, --kernel-callchains */
	PERF_EVENTS,     /* -e */
	PERF_FILTER,     /* --filter, --exclude-perf: of the tracepoint in front */
	PERF_TARGET,     /* -p, -t ...: what tracepoints of all CPUs cannot have; like that: */
	PERF_ALL_CPUS,   /* -a */
	PERF_CPUS,       /* -C */
	PERF_RING,       /* -m, --overwrite */
	PERF_CLOCK,      /* -k */
	PERF_OUTPUT,     /* -o, -q */
	PERF_NO_BUILDID, /* -B */
	PERF_BUILDIDS,   /* --buildid-all, --buildid-mmap */
	PERF_NO_SAMPLES, /* -n */
	PERF_NO_TIMES,   /* --no-timestamp */
	PERF_TIMES,      /* -T */
	PERF_OFF_CPU,    /* --off-cpu */
	PERF_SYNTH,      /* --synth: of what was there before, no or not all mappings */
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

/* Read the words behind "perf record". 0, or ERR_FORMAT when they are not of perf record, or
 * ERR_NOMEM; to be released in any case. */
int perf_args_read(struct perf_args *out, const char *const *words, size_t nwords);

/* What it decides; PERF_OTHER for those that are not known. */
enum perf_role perf_arg_role(const struct perf_arg *a);

/* Append the option as it was given. ERR_NOMEM stays in `out`. */
void perf_arg_add(struct words *out, const struct perf_arg *a);

/* Give all back; the options are empty then. */
void perf_args_release(struct perf_args *a);

#endif
