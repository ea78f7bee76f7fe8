/* gallop: the answer is that of looking at each element in turn, wherever the search begins. */
#include "tests/lib/unit.h"

#include "base/gallop.h"

struct item {
	uint32_t other;
	uint64_t key;
};

static size_t by_looking(const struct item *v, size_t lo, size_t hi, uint64_t x)
{
	while (lo < hi && v[lo].key <= x)
		lo++;
	return lo;
}

static void every_start_finds_the_same(void **state)
{
	enum { N = 40 };
	struct item v[N];
	(void)state;
	for (size_t i = 0; i < N; i++) /* with gaps, and keys that are there twice */
		v[i] = (struct item){.key = 10 + i / 2 * 3};
	for (size_t lo = 0; lo <= N; lo += 5)
		for (size_t hi = lo; hi <= N; hi++)
			for (uint64_t x = 8; x < 75; x++) {
				size_t want = by_looking(v, lo, hi, x);
				assert_int_equal(search_after(BY_KEY(v, key), lo, hi, x), want);
				for (size_t near = 0; near < N + 3; near++)
					assert_int_equal(
						gallop_after(BY_KEY(v, key), lo, hi, near, x),
						want);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_start_finds_the_same)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
