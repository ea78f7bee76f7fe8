/*
 * remedy.h - the changes to a recorded `perf record` line that findings propose.
 *
 * Each finding names options and the reason; the changes of all findings together give one line
 * (plan.h), which makes a recording without these findings.
 */
#ifndef LIBTIME_RECORD_REMEDY_H
#define LIBTIME_RECORD_REMEDY_H

#include <stdint.h>

struct recording;

/* Changes to the recorded line; zero-initialized: none. */
struct remedy {
	int sched;     /* every context switch and wakeup of all CPUs; implies stacks, clock */
	int every;     /* every hit of tracepoints, no sampling */
	int stacks;    /* at least -g */
	uint32_t dump; /* --call-graph dwarf with this many bytes */
	int copies;    /* also for events with frame-pointer chains */
	int ring;      /* larger ring buffers */
	int lossy;     /* records were lost: no larger copies, even if `dump` is set */
	uint32_t max_dump; /* many were lost: most bytes of copies */
	int clock;         /* a clock that other programs can read */
	uint64_t max_freq; /* most samples a second */
	int ungroup;       /* {a,b}:S as a,b */
	int build_ids, times, samples;
	int own_ids;      /* build-ids in mappings, not by path */
	int mappings;     /* of all processes: no --synth, -a instead of -C */
	int all_cpus;     /* it was recorded with -a; used if the line cannot be read */
	const char *only; /* only this event; borrowed */
};

/* Add the changes of `more` to `all`: the larger of two sizes, the smaller of two rates. */
void remedy_merge(struct remedy *all, const struct remedy *more);

/* 1 if the recording is one of waits by `perfkit record`, so that the remedy is a `perfkit
 * record` line. Only sched_switch has stack copies there. */
int remedy_is_perfkit(const struct recording *rec);

/* 1 if `r` changes the recorded line, else 0; ERR_NOMEM. */
int remedy_changes(const struct recording *rec, const struct remedy *r);

struct buf;

/* Append the option of the recorded line that leaves out switches, such as a filter; nothing
 * if there is none. `out` keeps ERR_NOMEM. */
void remedy_switch_filter(struct buf *out, const struct recording *rec);

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

/* 1 if counters of calls were recorded, as by `perfkit record calls`. */
int remedy_counts_calls(const struct recording *rec);

#endif
