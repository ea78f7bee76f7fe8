/*
 * remedy.h - what would have to change in a recorded `perf record` line.
 *
 * Each finding asks for changes and says which options and why; all of them together give one
 * line (plan.h), so that pasting it gives a recording without any of these findings.
 */
#ifndef LIBTIME_RECORD_REMEDY_H
#define LIBTIME_RECORD_REMEDY_H

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

/* What an option is for: "-m 64M" gives larger buffers. */
enum option_effect {
	OPTION_ONE_EVENT, /* which alone needs no turns */
	OPTION_SCHED,     /* every switch and wakeup of all CPUs */
	OPTION_EXITS,     /* when threads end */
	OPTION_EACH_TIME, /* tracepoints are not sampled */
	OPTION_NO_GROUP,  /* all threads are counted */
	OPTION_MAPPINGS,  /* of all processes */
	OPTION_SAMPLES,
	OPTION_CLOCK,      /* that all CPUs and programs share */
	OPTION_TIMES,      /* of every record */
	OPTION_MAPPED_IDS, /* each mapping has the build-id of its file */
	OPTION_ALL_IDS,    /* of all mapped files */
	OPTION_COPIES,     /* of stacks, which need no frame pointers */
	OPTION_LARGER_COPIES,
	OPTION_SMALLER_COPIES,
	OPTION_BOTH_SIDES, /* of the stacks */
	OPTION_STACKS,
	OPTION_RING, /* larger buffers */
	OPTION_FEWER_SAMPLES,
	OPTION_EFFECTS
};

/* Takes one option; not 0: no more. */
typedef int option_say(void *ctx, enum option_effect effect, const char *option);

/*
 * Say the options by which `r` changes the recorded line, one after another. Sizes are those of
 * `all` changes together, of which r is a part. Nothing where r changes nothing. 0, or what
 * `say` returned; ERR_NOMEM.
 */
int remedy_why(const struct recording *rec, const struct remedy *r, const struct remedy *all,
	       option_say *say, void *ctx);

#endif
