/* libtime: the table of the sentences of findings. */
#include "libtime/doctor/findings.h"
#include "tests/lib/unit.h"

#include <string.h>

/* Keys are told apart, a title's begins with its finding's id, and every place is closed. */
static void every_form_can_be_read(void **state)
{
	(void)state;
	for (enum form f = FORM_NONE + 1; f < FORMS; f++) {
		const char *text = form_text(f);
		struct form_piece p;
		int open = 0;
		assert_int_equal(form_find(form_key(f)), f);
		while (form_next(&text, &p)) {
			open += (p.kind == '[') - (p.kind == ']');
			assert_true(open == 0 || open == 1);
			assert_true(strchr("t{[]", p.kind) != NULL);
			assert_true(p.kind != '{' ||
				    (p.nname && p.name[p.nname + p.nhow + !!p.nhow] == '}'));
		}
		assert_int_equal(open, 0);
	}
	for (size_t i = 0; finding_kinds[i].id; i++)
		assert_int_not_equal(form_find(finding_kinds[i].id), FORM_NONE);
}

static void a_statement_is_whole_where_all_it_needs_is_there(void **state)
{
	(void)state;
	struct fact facts[] = {fact_text("what", FACT_MESSAGE, "x"),
			       fact_share("unread", 1, 2)};
	/* what stands in [] may be missing */
	assert_true(statement_is_whole(&(struct statement){FORM_TORN, facts, 2}));
	assert_true(statement_is_whole(&(struct statement){FORM_TORN, facts, 1}));
	assert_false(statement_is_whole(&(struct statement){FORM_TORN, facts + 1, 1}));
	/* shares of what no store's number can be stay shares */
	struct fact huge = fact_share("lost", UINT64_MAX / 2, UINT64_MAX);
	assert_true(huge.whole <= INT64_MAX && huge.number == huge.whole / 2);
	assert_true(fact_number("lost", FACT_COUNT, UINT64_MAX).number == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_can_be_read),
		cmocka_unit_test(a_statement_is_whole_where_all_it_needs_is_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
