/*
 * remedy.h - what would have to change in a recorded `perf record` line.
 *
 * Each finding asks for changes and says which options and why; all of them together give one
 * line (plan.h), so that pasting it gives a recording without any of these findings.
 */
#ifndef LIBTIME_RECORD_REMEDY_H
#define LIBTIME_RECORD_REMEDY_H

#include "base/text/buf.h"
#include <stdint.h>

struct recording;

/* What is to change in the recorded line; zero-initialised: nothing. */
struct remedy {
	int sched;     /* every context switch and wakeup of all CPUs; implies stacks, clock */
	int every;     /* tracepoints each time, not sampled */
	int stacks;    /* at least -g */
	uint32_t dump; /* --call-graph dwarf with so many bytes */
	int copies;    /* that, too, of events that have a frame-pointer chain of their own */
	int ring;      /* larger ring buffers */
	int spare;     /* records were lost: no larger copies, whatever is asked for */
	uint32_t max_dump; /* many were: copies not larger than this */
	int clock;         /* a clock that other programs have, too */
	uint64_t max_freq; /* not more samples a second */
	int ungroup;       /* {a,b}:S as a,b */
	int build_ids, times, samples;
	int own_ids;      /* each mapping's build-id beside it, not by path */
	int mappings;     /* of all processes: no --synth, -a instead of -C */
	int all_cpus;     /* -a was recorded; for where the line cannot be read */
	const char *only; /* this event alone; borrowed */
};

/* Let `all` ask for what `more` asks for, too; of two sizes the larger, of two rates the
 * smaller. */
void remedy_merge(struct remedy *all, const struct remedy *more);

/* 1 when `perfkit record` made the recording, one of waits, and the remedy is its own line.
 * Only sched_switch has stack copies there. */
int remedy_is_perfkit(const struct recording *rec);

/* 1 when `r` changes anything of the recorded line, 0 when not; ERR_NOMEM. */
int remedy_changes(const struct recording *rec, const struct remedy *r);

/*
 * Append the options by which `r` changes the recorded line, and why: "-m 64M: larger buffers".
 * Sizes are those of `all` changes together, of which r is a part. Nothing where r changes
 * nothing.
 */
void remedy_why(struct buf *out, const struct recording *rec, const struct remedy *r,
		const struct remedy *all);

#endif
