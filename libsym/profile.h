/*
 * profile.h - libsym's model: a recording with its threads, mappings, names and interned
 * stacks.
 *
 *	struct profile *p;
 *	profile_open(&p, "perf.data", &opt, &e);
 *	profile_fold(p, &fold, &e);
 *	for (i < p->folded.n) ... p->folded.v[i] {comm, event, path, weight} ...
 *	profile_close(p);
 */
#ifndef LIBSYM_PROFILE_H
#define LIBSYM_PROFILE_H

#include "libsym/collect.h"
#include "libsym/names.h"

struct profile_options {
	struct modules_options modules;
	struct names_options names;
};

/* Samples of one event with one stack, counted. */
struct folded {
	uint32_t event;
	uint32_t comm;    /* strings id; a thread never named is ":TID" */
	int32_t pid, tid; /* set if fold_options.by has them, else -1 */
	uint32_t cpu;
	uint32_t cgroup; /* strings id of its path, NO_ID: unknown; 0 if not in `by` */
	uint32_t label;  /* labels at that time: libtime/spans/label_sets.h; 0 = none */
	uint32_t path;   /* call path; 0 = the stack was empty */
	int chain;       /* the event records callchains */
	uint64_t weight, samples;
};

struct fold_options {
	struct aggregate_options aggregate;
	int workers;
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

struct profile {
	struct recording *rec;
	struct stacks stacks;
	struct machine machine; /* strings are stacks.strings */
	struct modules *modules;
	struct names names;
	VEC(struct folded) folded; /* in no particular order */
	struct aggregate_stats totals;
	struct expand_counts unwinding;
	struct activity activity; /* of processes, if that was asked for */
	uint64_t *first_of_event; /* ns; UINT64_MAX: the event has no samples */
	uint64_t *last_of_event;  /* ns; 0: no sample of it has a time */
};

/* Open a recording (see recording_open for the paths allowed). Only the header is read yet.
 * *out is NULL on failure. */
int profile_open(struct profile **out, const char *path, const struct profile_options *opt,
		 struct err *e);

/* The same for an open recording, which the profile owns from now on (also if this fails). */
int profile_of(struct profile **out, struct recording *rec, const struct profile_options *opt,
	       struct err *e);

/* Read all samples, fold them by stack, name every frame: fills p->folded. Once per profile. */
int profile_fold(struct profile *p, const struct fold_options *opt, struct err *e);

/* Prepare to read again: reset the machine and the modules, and rewind the recording with the
 * given statistics. Texts stay interned; nothing may have been named. ERR_UNSUPPORTED for
 * streams, ERR_NOMEM. */
int profile_start_over(struct profile *p, const struct recording_stats *stats, struct err *e);

/* perf's name of a thread without one, ":TID", interned. 0 or ERR_NOMEM. */
int profile_tid_comm(struct profile *p, int32_t tid, uint32_t *comm);

/* Copy the recorded build-ids of all DSOs to the stacks (stacks_build_id), after all side-band
 * records; profile_fold does so itself. 0 or ERR_NOMEM. */
int profile_note_build_ids(struct profile *p);

/* NULL is accepted. */
void profile_close(struct profile *p);

#endif
