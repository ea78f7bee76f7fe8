/*
 * compare: figures of two recordings of one made-up program, many times over, and of two that
 * differ: ranges hold the truth as often as they say, and changes are seen.
 */
#include "tests/lib/unit.h"

#include "libtime/tables/compare.h"

#include <math.h>

enum { TRIALS = 400, EVENTS = 2000, SECOND = 1000000000 };

static uint64_t state;

static double chance(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((double)((state * 2685821657736338717u) >> 11) + 0.5) / 9007199254740992.0;
}

/* Exponential lengths of that mean. */
static uint64_t length(double mean)
{
	return (uint64_t)(-log(chance()) * mean);
}

static struct estimate percentile(double mean, uint32_t millipercent)
{
	struct compared_length v[EVENTS];
	for (uint32_t i = 0; i < EVENTS; i++)
		v[i] = (struct compared_length){length(mean), i * COMPARE_BLOCKS / EVENTS};
	return estimate_percentile(v, EVENTS, millipercent);
}

static void holds(uint32_t millipercent)
{
	double truth = -log(1 - millipercent / 1e5) * 1e6;
	int missed = 0, changed = 0;
	struct estimate last = percentile(1e6, millipercent);
	for (int i = 0; i < TRIALS; i++) {
		struct estimate x = percentile(1e6, millipercent);
		missed += truth < x.low || truth > x.high;
		changed += estimate_change(&last, &x) != 0;
		last = x;
	}
	assert_true(missed <= TRIALS / 50);
	assert_int_equal(changed, 0);
}

static void test_percentiles_hold(void **s)
{
	(void)s;
	state = 42;
	holds(50000);
	holds(90000);
	holds(99000);
}

static void test_percentile_grown(void **s)
{
	(void)s;
	state = 43;
	struct estimate a = percentile(1e6, 90000), b = percentile(1.5e6, 90000);
	assert_int_equal(estimate_change(&a, &b), 1);
	assert_int_equal(estimate_change(&b, &a), -1);
}

/* Of the longest few nothing is claimed: no sample tells how much longer they get. */
static void test_no_bound(void **s)
{
	(void)s;
	state = 44;
	assert_true(isinf(percentile(1e6, 99990).high));
	assert_true(isinf(estimate_percentile(NULL, 0, 50000).high));
}

/* Events in bursts: all of a burst are in one block. */
static void record(struct comparison *c, int side, double bursts, uint64_t each)
{
	c->recorded_ns[side] = SECOND;
	for (double t = length(1e9 / bursts); t < 1e9; t += (double)length(1e9 / bursts))
		for (int i = 0; i < 25; i++)
			assert_int_equal(compare_add(c, side, "site",
						     compare_block(0, SECOND, (uint64_t)t),
						     each + length(1e5), 1),
					 0);
}

static int rate_changes(double before, double after, uint64_t each_before, uint64_t each_after,
			int *mean)
{
	struct comparison c = {.recorded_ns = {0}};
	record(&c, BEFORE, before, each_before);
	record(&c, AFTER, after, each_after);
	assert_int_equal(compare_finish(&c), 0);
	assert_int_equal(c.v.n, 1);
	int change = estimate_change(&c.v.v[0].time[BEFORE], &c.v.v[0].time[AFTER]);
	*mean = estimate_change(&c.v.v[0].mean[BEFORE], &c.v.v[0].mean[AFTER]);
	compare_release(&c);
	return change;
}

/* By single events 40 bursts of 25 would seem 1000 coincidences. */
static void test_bursts(void **s)
{
	int claimed = 0, mean = 0, means = 0;
	(void)s;
	state = 45;
	for (int i = 0; i < TRIALS; i++) {
		claimed += rate_changes(40, 40, 100000, 100000, &mean) != 0;
		means += mean != 0;
	}
	assert_true(claimed <= 1);
	assert_true(means <= 1);
	assert_int_equal(rate_changes(40, 160, 100000, 100000, &mean), 1);
	assert_int_equal(mean, 0);
	rate_changes(40, 40, 100000, 200000, &mean);
	assert_int_equal(mean, 1);
}

/* Once is no rate, and never is none either. */
static void test_few(void **s)
{
	struct comparison c = {.recorded_ns = {SECOND, SECOND}};
	(void)s;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(compare_add(&c, AFTER, "new", 8 * i, 1000, 1), 0);
	for (uint32_t i = 0; i < COMPARE_BLOCKS; i++)
		assert_int_equal(compare_add(&c, BEFORE, "gone", i, 1000, 1), 0);
	assert_int_equal(compare_finish(&c), 0);
	assert_string_equal(c.v.v[0].name, "gone");
	assert_int_equal(estimate_change(&c.v.v[0].count[BEFORE], &c.v.v[0].count[AFTER]), -1);
	assert_int_equal(estimate_change(&c.v.v[1].count[BEFORE], &c.v.v[1].count[AFTER]), 0);
	assert_int_equal(estimate_change(&c.v.v[1].time[BEFORE], &c.v.v[1].time[AFTER]), 0);
	compare_release(&c);
}

/* What builds differ in makes no other row; what both have stays. */
static void test_builds(void **s)
{
	static const struct {
		int side;
		const char *name;
	} rows[] = {{BEFORE, "app-1.2: lock in parse.constprop.0()"},
		    {AFTER, "app-1.3: lock in parse()"},
		    {BEFORE, "app: io in sync()"},
		    {AFTER, "app: io in sync()"},
		    {AFTER, "app: io in sync.cold()"},
		    {BEFORE, "app: net in send()"}};
	struct comparison c = {.recorded_ns = {SECOND, SECOND}};
	int found = 0;
	(void)s;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(compare_add(&c, rows[i].side, rows[i].name, 0, 1000, 1), 0);
	assert_int_equal(compare_finish(&c), 0);
	assert_int_equal(c.v.n, 4);
	for (size_t i = 0; i < c.v.n; i++)
		found += !strcmp(c.v.v[i].name, rows[1].name) &&
			 c.v.v[i].count[BEFORE].value > 0 && c.v.v[i].count[AFTER].value > 0;
	assert_int_equal(found, 1);
	compare_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles_hold),
		cmocka_unit_test(test_percentile_grown),
		cmocka_unit_test(test_no_bound),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_builds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
