/*
 * compare.h - compares figures of two recordings, and finds the differences that chance does
 * not explain.
 *
 * A figure is a rate (time or events of one name per second of recording), a mean or a
 * percentile. Each has a 99 % confidence interval, and has changed if the intervals before and
 * after do not overlap. The interval comes from the recording itself: it is cut into BLOCKS
 * stretches, and the differences between them show how much another recording may differ. A
 * burst stays in one block, so it counts as one coincidence, not as many.
 *
 *	rate        sum of the blocks' sums ± t·s·√BLOCKS (batch means); with few events, at
 *		    least Byar's bounds of a Poisson count
 *	share       of all samples: the error of a ratio over the blocks; with few samples, at
 *		    least Byar's bounds, too
 *	mean        sum of times by number of events, with the error of a ratio over the blocks;
 *		    not known for fewer than eight events
 *	percentile  the number of episodes above it is a count, which varies like a Poisson
 *		    count, or as many times more as the blocks do; the lengths at the ranks of
 *		    its bounds bound the percentile (Woodruff's method; no distribution is
 *		    assumed)
 */
#ifndef LIBTIME_TABLES_COMPARE_H
#define LIBTIME_TABLES_COMPARE_H

#include "base/err.h"
#include "base/hash.h"
#include "base/text/buf.h"
#include "base/vec.h"

#include <stdint.h>

enum { COMPARE_BLOCKS = 32 };
enum { BEFORE, AFTER, COMPARE_SIDES };

struct estimate {
	/* NAN: not known; high: INFINITY if there is no upper bound */
	double value, low, high;
};

/* 1: longer or more; -1: shorter or less; 0: the ranges overlap. */
int estimate_change(const struct estimate *before, const struct estimate *after);

/* One length of which percentiles are computed. */
struct compared_length {
	uint64_t ns;
	uint32_t block;
};

/* The percentile (thousandths of a percent) of n lengths, which are sorted here; NAN for n 0.
 */
struct estimate estimate_percentile(struct compared_length *v, size_t n, uint32_t millipercent);

/* The figures of one name. */
struct compared {
	char *name; /* heap */
	/* ns per event; ns and events per second of recording */
	struct estimate mean[COMPARE_SIDES], time[COMPARE_SIDES], count[COMPARE_SIDES];
	double ns[COMPARE_SIDES][COMPARE_BLOCKS], n[COMPARE_SIDES][COMPARE_BLOCKS];
};

/* Zero-initialised is empty. */
struct comparison {
	VEC(struct compared) v;
	struct idmap index;
	uint64_t recorded_ns[COMPARE_SIDES];
	/* Events are samples: only `time` is compared, and it is a share of all samples' weight, in
	 * billionths. */
	int samples;
	double all[COMPARE_SIDES][COMPARE_BLOCKS]; /* their weight, private */
};

/* The block of [from, to) that `at` is in. */
uint32_t compare_block(uint64_t from, uint64_t to, uint64_t at);

/* Count `n` events of that name, with a sum of `ns`, in a block. ERR_NOMEM. */
int compare_add(struct comparison *c, int side, const char *name, uint32_t block, uint64_t ns,
		uint64_t n);

/* Compute the figures, after everything is added and recorded_ns is set, and sort them: changed
 * ones first, then by the change of time. Unless they are of samples, rows of one side only
 * are one with those of the other whose names differ by a program's version or by what compilers
 * append. ERR_NOMEM. */
int compare_finish(struct comparison *c);
/* Free everything. */
void compare_release(struct comparison *c);

/* Replace the content of `b` by the name without versions and what compilers append. */
void compare_name_stem(struct buf *b, const char *name);

#endif
