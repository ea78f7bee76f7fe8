/*
 * watch_run.h - `perfkit watch` at work: one process reads the stream and forgets what is old;
 * every answer is made by a child of its own, from the same memory, so that nothing an answer
 * needs stays behind, and reading goes on meanwhile.
 */
#ifndef CMD_ANSWER_WATCH_RUN_H
#define CMD_ANSWER_WATCH_RUN_H

#include "cmd/query/waits.h"
#include "libtime/watch/history.h"
#include "libtime/watch/spikes.h"

struct watch_opts {
	struct wait_opts wait; /* first, for rows of tail's */
	const char *over, *warn, *crit, *window, *prom, *save, *before, *after, *memory;
	int keep, status, most, unclear;
};

/* The same, read. */
struct watch_plan {
	const struct watch_opts *opt;
	struct spike_query query; /* its lengths; times and population are each answer's */
	struct history_limits limits;
	uint64_t before_ns, after_ns;
};

/* Read `fd` until it ends or a signal asks to end. The exit status. */
int watch_run(const struct watch_plan *plan, int fd);

/* One answer, in a child, whose history it uses up: prints the spikes, and returns the counts.
 * 0, or the exit status. */
int watch_answer(const struct watch_plan *plan, struct history *h, struct spike_query q,
		 struct watch_counts *counts, uint64_t *first_ns, uint64_t *last_ns);

/* Write what is kept from `from_ns` on to a file in the folder of --save, and remove the oldest
 * beyond --keep; in a child, whose history it shortens. 0 or ERR_*. */
int watch_save(const struct watch_plan *plan, struct history *h, uint64_t from_ns,
	       uint64_t at_ns, struct err *e);

/* The process's name, by which its own waits are left out. */
#define WATCH_COMM "perfkit-watch"

#endif
