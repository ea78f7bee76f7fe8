/* radix: the order that comparing gives, equal keys as they were. */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "base/radix.h"

#include <stdlib.h>

static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void expect_sorted(size_t n, uint64_t mask, uint64_t offset)
{
	uint64_t seed = 88172645463325252u + n, sum = 0;
	struct radix_key *a = mem_zalloc(n + 1, sizeof(*a)), *b = mem_zalloc(n + 1, sizeof(*b));
	for (size_t i = 0; i < n; i++) {
		a[i] = (struct radix_key){offset + (next(&seed) & mask), i};
		sum += a[i].key * (i + 1);
	}
	const struct radix_key *v = radix_sort(a, b, n);
	assert_true(v == a || v == b);
	for (size_t i = 0; i < n; i++) {
		sum -= v[i].key * (v[i].at + 1);
		if (i)
			assert_true(v[i - 1].key < v[i].key ||
				    (v[i - 1].key == v[i].key && v[i - 1].at < v[i].at));
	}
	assert_int_equal(sum, 0); /* each key is still with what it is of */
	mem_free(a);
	mem_free(b);
}

static void expect_numbers_sorted(size_t n)
{
	uint64_t seed = 88172645463325252u + n, a[300], b[300], by_comparison[300];
	for (size_t i = 0; i < n; i++)
		a[i] = by_comparison[i] = next(&seed) >> seed % 64;
	const uint64_t *v = radix_sort_u64(a, b, n);
	qsort(by_comparison, n, sizeof(*by_comparison), order_u64);
	assert_memory_equal(v, by_comparison, n * sizeof(*v));
}

static void numbers_come_out_in_order(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 300; n++)
		expect_numbers_sorted(n);
}

static void keys_come_out_in_order(void **state)
{
	(void)state;
	for (size_t n = 0; n < 40; n++)
		expect_sorted(n, UINT64_MAX, 0);
	expect_sorted(10007, UINT64_MAX, 0);
	expect_sorted(10007, 0xff00ff, 0);
	expect_sorted(10007, 0x7, (uint64_t)1 << 63);
	expect_sorted(10007, 0, 7);
	expect_sorted(10007, 0xffff, UINT64_MAX - 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(keys_come_out_in_order),
					   cmocka_unit_test(numbers_come_out_in_order)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
