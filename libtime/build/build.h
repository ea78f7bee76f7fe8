/*
 * build.h - a recording → its timeline: the one place where perf's records and tracepoints
 * become scheduler events, samples, marks and totals.
 *
 *	profile_open(&p, "perf.data", &popt, &e);
 *	struct timeline tl;
 *	timeline_build(p, &bopt, &tl, &e);      // tl uses p->stacks
 *	causes_new(&c, &e);
 *	causes_apply(c, &tl, &e);
 *	...
 *	timeline_release(&tl);
 *	profile_close(p);
 *
 * The records are read once in the order of time (side-band records once before where that
 * order is not enough to know what was mapped when; all once more where a file's records come
 * late, see order.h); callchains are interned as raw words
 * and named at the end, each distinct one once. Meanwhile other threads read ahead and
 * prepare the files that stacks need.
 */
#ifndef LIBTIME_BUILD_BUILD_H
#define LIBTIME_BUILD_BUILD_H

#include "libtime/build/fd_context.h"
#include "libtime/sched/timeline.h"
#include "libsym/profile.h"

/* Samples of tracepoints in timeline.event_samples; others are counted (struct tl_event). */
enum event_samples {
	EVENT_SAMPLES_NONE,
	EVENT_SAMPLES_ELSE, /* all, where nothing else tells who ran: no switches are recorded
			     */
	EVENT_SAMPLES_ALL,
};

struct build_options {
	const struct fd_context *context; /* of the recorded host; may be NULL */
	/* called now and then with how many bytes of the file's are read; may be NULL */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
	const char *const *spans; /* --span: see span_def.h */
	size_t nspans;
	/* called with every record in the order of time, of samples with their fields (else
	 * NULL); what it is given ends with the call; may be NULL */
	void (*watch)(void *ctx, const struct recording *rec, const struct record *r,
		      const struct record_id *id, const struct sample *s);
	/* called before a file is read once more: what was watched so far is void; NULL where
	 * `watch` is */
	void (*rewatch)(void *ctx);
	void *watch_ctx; /* of both */
	int no_samples;  /* leave the on-CPU samples out (their stacks are the larger part) */
	enum event_samples event_samples; /* of tracepoints: which are kept */
	int addrs; /* frames that no mapping holds apart by their addresses */
};

/* 1 when the recording tells when threads left and got a CPU: by the formats of its
 * tracepoints, where their names are lost. */
int build_has_scheduler(const struct recording *rec);

/* On how many CPUs the recording tells of switches, by the events' instances; 0: not known. */
size_t build_switch_cpus(const struct recording *rec);

/*
 * Read the whole recording behind `p` (opened, not yet read) into `tl`, which is initialised
 * here, finished on return, and the caller's to release also when this fails. Causes are not
 * set yet. ERR_USAGE for a span that cannot be, ERR_* of reading; a recording without any
 * scheduler event gives a timeline with samples only (see timeline_answerable).
 */
int timeline_build(struct profile *p, const struct build_options *opt, struct timeline *tl,
		   struct err *e);

#endif
