/*
 * input.h - what every verb that reads a recording shares: options, opening, filters, progress,
 * warnings.
 */
#ifndef CMD_INPUT_INPUT_H
#define CMD_INPUT_INPUT_H

#include "cmd/input/bundle_input.h"
#include "cmd/cli/opt.h"
#include "libtime/doctor/findings.h"
#include "libsym/profile.h"

#include <time.h>

/* First member of a verb's options struct, so that input_rows fit every such table. */
struct input_opts {
	const char *input;
	struct opt_list events, comms, pids, tids, cpus;
	const char *time;
	const char *symfs, *kallsyms, *vmlinux, *buildid_dir;
	int no_inline, no_demangle, constructors, max_stack;
	int lines;    /* --srcline of verbs that have it: file and line of frames */
	int no_lines; /* set by verbs that show none: inlined frames come without them */
	int no_names; /* --no-names of export: frames of files stay offsets */
	int trust_paths, no_local;
	int no_cache;           /* bundle_cache.h */
	const char *max_memory; /* --max-memory, see budget.h */
	int quiet, verbose, force, strict, no_sandbox;
};

extern const struct opt input_rows[];

/* Names of those of its options that choose samples, and that say how they are named: for the
 * modes of a verb, or a kind of input, that has no use for them. */
#define INPUT_FILTERS "event comm comms pid tid cpu time"
#define INPUT_NAMING                                                            \
	"symfs kallsyms vmlinux buildid-dir no-inline no-demangle constructors" \
	" max-stack trust-paths"

/* What a verb works with between opening and closing. */
struct input {
	const struct input_opts *opt;
	const char *verb, *path;
	struct bundle_input bundle; /* where its parts lie, when the input is one */
	int archive;  /* bundle.buildid_dir was a perf archive, and goes before --buildid-dir */
	char *folder; /* of the recording, for JIT maps beside it; or NULL */
	struct profile *profile;
	struct fold_options fold; /* filters filled in */
	VEC(int32_t) pids, tids;
	VEC(uint32_t) cpus;
	uint8_t *events;
	int warned, hinted; /* findings were reported, with a hint at doctor */
};

/* Open the recording named by the options or files (default perf.data) and parse the filters.
 * 0, or the exit status after one line on stderr. */
int input_open(struct input *in, const char *verb, const struct input_opts *opt,
	       const char *const *files, size_t nfiles);

/* The same over a source whose first bytes said it is perf.data or a bundle (input_kind.h); it
 * is taken over whatever happens. A closed source stands for the directory `path`. A bundle is
 * unpacked into the scratch folder; names then come from it and from nowhere else, but for
 * --symfs, --buildid-dir, --kallsyms and --vmlinux where they are given. */
int input_open_source(struct input *in, const char *verb, const struct input_opts *opt,
		      const char *path, struct source *src);

/* No recording, only the filters that need none: a store is asked, which knows itself what
 * --event may name. */
int input_open_filters(struct input *in, const char *verb, const struct input_opts *opt,
		       const char *path);

/* Close the recording and give all back; valid after a failed open, too. */
void input_close(struct input *in);

/* "perfkit: <text>" on stderr unless --quiet; counted, for --strict. */
void input_warn(struct input *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The exit status for a failure. */
int input_exit(const struct err *e);

/* The name of an event of what `ctx` is. */
typedef const char *input_event_name(const void *ctx, size_t event);

/* Say that --event asks for `name`, which is none of the n that the input has; 2. */
int input_no_event(const struct input *in, const char *name, input_event_name *event,
		   const void *ctx, size_t n);

/* One line for a failure; returns the exit status that belongs to its code. */
int input_fail(const struct input *in, const struct err *e);

/* Fold all samples that pass the filters (profile_fold), with a progress line on a terminal. 0,
 * or the exit status. */
int input_fold(struct input *in);

/* Say in one line, unless --quiet, whom --comm, --pid and --tid named and nobody was. */
void input_warn_no_thread(const struct input *in);

/* Say in one line, unless --quiet, that no `what` passes the filters that were given, where
 * these are more than names of threads. `more`: those that are the verb's own, NULL for none.
 */
void input_say_none(const struct input *in, const char *what, const char *more);

/* The one or the other, where no samples pass. */
void input_say_empty(const struct input *in, size_t samples);

/* The progress line: bytes or rows done, rate, time left; drawn after a second on. */
struct input_progress {
	struct timespec start;
	double last;
	int shown;
};
void input_progress_start(struct input_progress *p);
void input_progress_show(void *progress, uint64_t done, uint64_t total);
void input_progress_end(struct input_progress *p); /* removes the line */
/* 1 when stderr is a terminal and --quiet was not given. */
int input_shows_progress(const struct input_opts *opt);

/* Judge a folded profile for an answer about these topics: refuse it (3) as input_refuse does,
 * else say what input_say_findings says. 0, or the exit status. Nothing for a store. */
int input_check_findings(struct input *in, unsigned topics);

/* The same where there is no answer to refuse, as where a recording is copied. */
int input_warn_findings(struct input *in, unsigned topics);

/*
 * Say what the recording cannot tell of these topics: the worst three findings, one line each,
 * and where all of them stand. What timeline_answerable says is left to it; advice is doctor's.
 * `of` says which of several recordings they are about, or is "".
 */
void input_say_findings(struct input *in, const struct findings *f, unsigned topics,
			const char *of);

/* 3 after one line when a finding makes the answer misleading, which --force allows; else 0. */
int input_refuse(const struct input *in, const struct findings *f, unsigned topics,
		 const char *of);

/* The verb's exit status: 0, or 3 under --strict when anything was warned of. */
int input_status(const struct input *in);

/* 1 when input_rows are among the verb's tables: its options begin with a struct input_opts. */
int input_is_read_by(const struct verb *v);

#endif
