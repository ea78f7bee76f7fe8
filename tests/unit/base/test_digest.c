/* BLAKE2b as another program computes it: Python's hashlib.blake2b(x, digest_size=32). */
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static const struct {
	size_t n;
	const char *hex;
} known[] = {{0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
	     {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
	     {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
	     {1000, "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331"}};

/* Of n bytes i % 251, added `step` at a time. */
static void expect(size_t n, size_t step, const char *hex)
{
	uint8_t bytes[1000], sum[DIGEST_BYTES];
	char text[2 * DIGEST_BYTES + 1];
	struct digest d;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i % 251);
	digest_init(&d);
	for (size_t at = 0; at < n; at += step)
		digest_add(&d, bytes + at, n - at < step ? n - at : step);
	digest_end(&d, sum);
	for (size_t i = 0; i < DIGEST_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", sum[i]);
	assert_string_equal(text, hex);
}

static void sums_are_those_of_others(void **state)
{
	(void)state;
	static const size_t steps[] = {1, 7, 128, 1000};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++)
			expect(known[i].n, steps[k], known[i].hex);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_those_of_others)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
