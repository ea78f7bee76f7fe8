/*
 * survey.h - facts about a recording from all its records: which sides stacks have, how long
 * counters really ran, how often the kernel throttled.
 *
 * It is filled while a timeline is built (build_options.watch), so that doctor reads a
 * recording only once, and can read a pipe. findings.h uses it.
 */
#ifndef LIBTIME_DOCTOR_SURVEY_H
#define LIBTIME_DOCTOR_SURVEY_H

#include "base/hash.h"
#include "libparse/recording.h"
#include "libparse/sample.h"

struct survey_event {
	uint64_t samples;
	uint64_t stand_for;   /* sum of their periods, if each has its own */
	uint64_t kernel_mode; /* of processes with user mappings, with a callchain or dump */
	uint64_t no_user;     /* of those: without any user frame */
	uint64_t user_mode,
		user_without_frames; /* in user code; with a callchain without frames */
};

/* The last reading of one counter. */
struct survey_reading {
	uint64_t enabled, running;
};

/* Zero-initialised is valid and empty. */
struct survey {
	VEC(struct survey_event) events; /* by event index */
	VEC(struct survey_reading) readings;
	struct u64map reading_of; /* hash of event, id and thread → readings */
	struct u64map user_pids;  /* processes with a mapping of their own */
	uint64_t kernel_maps;     /* mappings of the kernel itself */
	int all_threads;          /* all threads were recorded: -a or -C */
	uint64_t kernel_samples;
	uint64_t first_ns, last_ns; /* of samples with a time; last_ns 0: none has one */
	int failed;                 /* ERR_NOMEM */
};

/* build_options.watch; `survey` is a struct survey. */
void survey_watch(void *survey, const struct recording *rec, const struct record *r,
		  const struct record_id *id, const struct sample *s);

/* build_options.rewatch: start again, since all records come again. */
void survey_rewatch(void *survey);

/* Release everything; the survey is then empty. */
void survey_release(struct survey *v);

#endif
