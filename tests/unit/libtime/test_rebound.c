/* What a regular expression writes out to is known before it is compiled. */
#include "libtime/causes/regex_bound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void the_usual_ones_are_taken(void **state)
{
	(void)state;
	static const char *const good[] = {
		"",
		"main",
		"^do_work(er)?$",
		"a{3}b{2,5}",
		"[]{9999}]x",
		"\\(",
		"(a|b)+|c*",
		"a{1000}",
		"[[:alpha:]_{]+",
		"x{2,}",
		"((a))",
		"(ab){10}{10}",
		"{",
		"(unbalanced",
		"a)b",
		"a\\{9",
		"[^]()a-z]{1,9}",
		"[unbalanced",
		"(std::)?__1::.*<",
		"\\",
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(regex_bounded(good[i], NULL), 0);
}

static void what_explodes_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"((a{1,1000}){1,1000})",
					  "a{100}{101}",
					  "(a{101}){100}",
					  "a{10001}",
					  "a{99999999999999999}",
					  "(a{0,5001}){2}",
					  "(a)\\1",
					  "((((a+)+){99})+){99}",
					  "([a]{5001})b|([b]{5001})"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(regex_bounded(bad[i], NULL), ERR_USAGE);
	char deep[900], longer[1002] = "";
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(regex_bounded(deep, NULL), ERR_USAGE);
	memset(longer, 'a', sizeof(longer) - 1);
	assert_int_equal(regex_bounded(longer, NULL), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_usual_ones_are_taken),
		cmocka_unit_test(what_explodes_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
