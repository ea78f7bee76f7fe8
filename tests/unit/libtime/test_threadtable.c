/*
 * Timelines that several CPUs sort, and their tables of threads: rows in the order of threads,
 * each with the waits of its thread, whose percentiles are those of a sorted list. Thread t has
 * (t + 1) * 10007 waits; the first is a kernel thread.
 */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "base/radix.h"
#include "libtime/tables/tables.h"

#include <stdlib.h>

enum { THREADS = 5, STEP = 10007, US = 1000 };

static uint64_t wait_ns(unsigned thread, size_t i)
{
	return US + (i * 7919 + thread * 31) % 50021;
}

static size_t waits_of(uint32_t thread)
{
	return (thread + 1) * (size_t)STEP;
}

/* The waits of all threads by turns, as in a recording. */
static void add_waits(struct timeline *tl)
{
	uint64_t at[THREADS] = {0};
	for (size_t i = 0; i < waits_of(THREADS - 1); i++)
		for (unsigned t = 0; t < THREADS; t++) {
			struct offcpu o = {
				.thread = t, .start_ns = at[t] + US, .waker = TL_NONE};
			o.blocked_ns = wait_ns(t, i);
			o.end_ns = o.start_ns + o.blocked_ns;
			if (i >= waits_of(t))
				continue;
			at[t] = o.end_ns;
			assert_int_equal(bigvec_push(&tl->offcpu, o, NULL), 0);
		}
	for (unsigned t = 0; t < THREADS; t++) {
		struct tl_thread x = {.pid = 1, .tid = (int32_t)t + 1, .last_ns = at[t] + US};
		x.flags = t ? 0 : THREAD_KERNEL;
		assert_int_equal(vec_push(&tl->threads, x), 0);
	}
}

/* Nearest rank. */
static uint64_t percentile(const uint64_t *sorted, size_t n, size_t thousandths)
{
	return sorted[(n * thousandths + 999) / 1000 - 1];
}

static void check_row(const struct rows *r, uint32_t thread)
{
	size_t n = waits_of(thread);
	uint64_t *v = mem_alloc(n * sizeof(*v)), sum = 0;
	assert_non_null(v);
	for (size_t i = 0; i < n; i++)
		sum += v[i] = wait_ns(thread, i);
	qsort(v, n, sizeof(*v), order_u64);
	assert_int_equal(rows_get(r, thread, COL_THREAD), thread);
	assert_int_equal(rows_get(r, thread, COL_WAITS), n);
	assert_int_equal(rows_get(r, thread, COL_BLOCKED), sum);
	assert_int_equal(rows_get(r, thread, COL_RUN), (n + 1) * US);
	assert_int_equal(rows_get(r, thread, COL_P50), percentile(v, n, 500));
	assert_int_equal(rows_get(r, thread, COL_P99), percentile(v, n, 990));
	assert_int_equal(rows_get(r, thread, COL_P999), percentile(v, n, 999));
	assert_int_equal(rows_get(r, thread, COL_MAX), v[n - 1]);
	mem_free(v);
}

static void each_row_is_of_one_thread(void **state)
{
	struct stacks stacks = {0};
	struct timeline tl;
	struct table_query q = {.of = {.start_ns = 0}};
	struct rows r;
	struct err e = {0};
	uint32_t row;
	(void)state;
	assert_int_equal(timeline_init(&tl, &stacks), 0);
	add_waits(&tl);
	tl.flags = TL_HAS_SWITCH;
	assert_int_equal(timeline_finish(&tl, &e), 0);
	assert_int_equal(timeline_check(&tl, &e), 0);
	assert_int_equal(table_collect(table_kind_of("thread"), &tl, &q, &r, &e), 0);
	assert_int_equal(r.keys.n, THREADS);
	for (uint32_t t = 0; t < THREADS; t++) {
		check_row(&r, t);
		assert_int_equal(r.keys.v[t].hidden, t == 0);
		assert_int_equal(rows_row(&r, 0, t, &row), 0);
		assert_int_equal(row, t);
	}
	assert_int_equal(r.hidden, 1);
	rows_release(&r);
	timeline_release(&tl);
	stacks_release(&stacks);
}

static void count_call(void *calls, unsigned i)
{
	((unsigned *)calls)[i] += i + 1;
}

static void every_part_is_done_once(void **state)
{
	unsigned calls[PARALLEL_MAX] = {0};
	(void)state;
	assert_int_equal(parallel_parts(0, 10), 1);
	assert_int_equal(parallel_parts(19, 10), 1);
	assert_true(parallel_parts(1000000, 1) <= PARALLEL_MAX);
	parallel_run(PARALLEL_MAX, count_call, calls);
	for (unsigned i = 0; i < PARALLEL_MAX; i++)
		assert_int_equal(calls[i], i + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_is_done_once),
		cmocka_unit_test(each_row_is_of_one_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
