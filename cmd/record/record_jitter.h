/*
 * record_jitter.h - `perfkit record jitter`: a program of ours spins on the chosen CPUs and
 * notes its gaps, perf beside it records who had the CPU, and one bundle holds both.
 *
 *	perf record ... -o DIR/perf.data -- perfkit record jitter --gaps-only ... -o
 *DIR/perf.data.gaps perfkit pack DIR/perf.data -o jitter.tar.zst
 */
#ifndef CMD_RECORD_RECORD_JITTER_H
#define CMD_RECORD_RECORD_JITTER_H

#include "cmd/cli/opt.h"
#include "libtime/record/plan.h"

/* The first thing in the verb's options. */
struct jitter_opts {
	const char *spin, *threshold, *csv, *influx;
	int control, gaps_only;
};
extern const struct opt record_jitter_rows[];

/* 1 when an option was given that only jitter takes: *name is what it is called. */
int record_jitter_given(const struct jitter_opts *o, const char **name);

enum { JITTER_DRY = 1, JITTER_PRICE = 2, JITTER_MEASURE = 4 };

/* Do it, or with JITTER_DRY print what would run (and what it would cost, counted or measured);
 * the exit status, after one line on stderr. w->output may be NULL. */
int record_jitter(const struct jitter_opts *o, const struct record_wish *w, int dry);

#endif
