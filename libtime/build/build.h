/*
 * build.h - turns a recording into a timeline: here, and only here, perf's records and
 * tracepoints become scheduler events, samples, marks and totals.
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
 * The records are read once, in order of time. Side-band records are read before them if that
 * order is not enough to know what was mapped when; a file whose records come late is read
 * again (order.h). Callchains are interned as raw words; each distinct one is named once, at
 * the end. Meanwhile other threads read ahead and prepare the files that stacks need. Of a large
 * file of nothing but on-CPU samples, two other threads name every chain meanwhile.
 */
#ifndef LIBTIME_BUILD_BUILD_H
#define LIBTIME_BUILD_BUILD_H

#include "libtime/build/fd_context.h"
#include "libtime/sched/timeline.h"
#include "libsym/profile.h"

/* Which tracepoint samples become timeline.event_samples; others are only counted (struct
 * tl_event). */
enum event_samples {
	EVENT_SAMPLES_NONE,
	EVENT_SAMPLES_ELSE, /* all, where nothing else tells who ran: no switches are recorded
			     */
	EVENT_SAMPLES_ALL,
};

struct build_options {
	const struct fd_context *context; /* of the recorded host; may be NULL */
	/* called now and then with the number of bytes read; may be NULL */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
	const char *const *spans; /* --span: see span_def.h */
	size_t nspans;
	/* called with every record in order of time, and the fields of samples (else NULL),
	 * valid during the call; may be NULL */
	void (*watch)(void *ctx, const struct recording *rec, const struct record *r,
		      const struct record_id *id, const struct sample *s);
	/* called before a file is read again: forget what `watch` has got; NULL if `watch` is
	 */
	void (*rewatch)(void *ctx);
	void *watch_ctx; /* of both */
	/* leave out the user's part of a stack of a wakeup from a hardware interrupt: it is of
	 * whatever ran there, so naming it reads files for nothing */
	int no_bystanders;
	int no_samples; /* leave out on-CPU samples, which have most of the stacks */
	enum event_samples event_samples;
	int addrs;    /* keep frames without a mapping apart by address */
	int activity; /* find out how active processes were: profile.activity */
};

/* 1 if the recording has context switches. Tracepoints whose names are lost are recognized by
 * their formats. */
int build_has_scheduler(const struct recording *rec);

/* On how many CPUs switches were recorded, by the events' instances; 0: unknown. */
size_t build_switch_cpus(const struct recording *rec);

/*
 * Read the whole recording of `p` (opened, not yet read) into `tl`, which is initialized here
 * and finished on return; the caller releases it, after a failure too. Causes are not set yet.
 * ERR_USAGE for an impossible span, ERR_* of reading. A recording without scheduler events
 * gives a timeline of samples only (see timeline_answerable).
 */
int timeline_build(struct profile *p, const struct build_options *opt, struct timeline *tl,
		   struct err *e);

#endif
