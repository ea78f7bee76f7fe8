/*
 * runs.h - compares figures of several runs before a change with those of several after it.
 *
 *	run by run: runs_begin, runs_add ... ──runs_finish──► figures with ranges and verdicts
 *
 * Runs are the unit of chance: one figure of a run is one observation, however many samples it is
 * made of. If the change has no effect, every order of the runs by a figure is as likely as any
 * other, so the share of orders at least as extreme as the observed one is the probability of a
 * false alarm (the exact permutation test of ranks, Mann-Whitney's). No distribution is assumed,
 * and a run that was disturbed counts as one run, however far it is off.
 *
 *	before, after  medians of the runs
 *	difference     after - before
 *	low, high      its 95 % range: of the differences of all pairs, those that the same test
 *		       keeps (Hodges and Lehmann), widened to `difference`, no lower than
 *		       -before; infinite with too few runs
 *	chance         the probability, corrected for the number of rows tested together (Benjamini
 *		       and Hochberg)
 *
 * Rows that no run has as much of as the smallest effect are not tested: they cannot have changed
 * by so much.
 */
#ifndef LIBTIME_TABLES_RUNS_H
#define LIBTIME_TABLES_RUNS_H

#include "libtime/tables/compare.h"

enum figure_kind {
	FIGURE_WHOLE, /* of the whole recording: "CPU time", "waiting", "recorded" */
	FIGURE_SELF,  /* of functions */
	FIGURE_TOTAL,
	FIGURE_SITE,
	FIGURE_CAUSE,
	FIGURE_ROOT,        /* of the run's own worst waits */
	FIGURE_WAIT_LENGTH, /* percentiles of waits */
	FIGURE_SPAN,        /* time in spans of one name */
	FIGURE_SPAN_COUNT,
	FIGURE_SPAN_LENGTH, /* percentiles of spans */
	FIGURE_KINDS,
};

/* "whole", "function", "function", "site", "cause", "root", "wait", "span" ... */
const char *figure_kind_name(unsigned kind);

enum figure_unit { FIGURE_NS, FIGURE_COUNT };

enum verdict_of_runs { RUNS_CANNOT_SAY, RUNS_SAME, RUNS_LESS, RUNS_MORE };

/* "cannot say", "same", "less", "more". */
const char *runs_verdict_name(unsigned verdict);

/* One row. */
struct figure {
	char *name;            /* heap */
	uint32_t millipercent; /* of lengths: which percentile */
	uint8_t kind, unit;
	uint8_t tested;  /* large enough for the smallest effect */
	uint8_t verdict; /* enum verdict_of_runs */
	double *value;   /* by run; NAN: a length that the run does not have */
	size_t runs;     /* of them that value has room for; all, once finished */
	double before, after, difference, low, high;
	double chance;            /* corrected; 1 where it was not tested */
	double more, less, least; /* uncorrected one-sided chances; the smallest effect */
};

/* One recording of a group. */
struct run {
	int side;         /* BEFORE, AFTER */
	char *name;       /* heap */
	uint64_t when_ns; /* when it began, on a clock of all runs; 0: not known */
	uint64_t recorded_ns;
};

enum { RUNS_SPLIT = 1, RUNS_SWAPPED, RUNS_MIXED, RUNS_APART }; /* order of the groups in time */

/* Zero-initialised is empty. */
struct runs {
	VEC(struct run) v; /* BEFORE's, then AFTER's */
	VEC(struct figure) figures;
	struct idmap index;
	size_t n[COMPARE_SIDES];
	double least_share; /* smallest effect, as a share: 0.02 */
	size_t tested;
	double attainable; /* the smallest two-sided chance that so many runs can have */
	int order;         /* RUNS_SPLIT: all of AFTER after all of BEFORE; RUNS_SWAPPED: the
			      other way; RUNS_APART: more so than chance explains; 0: times are
			      not known */
};

/* Chances up to this are a change. */
#define RUNS_LEVEL 0.05

/* Begin the next run, of BEFORE first. `name` is copied. ERR_NOMEM. */
int runs_begin(struct runs *r, int side, const char *name);

/* Add to a figure of the last run; sums of several calls with one name. ERR_NOMEM. */
int runs_add(struct runs *r, unsigned kind, const char *name, uint32_t millipercent,
	     unsigned unit, double value);

/* Add the figures of the function `from` to those of `to`. ERR_NOMEM. */
int runs_rename(struct runs *r, const char *from, const char *to);

/* Compute everything. Rows of one side only join those of the other whose names differ by a
 * program's version or by what compilers append. Sorted by kind, then changes first.
 * ERR_NOMEM. */
int runs_finish(struct runs *r);
void runs_release(struct runs *r);

/* The smallest number of runs on each side that could show a change among `rows` tested rows. */
size_t runs_needed(size_t rows);

/* Does the figure drift with the time of recording within the groups? 1 or -1 if chance does not
 * explain it (1 %), else 0. */
int runs_drift(const struct runs *r, const struct figure *f);

/* Correct n chances in place (Benjamini and Hochberg). ERR_NOMEM. */
int runs_correct(double *chance, size_t n);

#endif
