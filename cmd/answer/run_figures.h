/*
 * run_figures.h - the figures of one recording, for `compare`: what it adds to runs.h.
 */
#ifndef CMD_ANSWER_RUN_FIGURES_H
#define CMD_ANSWER_RUN_FIGURES_H

#include "cmd/query/waits.h"
#include "libsym/name/match.h"
#include "libtime/tables/runs.h"

/* What all runs share. Zero-initialised is empty; `per_recording` and `wait` are the caller's. */
struct run_figures {
	const struct wait_opts *wait; /* filters */
	int per_recording;            /* sums as they are, not per second */
	struct runs runs;
	struct strtab shown;      /* functions as rows name them: "checksum, app" */
	VEC(struct run_function { /* by id of `shown`; the first is "" */
				  char *name, *module;
				  unsigned sides;
	})
	functions;
	struct buf event;                /* what functions are weighed by */
	int counts;                      /* it is not time */
	size_t waits, spans, functional; /* runs that have them */
	VEC(uint64_t) ids;               /* of runs: to notice one that is given twice */
	int walls, same_host;            /* all have a wall clock; all are of one host */
	VEC(uint64_t) boot_ns, file_ns;  /* by run: other times of its begin */
	struct buf host;
};

/* Read all recordings of `path` (a store may have several) as runs of that side, one after the
 * other. 0, or the exit status after one line on stderr. */
int run_figures_read(struct run_figures *f, int side, const char *path);

/* Name functions alike, choose a clock for the order, and compare. `notes` gets sentences about
 * names that differ. ERR_NOMEM. */
int run_figures_finish(struct run_figures *f, struct buf *notes);
void run_figures_release(struct run_figures *f);

/* What the runs' order is known by: "wall clock"; NULL: it is not known. */
const char *run_figures_clock(const struct run_figures *f);

#endif
