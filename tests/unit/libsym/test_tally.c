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

/* --- in order -------------------------------------------------------------------------------
 */

/* Run i + 1 is frame i + 1 alone, but run 0 is 7, 8 (7 outside), and the last one 8 once more.
 */
static void some_runs(struct names *n)
{
	static const uint32_t frames[] = {7, 8, 1, 2, 3, 4, 5, 6, 7, 8};
	assert_int_equal(vec_push(&n->runs, ((struct frame_run){0, 2})), 0);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(vec_push(&n->frames, frames[i]), 0);
		if (i > 1)
			assert_int_equal(vec_push(&n->runs, ((struct frame_run){i, 1})), 0);
	}
}

static void forget_runs(struct names *n)
{
	vec_release(&n->runs);
	vec_release(&n->frames);
}

static void stacks_are_sorted_by_frames(void **state)
{
	(void)state;
	struct names n = {0};
	struct tally t = {0};
	uint32_t runs[12], seed = 5;
	some_runs(&n);
	for (uint32_t i = 0; i < 5000; i++) {
		struct tallied x = key(1);
		size_t words = (seed = seed * 1664525 + 1013904223) >> 29;
		for (size_t k = 0; k < words; k++)
			runs[k] = ((seed = seed * 1664525 + 1013904223) >> 16) % (k ? 3 : 9);
		x.tid = i % 3 ? (int32_t)(i % 50) : -1;
		assert_int_equal(tally_add(&t, &x, runs, words), 0);
	}
	const struct tallied same = key(1);
	assert_int_equal(tally_add(&t, &same, (const uint32_t[]){0}, 1), 0);
	assert_int_equal(tally_add(&t, &same, (const uint32_t[]){8, 7}, 2), 0);
	assert_int_equal(tally_finish(&t), 0);
	size_t stacks = t.v.n;
	assert_int_equal(tally_sort(&t, &n), 0);
	assert_int_equal(t.v.n, stacks);
	uint64_t samples = t.v.v[0].samples, equal = 0;
	for (size_t i = 1; i < t.v.n; i++) {
		int c = tally_compare(&t, &t.v.v[i - 1], &t, &t.v.v[i]);
		assert_in_range(c + 1, 0, 1);
		equal += c == 0;
		samples += t.v.v[i].samples;
	}
	assert_int_equal(samples, 5002);
	assert_true(equal > 0); /* 7, 8 as one run, and as two */
	tally_release(&t);
	forget_runs(&n);
}

static void many_threads_with_one_stack_are_sorted_soon(void **state)
{
	(void)state;
	enum { THREADS = 200000 };
	struct names n = {0};
	struct tally t = {0};
	uint32_t runs[] = {3, 2, 1};
	some_runs(&n);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct tallied x = key(1);
		x.tid = (int32_t)(i * 7919 % THREADS);
		assert_int_equal(tally_add(&t, &x, runs, 3), 0);
	}
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(tally_sort(&t, &n), 0);
	for (int32_t i = 0; i < THREADS; i++)
		assert_int_equal(t.v.v[i].tid, i);
	static const uint32_t root_first[] = {1, 2, 3};
	assert_int_equal(t.v.v[0].nruns, 3);
	assert_memory_equal(t.runs.v + t.v.v[0].runs, root_first, sizeof(root_first));
	tally_release(&t);
	forget_runs(&n);
}

static void a_path_that_was_appended_is_found(void **state)
{
	(void)state;
	struct stacks s = {0};
	uint32_t a, b, again;
	assert_int_equal(stacks_append(&s, 0, 5, &a), 0);
	assert_int_equal(stacks_append(&s, a, 6, &b), 0);
	assert_int_equal(stacks_push(&s, a, 6, &again), 0);
	assert_int_equal(again, b);
	assert_int_equal(stacks_push(&s, b, 6, &again), 0);
	assert_int_equal(stacks_depth(&s, again), 3);
	stacks_release(&s);
}

static void nothing_added_is_nothing(void **state)
{
	(void)state;
	struct tally t = {0};
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(t.v.n, 0);
	assert_int_equal(tally_sort(&t, &(struct names){0}), 0);
	tally_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stack_is_counted_once),
		cmocka_unit_test(what_tells_stacks_apart_is_not_added_up),
		cmocka_unit_test(stacks_are_sorted_by_frames),
		cmocka_unit_test(many_threads_with_one_stack_are_sorted_soon),
		cmocka_unit_test(a_path_that_was_appended_is_found),
		cmocka_unit_test(nothing_added_is_nothing),
	};
	return cmocka_run_group_tests_name("libsym tally", tests, NULL, NULL);
}
