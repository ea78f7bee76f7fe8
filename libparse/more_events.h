/*
 * more_events.h - writes a perf.data file again with more tracepoints, whose samples perf did
 * not take. The result is as perf would have written it: header, formats, samples between perf's
 * own in the order that FINISHED_ROUND promises.
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt; of the formats of tracepoints,
 * tools/perf/util/trace-event-read.c.
 */
#ifndef LIBPARSE_MORE_EVENTS_H
#define LIBPARSE_MORE_EVENTS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A tracepoint; texts are borrowed. */
struct more_event {
	const char *name;   /* "sched:sched_switch" */
	const char *format; /* its format file in tracefs */
	uint64_t id;        /* of that file */
	int stacks; /* its samples have stacks; the same tracepoint may be there without, too */
};

/* One hit of a tracepoint. */
struct more_sample {
	uint64_t time;
	uint32_t pid, tid, cpu;
	uint32_t event; /* index */
	const void *raw;
	uint32_t nraw;
	uint64_t lost; /* not 0: no hit, but so many were lost on this CPU since the last one */
	/* with stacks: the callchain with its PERF_CONTEXT_* marks; registers and a copy of the
	 * user's stack from its pointer on, or NULL */
	const uint64_t *chain;
	uint32_t nchain;
	const uint64_t *regs; /* one for each bit of more_events.regs_mask */
	const void *copy;
	uint32_t copied; /* bytes, of more_events.copy_bytes */
};

struct more_events {
	const struct more_event *events;
	size_t nevents;
	uint64_t regs_mask;
	uint32_t copy_bytes; /* a multiple of 8 */
	int within;          /* only samples between the recording's own first and last */
	const char *const
		*argv; /* the command line that the header is to have; NULL: its own */
	size_t nargv;
	uint32_t ncpus;
	/* the next sample of a CPU, in order of time, if it is not later than `until`; else 0. That
	 * of UINT64_MAX: it has no more, and the next call begins anew. Views until the next call */
	int (*next)(void *ctx, uint32_t cpu, uint64_t until, struct more_sample *s);
	void *ctx;
};

/*
 * Write `recording` with these events to `out`, whose errors the caller checks. At least one of
 * its own events must be a tracepoint, recorded for all CPUs, as which the new ones are declared.
 * ERR_UNSUPPORTED if it is not a plain file like that; ERR_FORMAT, ERR_IO, ERR_NOMEM.
 */
int more_events_write(FILE *out, const char *recording, const struct more_events *m,
		      struct err *e);

#endif
