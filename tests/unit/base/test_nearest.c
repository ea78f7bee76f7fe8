/* nearest: a slip of the finger finds its word, a strange word none. */
#include "tests/lib/unit.h"

#include "base/text/nearest.h"

static const char *meant(const char *typed)
{
	static char word[64];
	const char *s = nearest_in("collapse doctor report record svg tail|timeline", typed,
				   word, sizeof(word));
	return s ? s : "";
}

static void a_slip_finds_its_word(void **state)
{
	(void)state;
	assert_string_equal(meant("reprot"), "report");  /* swapped */
	assert_string_equal(meant("reports"), "report"); /* inserted */
	assert_string_equal(meant("tial"), "tail");      /* swapped, behind a bar */
	assert_string_equal(meant("docter"), "doctor");  /* replaced */
	assert_string_equal(meant("time"), "timeline");  /* abbreviated */
	assert_string_equal(meant("recrd"), "record");   /* dropped */
}

static void strange_words_find_none(void **state)
{
	(void)state;
	assert_string_equal(meant(""), "");
	assert_string_equal(meant("x"), "");
	assert_string_equal(meant("flames"), "");
	assert_string_equal(meant("svgsvgsvg"), "");
	assert_string_equal(meant("a_word_much_longer_than_any_that_there_could_ever_be"), "");
}

static void what_does_not_fit_is_not_written(void **state)
{
	(void)state;
	char small[4];
	assert_null(nearest_in("report", "reprot", small, sizeof(small)));
	assert_null(nearest_in("", "reprot", small, sizeof(small)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slip_finds_its_word),
		cmocka_unit_test(strange_words_find_none),
		cmocka_unit_test(what_does_not_fit_is_not_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
