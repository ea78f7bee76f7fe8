/*
 * remedy.h - the `perf record` line that would have been right, from the one that was recorded.
 *
 * Each finding asks for changes; all of them together give one line, so that pasting it
 * gives a recording without any of these findings.
 */
#ifndef LIBTIME_RECORD_REMEDY_H
#define LIBTIME_RECORD_REMEDY_H

#include "base/buf.h"
#include "libparse/recording.h"

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

/* 1 when a remedy is a command for sh, not a sentence. */
int remedy_is_command(const char *text);

/*
 * Append `perf record ...`: the recorded words with what `r` changes, quoted for sh. Options
 * that name a rate go to the events they are meant for where tracepoints stand beside. What
 * cannot be shown on a terminal or is not perf record's own line is replaced: the options by
 * the recording's events (EVENT where their names are lost), the command by COMMAND. How stacks
 * are taken stays each event's own where the line has it so.
 *
 * Events of probes that are gone (perfkit:*, probe_*:*) are left out; where no other is there,
 * `perf probe ... &&` stands in front. A recording that `perfkit record` made gives `perfkit
 * record ...`, which sets its probes anew.
 */
void remedy_line(struct buf *out, const struct recording *rec, const struct remedy *r);

#endif
