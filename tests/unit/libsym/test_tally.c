/* libsym: samples are counted by stack, however many are different and in whatever order. */
#include "tests/lib/unit.h"

#include "libsym/tally.h"

enum { STACKS = 1000, SAMPLES = 50021 };

/* Stack number i: 0 to 9 runs that tell it from the others. */
static size_t stack(uint32_t i, uint32_t *runs)
{
	size_t n = i % 10;
	for (size_t k = 0; k < n; k++)
		runs[k] = k ? (uint32_t)k : i + 1;
	return n;
}

static struct tallied key(uint32_t i)
{
	return (struct tallied){.weight = i + 1,
				.samples = 1,
				.comm = i % 10 ? 0 : i, /* stacks without runs */
				.pid = -1,
				.tid = -1,
				.cpu = UINT32_MAX};
}

static void each_stack_is_counted_once(void **state)
{
	(void)state;
	struct tally t = {0};
	uint64_t samples[STACKS] = {0}, total = 0;
	uint32_t runs[9], seed = 1;
	for (int i = 0; i < SAMPLES; i++) {
		seed = seed * 1664525 + 1013904223;
		uint32_t which = (seed >> 16) % STACKS;
		struct tallied x = key(which);
		samples[which]++;
		assert_int_equal(tally_add(&t, &x, runs, stack(which, runs)), 0);
	}
	assert_int_equal(tally_finish(&t), 0);
	for (size_t i = 0; i < t.v.n; i++) {
		const struct tallied *x = &t.v.v[i];
		uint32_t which = (uint32_t)(x->weight / x->samples) - 1;
		assert_in_range(which, 0, STACKS - 1);
		assert_int_equal(x->samples, samples[which]);
		assert_int_equal(x->nruns, stack(which, runs));
		assert_memory_equal(t.runs.v + x->runs, runs, x->nruns * sizeof(*runs));
		samples[which] = 0;
		total += x->samples;
	}
	assert_int_equal(total, SAMPLES);
	tally_release(&t);
}

static void what_tells_stacks_apart_is_not_added_up(void **state)
{
	(void)state;
	struct tally t = {0};
	uint32_t runs[] = {1, 2, 3};
	struct tallied x[8];
	for (size_t i = 0; i < 8; i++)
		x[i] = key(1);
	x[1].event = 1;
	x[2].comm = 7;
	x[3].pid = 4;
	x[4].tid = 4;
	x[5].cpu = 0;
	x[6].cgroup = 9;
	x[7].chain = 1;
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(tally_add(&t, &x[i], runs, 3), 0);
	assert_int_equal(tally_add(&t, &x[0], runs, 2), 0);
	assert_int_equal(tally_add(&t, &x[7], runs, 3), 0);
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(t.v.n, 9);
	assert_int_equal(t.v.v[7].samples, 2);
	tally_release(&t);
}

static void nothing_added_is_nothing(void **state)
{
	(void)state;
	struct tally t = {0};
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(t.v.n, 0);
	tally_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stack_is_counted_once),
		cmocka_unit_test(what_tells_stacks_apart_is_not_added_up),
		cmocka_unit_test(nothing_added_is_nothing),
	};
	return cmocka_run_group_tests_name("libsym tally", tests, NULL, NULL);
}
