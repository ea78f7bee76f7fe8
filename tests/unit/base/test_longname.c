/* Names are cut where they are repeated, and stay different. */
#include "base/text/longname.h"
#include "base/text/strtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void what_is_short_stays(void **state)
{
	(void)state;
	char name[LONG_NAME + 1], out[LONG_NAME];
	size_t n = LONG_NAME;
	memset(name, 'a', sizeof(name));
	assert_ptr_equal(long_name(name, &n, out), name);
	assert_int_equal(n, LONG_NAME);
	n = LONG_NAME + 1;
	assert_ptr_equal(long_name(name, &n, out), out);
	assert_true(n <= LONG_NAME);
}

static void names_that_differ_in_the_cut_stay_different(void **state)
{
	(void)state;
	enum { BYTES = 400000 };
	char *a = malloc(BYTES), *b = malloc(BYTES), x[LONG_NAME], y[LONG_NAME];
	size_t n = BYTES, m = BYTES, shorter = BYTES - 1;
	memset(a, 'a', BYTES);
	memset(b, 'a', BYTES);
	b[BYTES / 2] = 'b';
	long_name(a, &n, x);
	long_name(b, &m, y);
	assert_int_equal(n, m);
	assert_memory_not_equal(x, y, n);
	m = BYTES;
	long_name(a, &m, y);
	assert_memory_equal(x, y, n);
	long_name(a, &shorter, y);
	assert_true(shorter != n || memcmp(x, y, n) != 0);
	free(a);
	free(b);
}

static void a_character_is_not_cut_in_two(void **state)
{
	(void)state;
	for (size_t shift = 0; shift < 4; shift++) {
		char name[2 * LONG_NAME], out[LONG_NAME];
		size_t n = sizeof(name);
		memset(name, 'a', shift);
		for (size_t i = shift; i < n; i++)
			name[i] = "\xe2\x82\xac"[(i - shift) % 3];
		long_name(name, &n, out);
		const char *from = memmem(out, n, "...[", 4), *to = memmem(out, n, "]...", 4);
		assert_non_null(from);
		assert_non_null(to);
		assert_int_equal((size_t)(from - out - (ptrdiff_t)shift) % 3, 0);
		assert_int_equal((unsigned char)to[4] & 0xc0, 0xc0);
	}
}

static void both_ends_stay(void **state)
{
	(void)state;
	char name[3 * LONG_NAME], out[LONG_NAME];
	size_t n = sizeof(name);
	memset(name, 'a', n);
	memcpy(name, "ns::A<", 6);
	memcpy(name + n - 9, ">::insert", 9);
	long_name(name, &n, out);
	assert_memory_equal(out, "ns::A<", 6);
	assert_memory_equal(out + n - 9, ">::insert", 9);
}

static void an_interned_name_is_cut_and_found(void **state)
{
	(void)state;
	enum { BYTES = 100000 };
	struct strtab t = {0};
	uint32_t id, line, found;
	char *name = malloc(BYTES + 1);
	memset(name, 'a', BYTES);
	name[BYTES] = '\0';
	assert_int_equal(strtab_intern(&t, name, &id), 0);
	assert_true(strtab_len(&t, id) <= LONG_NAME);
	assert_true(strtab_find(&t, name, &found));
	assert_int_equal(found, id);
	/* a store keeps the cut name, and reads it as the same */
	assert_int_equal(strtab_intern(&t, strtab_get(&t, id), &found), 0);
	assert_int_equal(found, id);
	assert_int_equal(strtab_intern_line(&t, name, BYTES, &line), 0);
	assert_int_equal(strtab_len(&t, line), BYTES);
	strtab_release(&t);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_short_stays),
		cmocka_unit_test(names_that_differ_in_the_cut_stay_different),
		cmocka_unit_test(an_interned_name_is_cut_and_found),
		cmocka_unit_test(both_ends_stay),
		cmocka_unit_test(a_character_is_not_cut_in_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
