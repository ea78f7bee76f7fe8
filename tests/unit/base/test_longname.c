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

static void names_that_differ_behind_the_cut_stay_different(void **state)
{
	(void)state;
	enum { BYTES = 400000 };
	char *a = malloc(BYTES), *b = malloc(BYTES), x[LONG_NAME], y[LONG_NAME];
	size_t n = BYTES, m = BYTES, shorter = BYTES - 1;
	memset(a, 'a', BYTES);
	memset(b, 'a', BYTES);
	b[BYTES - 1] = 'b';
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
		const char *end = memmem(out, n, "...[", 4);
		assert_non_null(end);
		assert_int_equal((size_t)(end - out - (ptrdiff_t)shift) % 3, 0);
	}
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
		cmocka_unit_test(names_that_differ_behind_the_cut_stay_different),
		cmocka_unit_test(an_interned_name_is_cut_and_found),
		cmocka_unit_test(a_character_is_not_cut_in_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
