/*
 * input.h - input of every command that reads a recording: options, opening, filters, progress,
 * warnings.
 */
#ifndef CMD_INPUT_INPUT_H
#define CMD_INPUT_INPUT_H

#include "cmd/input/bundle_input.h"
#include "cmd/input/form.h"
#include "cmd/input/progress.h"
#include "cmd/cli/opt.h"
#include "libtime/doctor/findings.h"
#include "libsym/profile.h"

#include <time.h>

/* First member of a verb's options struct, for input_rows. */
struct input_opts {
	struct form_opts form; /* of verbs that print text */
	const char *input;
	struct opt_list events, comms, pids, tids, cpus;
	const char *time;
	const char *symfs, *kallsyms, *vmlinux, *buildid_dir;
	int no_inline, no_demangle, constructors, max_stack;
	int lines;    /* --srcline of some verbs: file and line of frames */
	int no_lines; /* set by verbs that show no lines: inlined frames lack them */
	int places;   /* set by `source --asm`: frames have their instruction */
	struct branches *branches; /* set by `source --asm`: aggregate_options */
	int handed_on;             /* set by `pack`, as in struct dso_options */
	int no_names;              /* --no-names of export: frames of files remain offsets */
	int trust_paths, no_local;
	int no_cache;           /* bundle_cache.h */
	const char *max_memory; /* --max-memory, see budget.h */
	int quiet, verbose, force, strict, no_sandbox;
};

extern const struct opt input_rows[];

/* Names of options that select samples, and that affect their names, for modes and kinds of
 * input without these. */
#define INPUT_FILTERS "event comm comms pid tid cpu time"
#define INPUT_NAMING                                                            \
	"symfs kallsyms vmlinux buildid-dir no-inline no-demangle constructors" \
	" max-stack trust-paths"

/* An open input. */
struct input {
	const struct input_opts *opt;
	const char *verb, *path;
	struct bundle_input bundle; /* paths of its parts, if it is a bundle */
	int archive;  /* bundle.buildid_dir is a perf archive, and precedes --buildid-dir */
	char *folder; /* of the recording, which may have JIT maps; or NULL */
	struct profile *profile;
	struct fold_options fold; /* filters filled in */
	VEC(int32_t) pids, tids;
	VEC(uint32_t) cpus;
	uint8_t *events;
	int warned, hinted; /* findings were reported; doctor was mentioned */
};

/* Open the recording that options or files name (default perf.data) and parse the filters. 0,
 * or the exit status after one line on stderr. */
int input_open(struct input *in, const char *verb, const struct input_opts *opt,
	       const char *const *files, size_t nfiles);

/* The same for a source that is perf.data or a bundle (input_kind.h), which is taken over,
 * after a failure too. A closed source stands for the directory `path`. A bundle is unpacked
 * into the scratch folder; names then come only from it, and from --symfs, --buildid-dir,
 * --kallsyms and
 * --vmlinux. */
int input_open_source(struct input *in, const char *verb, const struct input_opts *opt,
		      const char *path, struct source *src);

/* For a store: no recording, only the filters that need none. The store checks --event itself.
 */
int input_open_filters(struct input *in, const char *verb, const struct input_opts *opt,
		       const char *path);

/* Close the recording and release everything; valid after a failed open, too. */
void input_close(struct input *in);

/* Print "perfkit: <text>" on stderr unless --quiet; counts for --strict. */
void input_warn(struct input *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The exit status for a failure. */
int input_exit(const struct err *e);

/* The name of an event of `ctx`. */
typedef const char *input_event_name(const void *ctx, size_t event);

/* Print that `name` of --event is not one of the input's n events; returns 2. */
int input_no_event(const struct input *in, const char *name, input_event_name *event,
		   const void *ctx, size_t n);

/* Print one line for a failure; returns the exit status for its code. */
int input_fail(const struct input *in, const struct err *e);

/* Fold all samples that pass the filters (profile_fold), with a progress line on a terminal. 0,
 * or the exit status. */
int input_fold(struct input *in);

/* Print, unless --quiet, the --comm, --pid and --tid without a thread. */
void input_warn_no_thread(const struct input *in);

/* Print, unless --quiet, that no `what` passes the filters, if there are others than those of
 * threads. `more`: the verb's own filters, or NULL.
 */
void input_say_none(const struct input *in, const char *what, const char *more);

/* One of the two, if no samples pass. */
void input_say_empty(const struct input *in, size_t samples);

/* 1 if stderr is a terminal, without --quiet. */
int input_shows_progress(const struct input_opts *opt);

/* Check the findings of a folded profile for an answer about these topics: input_refuse (3),
 * else input_say_findings. 0, or the exit status. Does nothing for a store. */
int input_check_findings(struct input *in, unsigned topics);

/* The same without refusing, for commands that copy a recording. */
int input_warn_findings(struct input *in, unsigned topics);

/*
 * Print the worst three findings about these topics, one line each, and where to find the
 * others. Omits findings that timeline_answerable refuses for, and mere advice. `of` names the
 * recording, if there are several, or is "".
 */
void input_say_findings(struct input *in, const struct findings *f, unsigned topics,
			const char *of);

/* 3 after one line if a finding makes the answer misleading, unless --force; else 0. */
int input_refuse(const struct input *in, const struct findings *f, unsigned topics,
		 const char *of);

/* A path as messages and answers show it: "stdin" for "-". */
const char *input_shown(const char *path);

/* The verb's exit status: 0, or 3 with --strict after any warning. */
int input_status(const struct input *in);

/* 1 if input_rows is one of the verb's tables, so that its options begin with input_opts. */
int input_is_read_by(const struct verb *v);

#endif
