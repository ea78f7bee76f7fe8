/* test_recurrence.c - rhythms are found where there is one, also with beats missing, and are
 * not where there is none: all by arithmetic, with numbers that are the same in each run. */
#include "libtime/explain/recurrence.h"
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = 512, ROUNDS = 400 };

#define MS 1000000ull

static uint64_t seed = 88172645463325252ull;

/* Marsaglia's xorshift: uniform in (0, 1). */
static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(void)
{
	return -log(uniform());
}

/* About normal, of deviation 1. */
static double spread(void)
{
	double sum = -6;
	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum;
}

static struct recurrence of(struct occurrence *v, size_t n)
{
	struct recurrence r;
	struct err e = {0};
	assert_int_equal(recurrence_find(v, n, &r, &e), 0);
	return r;
}

/* Gaps of mean 100 ms: random, at least 30 ms, or the sum of four random ones. */
static double gap_of(int kind)
{
	switch (kind) {
	case 0:
		return exponential();
	case 1:
		return 0.3 + 0.7 * exponential();
	default:
		return (exponential() + exponential() + exponential() + exponential()) / 4;
	}
}

static void what_comes_at_random_has_no_rhythm(void **state)
{
	static const size_t sizes[] = {3, 4, 5, 6, 8, 12, 20, 60, 300};
	(void)state;
	for (int kind = 0; kind < 3; kind++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
			int told = 0;
			for (int round = 0; round < ROUNDS; round++) {
				struct occurrence v[MOST];
				double at = 1e9;
				for (size_t i = 0; i < sizes[s]; i++) {
					at += gap_of(kind) * 100e6;
					v[i] = (struct occurrence){(uint64_t)at,
								   (uint64_t)at + MS, 1};
				}
				struct recurrence r = of(v, sizes[s]);
				told += recurrence_found(&r);
			}
			if (told > ROUNDS / 100) /* two distances of three moments: 1 % */
				fail_msg("kind %d, %zu moments: %d of %d have a rhythm", kind,
					 sizes[s], told, ROUNDS);
		}
}

/* Beats of a timer, each late by some; `missed` of them are not seen. */
static size_t timer_beats(struct occurrence *v, size_t n, double late, double missed)
{
	size_t k = 0;
	for (uint64_t beat = 1; k < n; beat++) {
		double at = (double)beat * 100e6 + fabs(spread()) * late * 100e6;
		if (uniform() >= missed)
			v[k++] = (struct occurrence){(uint64_t)at, (uint64_t)at + MS, 1};
	}
	return k;
}

static void a_timer_is_found_though_beats_are_missing(void **state)
{
	static const struct {
		size_t n;
		double late, missed;
	} cases[] = {{9, 0.02, 0},
		     {12, 0.02, 0.3},
		     {20, 0.04, 0.3},
		     {60, 0.03, 0.5},
		     {300, 0.04, 0.5}};
	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		int found = 0;
		for (int round = 0; round < ROUNDS; round++) {
			struct occurrence v[MOST];
			size_t n = timer_beats(v, cases[c].n, cases[c].late, cases[c].missed);
			struct recurrence r = of(v, n);
			found += r.rate.ns > 97 * MS && r.rate.ns < 103 * MS &&
				 r.rate.fitting * 3 >= r.rate.of * 2;
		}
		if (found < ROUNDS * 95 / 100)
			fail_msg("case %zu: %d of %d", c, found, ROUNDS);
	}
}

static void a_loop_that_sleeps_is_found_by_its_pauses(void **state)
{
	(void)state;
	int found = 0, timers = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct occurrence v[MOST];
		uint64_t at = 1000 * MS;
		size_t n = 0;
		while (n < 20) {
			uint64_t works = (uint64_t)(20e6 * exponential());
			at += 80 * MS + (uint64_t)(uniform() * 1e6);
			if (works > 2 * MS) /* what is shorter is not among the worst */
				v[n++] = (struct occurrence){at, at + works, 1};
			at += works;
		}
		struct recurrence r = of(v, n);
		found += r.pause.ns > 78 * MS && r.pause.ns < 83 * MS;
		timer_beats(v, n, 0.002, 0);
		r = of(v, n);
		timers += r.rate.ns && !r.pause.ns;
	}
	if (found < ROUNDS * 95 / 100 || timers < ROUNDS * 95 / 100)
		fail_msg("%d loops, %d timers of %d", found, timers, ROUNDS);
}

/* A loop of two pauses has no rhythm of a length that neither has. */
static void a_rhythm_is_seen_at_times(void **state)
{
	struct occurrence v[24];
	uint64_t at = 1000 * MS;
	(void)state;
	for (size_t i = 0; i < 24; i++) {
		v[i] = (struct occurrence){at, at + 7 * MS, 1};
		at += 7 * MS + (i % 2 ? 50 : 20) * MS;
	}
	struct recurrence r = of(v, 24);
	assert_false(r.pause.ns && r.pause.ns < 19 * MS);
	assert_false(r.rate.ns && r.rate.ns < 26 * MS);
}

/* However even: the next ones may well come otherwise. */
static void fewer_than_six_gaps_are_no_rhythm(void **state)
{
	struct occurrence v[7];
	(void)state;
	for (size_t n = 0; n <= 7; n++) {
		for (size_t i = 0; i < n; i++)
			v[i] = (struct occurrence){(i + 1) * 100 * MS, (i + 1) * 100 * MS + MS,
						   1};
		struct recurrence r = of(v, n);
		assert_int_equal(recurrence_found(&r), n == 7);
	}
}

static void moments_that_overlap_are_one(void **state)
{
	struct occurrence v[] = {{10 * MS, 20 * MS, 1},
				 {19 * MS, 30 * MS, 2},
				 {30 * MS + 5, 31 * MS, 2},
				 {900 * MS, 901 * MS, 1},
				 {900 * MS, 905 * MS, 1}};
	(void)state;
	struct recurrence r = of(v, 5);
	assert_int_equal(r.occurrences, 3);
	assert_int_equal(r.together, 1);
	assert_false(recurrence_found(&r));
	r = of(v, 0);
	assert_int_equal(r.occurrences, 0);
	struct occurrence same[] = {{5, 5, 1}, {5, 5, 1}, {UINT64_MAX, UINT64_MAX, 1}};
	r = of(same, 3);
	assert_int_equal(r.occurrences, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_at_random_has_no_rhythm),
		cmocka_unit_test(a_timer_is_found_though_beats_are_missing),
		cmocka_unit_test(a_loop_that_sleeps_is_found_by_its_pauses),
		cmocka_unit_test(a_rhythm_is_seen_at_times),
		cmocka_unit_test(fewer_than_six_gaps_are_no_rhythm),
		cmocka_unit_test(moments_that_overlap_are_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
