/*
 * watch_run.h - runs `perfkit watch`: one process reads the stream and drops what is old. Each
 * answer is made by a forked child, so that reading goes on, and an answer's memory is freed
 * with it.
 */
#ifndef CMD_ANSWER_WATCH_RUN_H
#define CMD_ANSWER_WATCH_RUN_H

#include "cmd/query/waits.h"
#include "libtime/watch/history.h"
#include "libtime/watch/spikes.h"

struct watch_opts {
	struct wait_opts wait; /* first, for rows of tail */
	const char *over, *warn, *crit, *window, *prom, *save, *before, *after, *memory;
	int keep, status, most, unclear;
};

/* The parsed options. */
struct watch_plan {
	const struct watch_opts *opt;
	struct spike_query query; /* only lengths; an answer sets times and population */
	struct history_limits limits;
	uint64_t before_ns, after_ns;
};

/* Read `fd` until it ends or a signal asks to end. The exit status. */
int watch_run(const struct watch_plan *plan, int fd);

/* One answer, in a child, whose history it uses up: prints the spikes, and returns the counts.
 * `checked`: an error if the stream cannot have waits. 0, or the exit status. */
int watch_answer(const struct watch_plan *plan, struct history *h, struct spike_query q,
		 int checked, struct watch_counts *counts, uint64_t *first_ns,
		 uint64_t *last_ns);

/* Write the history from `from_ns` on to a file in the folder of --save, and remove the oldest
 * files beyond --keep. Runs in a child, since it shortens the history. 0 or ERR_*. */
int watch_save(const struct watch_plan *plan, struct history *h, uint64_t from_ns,
	       uint64_t at_ns, struct err *e);

/* The process's name, by which its own waits are excluded. */
#define WATCH_COMM "perfkit-watch"

#endif
