#include "libtime/explain/recurrence.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/radix.h"

#include <math.h>
#include <stdlib.h>

enum {
	NEAR_NS = 1000000,    /* occurrences as close as this are one */
	LEVELS = 12,          /* tolerances: an eighth of the period, a sixteenth, ... */
	MAX_PERIODS = 8,      /* in a gap; longer gaps fit none */
	CANDIDATES = 32,      /* gaps tried as one period, and, ... */
	MAX_MULTIPLE = 3,     /* ... as two or three, if there are at least ... */
	MULTIPLE_GAPS = 6,    /* ... this many gaps */
	SINGLE_PART = 8,      /* at least 1 in 8 of the gaps that fit is a single period */
	MIN_GAPS = 6,         /* fewer show no period */
	REPORTED_LEVEL = 1,   /* gaps within a sixteenth are reported as fitting */
	SEARCHED_GAPS = 4096, /* in which a period is searched */
};

/* Natural logarithms of probabilities. The threshold is low because the best of many periods
 * and tolerances counts. */
static const double MAX_CHANCE = -6.5;
static const double CLEARLY = 3;     /* from end to start must be e^3 times less likely */
static const double ROUNDING = 1e-9; /* differences of libm between processors */

typedef VEC(uint64_t) gaps;

static int occurrence_order(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Join occurrences that overlap, or nearly do. */
static size_t join(struct occurrence *v, size_t n, uint64_t *together)
{
	size_t out = 0;
	for (size_t i = 0; i < n;) {
		size_t k = i;
		int several = 0;
		uint64_t end = v[i].end_ns;
		while (k + 1 < n && (v[k + 1].start_ns <= end ||
				     v[k + 1].start_ns - v[k].start_ns <= NEAR_NS)) {
			several |= v[++k].thread != v[i].thread;
			end = v[k].end_ns > end ? v[k].end_ns : end;
		}
		*together += several;
		v[out] = v[i];
		v[out++].end_ns = end;
		i = k + 1;
	}
	return out;
}

/* The smallest tolerance at which the gap is a multiple of the period, as a level; -1: none. */
static int level_of(uint64_t gap, uint64_t period)
{
	uint64_t k = (gap + period / 2) / period;
	uint64_t error = gap > k * period ? gap - k * period : k * period - gap;
	int level = -1;
	if (!k || k > MAX_PERIODS)
		return -1;
	while (level + 1 < LEVELS && error <= period >> (level + 4))
		level++;
	return level;
}

/* Chernoff bound: log P(at least f of n gaps fit) if each fits with probability p. */
static double chance(double n, double f, double p)
{
	double q = n > 0 ? f / n : 0;
	if (q <= p)
		return 0;
	return -n * (q * log(q / p) + (q < 1 ? (1 - q) * log((1 - q) / (1 - p)) : 0));
}

struct candidate {
	uint64_t period;
	int level;
	double chance; /* logarithm */
};

/* How well a period explains the gaps; it was made from one of them. Enough gaps must be single
 * periods: gaps of only 20 and 50 ms do not have a period of 10 ms. */
static void try_period(const gaps *d, uint64_t period, struct candidate *best)
{
	size_t n = d->n < SEARCHED_GAPS ? d->n : SEARCHED_GAPS, count[LEVELS] = {0}, fit = 0;
	size_t single[LEVELS] = {0}, seen = 0;
	for (size_t i = 0; period && i < n; i++) {
		int level = level_of(d->v[i], period);
		if (level < 0)
			continue;
		count[level]++;
		single[level] += d->v[i] < period + period / 2;
	}
	for (int level = LEVELS; level-- > 0;) {
		fit += count[level];
		seen += single[level];
		if (fit * 3 < n * 2 || seen * SINGLE_PART < fit)
			continue;
		double c = chance((double)n - 1, (double)fit - 1, ldexp(1, -2 - level));
		if (c < best->chance - ROUNDING)
			*best = (struct candidate){period, level, c};
	}
}

static int find(const gaps *d, struct candidate *best)
{
	gaps sorted = {0};
	size_t n = d->n < SEARCHED_GAPS ? d->n : SEARCHED_GAPS;
	size_t tries = n < CANDIDATES ? n : CANDIDATES;
	for (size_t i = 0; i < n; i++)
		if (vec_push(&sorted, d->v[i])) {
			vec_release(&sorted);
			return ERR_NOMEM;
		}
	if (n)
		qsort(sorted.v, n, sizeof(*sorted.v), order_u64);
	for (size_t i = 0; i < tries; i++)
		for (unsigned k = 1; k <= (n < MULTIPLE_GAPS ? 1 : MAX_MULTIPLE); k++)
			try_period(d, sorted.v[i * n / tries] / k, best);
	vec_release(&sorted);
	return 0;
}

/* Count the gaps that fit; their median is the period. */
static int measure(const gaps *d, const struct candidate *best, struct period *out)
{
	int level = best->level < REPORTED_LEVEL ? best->level : REPORTED_LEVEL;
	gaps fit = {0};
	for (size_t i = 0; i < d->n; i++) {
		uint64_t periods = (d->v[i] + best->period / 2) / best->period;
		if (level_of(d->v[i], best->period) >= level &&
		    vec_push(&fit, d->v[i] / periods)) {
			vec_release(&fit);
			return ERR_NOMEM;
		}
	}
	if (fit.n)
		qsort(fit.v, fit.n, sizeof(*fit.v), order_u64);
	*out = (struct period){fit.n ? fit.v[fit.n / 2] : 0, fit.n, d->n};
	vec_release(&fit);
	return 0;
}

/* Gaps from start to start, or with `pauses` from end to start. */
static int gaps_of(const struct occurrence *v, size_t n, int pauses, gaps *out)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t from = pauses ? v[i - 1].end_ns : v[i - 1].start_ns;
		if (vec_push(out, v[i].start_ns - from))
			return ERR_NOMEM;
	}
	return 0;
}

/* Find the period of gaps of one kind, if its chance is at most *chance, which is updated. */
static int find_period(const struct occurrence *v, size_t n, int pauses, double *chance,
		       struct period *out)
{
	struct candidate best = {0};
	gaps d = {0};
	int r = gaps_of(v, n, pauses, &d);
	if (!r)
		r = find(&d, &best);
	if (!r && best.chance <= *chance) {
		r = measure(&d, &best, out);
		*chance = best.chance;
	}
	vec_release(&d);
	return r;
}

int recurrence_find(struct occurrence *v, size_t n, struct recurrence *out, struct err *e)
{
	*out = (struct recurrence){0};
	if (n)
		qsort(v, n, sizeof(*v), occurrence_order);
	n = join(v, n, &out->together);
	out->occurrences = n;
	double chance = MAX_CHANCE;
	if (n > MIN_GAPS && find_period(v, n, 0, &chance, &out->rate))
		return err_nomem(e);
	chance -= out->rate.ns ? CLEARLY : 0;
	if (n > MIN_GAPS && find_period(v, n, 1, &chance, &out->pause))
		return err_nomem(e);
	return 0;
}
