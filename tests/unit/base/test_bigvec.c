/* bigvec: an array that outgrows memory, a full disk, no folder to write to. */
#include "tests/lib/torture.h"

#include "base/bigvec.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { MANY = 2 * (BIGVEC_IN_MEMORY / 8) };

typedef BIGVEC(uint64_t) numbers;

static int count_up(numbers *x, size_t n, struct err *e)
{
	int r = 0;
	for (uint64_t i = x->n; !r && i < n; i++)
		r = bigvec_push(x, i * 3, e);
	return r;
}

static void assert_counted(const numbers *x, size_t n)
{
	assert_int_equal(x->n, n);
	for (size_t i = 0; i < n; i++)
		if (x->v[i] != i * 3)
			fail_msg("element %zu is %llu", i, (unsigned long long)x->v[i]);
}

static void what_is_small_stays_in_memory(void **state)
{
	(void)state;
	numbers x = {0};
	assert_int_equal(count_up(&x, 100000, NULL), 0);
	assert_counted(&x, 100000);
	assert_int_equal(x.map_.bytes, 0);
	bigvec_release(&x);
	assert_null(x.v);
}

static void what_is_large_lies_in_a_file_and_is_the_same(void **state)
{
	(void)state;
	numbers x = {0};
	assert_int_equal(count_up(&x, MANY, NULL), 0);
	assert_counted(&x, MANY);
	assert_true(x.map_.bytes >= (size_t)MANY * 8);
	bigvec_release(&x);
	assert_int_equal(count_up(&x, 10, NULL), 0);
	assert_counted(&x, 10);
	bigvec_release(&x);
}

static void what_is_dropped_takes_nothing_else_with_it(void **state)
{
	(void)state;
	static const size_t sizes[] = {MANY / 4, MANY};
	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		numbers x = {0};
		assert_int_equal(count_up(&x, sizes[k], NULL), 0);
		for (size_t gone = 0; gone < x.n; gone += x.n / 7) {
			bigvec_drop(&x, gone);
			for (size_t i = gone; i < x.n; i += 509)
				assert_int_equal(x.v[i], i * 3);
		}
		bigvec_release(&x);
	}
}

static void a_full_disk_is_an_error_that_names_the_folder(void **state)
{
	(void)state;
	numbers x = {0};
	struct err e = {0};
	struct rlimit old, low;
	getrlimit(RLIMIT_FSIZE, &old);
	low = old;
	low.rlim_cur = BIGVEC_IN_MEMORY + BIGVEC_IN_MEMORY / 2;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &low);
	int r = count_up(&x, MANY, &e);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(r, ERR_IO);
	assert_non_null(strstr(e.msg, "/tmp: no room for"));
	assert_true(x.n > BIGVEC_IN_MEMORY / 8);
	assert_counted(&x, x.n);
	bigvec_release(&x);
}

static void without_a_folder_all_stays_in_memory(void **state)
{
	(void)state;
	numbers x = {0};
	setenv("TMPDIR", "/proc/self/none", 1);
	assert_int_equal(count_up(&x, MANY, NULL), 0);
	setenv("TMPDIR", "/tmp", 1);
	assert_int_equal(x.map_.bytes, 0);
	assert_counted(&x, MANY);
	bigvec_release(&x);
}

static void without_memory_what_was_there_stays(void **state)
{
	(void)state;
	struct torture t = {0};
	while (!t.whole) {
		numbers x = {0};
		torture_on(&t);
		int r = count_up(&x, 10000, NULL);
		torture_off(&t, r);
		assert_counted(&x, x.n);
		assert_true(t.whole ? x.n == 10000 : x.n < 10000);
		bigvec_release(&x);
	}
	assert_true(t.failed > 3);
}

int main(void)
{
	setenv("TMPDIR", "/tmp", 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_small_stays_in_memory),
		cmocka_unit_test(what_is_large_lies_in_a_file_and_is_the_same),
		cmocka_unit_test(what_is_dropped_takes_nothing_else_with_it),
		cmocka_unit_test(a_full_disk_is_an_error_that_names_the_folder),
		cmocka_unit_test(without_a_folder_all_stays_in_memory),
		cmocka_unit_test(without_memory_what_was_there_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
