#include "libtime/explain/recurrence.h"
#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>

enum {
	NEAR_NS = 1000000, /* moments that near to each other are one occurrence */
	LEVELS = 12,       /* tolerances: an eighth of the period, and so on by halves */
	BEATS = 8,         /* a distance is at most that many periods */
	CANDIDATES = 32,   /* distances tried as the period, or as ... */
	SHARES = 3,        /* ... two or three of it, where there are ... */
	FEW = 6,           /* ... more than a few distances */
	SEEN = 8,          /* one in so many of those that fit is the period itself */
	GAPS = 6,          /* fewer gaps say nothing */
	TOLD = 1,          /* what fits for people: to a sixteenth of the period */
	LOOKED_AT = 4096,  /* distances that the period is sought in */
};

/* The logarithm of how likely chance may be. */
static const double BELIEVED = -6.5;
static const double CLEARLY = 3;  /* less likely by that */
static const double ALIKE = 1e-9; /* what a processor's rounding makes of the same */

typedef VEC(uint64_t) distances;

static int moment_order(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static int distance_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Moments that overlap, or nearly do, become one occurrence. */
static size_t join(struct moment *v, size_t n, uint64_t *together)
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

/* At which tolerance, counted from 0, the distance is still a multiple of the period; -1. */
static int level_of(uint64_t distance, uint64_t period)
{
	uint64_t k = (distance + period / 2) / period;
	uint64_t off = distance > k * period ? distance - k * period : k * period - distance;
	int level = -1;
	if (!k || k > BEATS)
		return -1;
	while (level + 1 < LEVELS && off <= period >> (level + 4))
		level++;
	return level;
}

/* Chernoff's bound on the logarithm of P(at least f of n fit), each doing so with p. */
static double chance(double n, double f, double p)
{
	double q = n > 0 ? f / n : 0;
	if (q <= p)
		return 0;
	return -n * (q * log(q / p) + (q < 1 ? (1 - q) * log((1 - q) / (1 - p)) : 0));
}

struct rhythm {
	uint64_t period;
	int level;
	double chance; /* logarithm */
};

/* How well that period explains the distances, one of which it was taken from. Nothing comes
 * every 10 ms where all distances are 20 or 50 ms. */
static void try_period(const distances *d, uint64_t period, struct rhythm *best)
{
	size_t n = d->n < LOOKED_AT ? d->n : LOOKED_AT, count[LEVELS] = {0}, fit = 0;
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
		if (fit * 3 < n * 2 || seen * SEEN < fit)
			continue;
		double c = chance((double)n - 1, (double)fit - 1, ldexp(1, -2 - level));
		if (c < best->chance - ALIKE)
			*best = (struct rhythm){period, level, c};
	}
}

static int find(const distances *d, struct rhythm *best)
{
	distances sorted = {0};
	size_t n = d->n < LOOKED_AT ? d->n : LOOKED_AT;
	size_t tries = n < CANDIDATES ? n : CANDIDATES;
	for (size_t i = 0; i < n; i++)
		if (vec_push(&sorted, d->v[i])) {
			vec_release(&sorted);
			return ERR_NOMEM;
		}
	if (n)
		qsort(sorted.v, n, sizeof(*sorted.v), distance_order);
	for (size_t i = 0; i < tries; i++)
		for (unsigned k = 1; k <= (n < FEW ? 1 : SHARES); k++)
			try_period(d, sorted.v[i * n / tries] / k, best);
	vec_release(&sorted);
	return 0;
}

/* Count the distances that fit, and take the period from all of them: their median. */
static int measure(const distances *d, const struct rhythm *best, struct beat *out)
{
	int level = best->level < TOLD ? best->level : TOLD;
	distances fit = {0};
	for (size_t i = 0; i < d->n; i++) {
		uint64_t beats = (d->v[i] + best->period / 2) / best->period;
		if (level_of(d->v[i], best->period) >= level &&
		    vec_push(&fit, d->v[i] / beats)) {
			vec_release(&fit);
			return ERR_NOMEM;
		}
	}
	if (fit.n)
		qsort(fit.v, fit.n, sizeof(*fit.v), distance_order);
	*out = (struct beat){fit.n ? fit.v[fit.n / 2] : 0, fit.n, d->n};
	vec_release(&fit);
	return 0;
}

/* From start to start, or from end to start. */
static int distances_of(const struct moment *v, size_t n, int pauses, distances *out)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t from = pauses ? v[i - 1].end_ns : v[i - 1].start_ns;
		if (vec_push(out, v[i].start_ns - from))
			return ERR_NOMEM;
	}
	return 0;
}

/* The rhythm of the one kind of distances, if it is to be believed and chance is less likely
 * than *chance, which becomes its. */
static int tell(const struct moment *v, size_t n, int pauses, double *chance, struct beat *out)
{
	struct rhythm best = {0};
	distances d = {0};
	int r = distances_of(v, n, pauses, &d);
	if (!r)
		r = find(&d, &best);
	if (!r && best.chance <= *chance) {
		r = measure(&d, &best, out);
		*chance = best.chance;
	}
	vec_release(&d);
	return r;
}

int recurrence_find(struct moment *v, size_t n, struct recurrence *out, struct err *e)
{
	*out = (struct recurrence){0};
	if (n)
		qsort(v, n, sizeof(*v), moment_order);
	n = join(v, n, &out->together);
	out->occurrences = n;
	double chance = BELIEVED;
	if (n > GAPS && tell(v, n, 0, &chance, &out->rate))
		return err_nomem(e);
	chance -= out->rate.ns ? CLEARLY : 0;
	if (n > GAPS && tell(v, n, 1, &chance, &out->pause))
		return err_nomem(e);
	return 0;
}
