/*
 * record_jitter.h - `perfkit record jitter`: perfkit spins on the chosen CPUs and notes its
 * gaps while perf records which threads had these CPUs; one bundle contains both. It runs, with
 * a temporary DIR:
 *
 *	perf record ... -o DIR/perf.data -- \
 *		perfkit record jitter --gaps-only ... -o DIR/perf.data.gaps
 *	perfkit pack DIR/perf.data -o jitter.tar.zst
 */
#ifndef CMD_RECORD_RECORD_JITTER_H
#define CMD_RECORD_RECORD_JITTER_H

#include "cmd/cli/opt.h"
#include "libtime/record/plan.h"

/* The first member of the verb's options. */
struct jitter_opts {
	const char *spin, *threshold, *csv, *influx;
	int control, gaps_only;
};

extern const struct opt record_jitter_rows[];

/* 1 if an option was given that only jitter has; *name is its name. */
int record_jitter_given(const struct jitter_opts *o, const char **name);

enum { JITTER_DRY = 1, JITTER_PRICE = 2, JITTER_MEASURE = 4 };

/* Record, or with JITTER_DRY print what would run (and what it would cost, counted or
 * measured). Returns the exit status; errors are printed. w->output may be NULL. */
int record_jitter(const struct jitter_opts *o, const struct record_wish *w, int dry);

#endif
