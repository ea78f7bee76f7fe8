/* render: findings in words, whatever their facts are. */
#include "tests/lib/unit.h"

#include "render/text/finding_text.h"

#include <string.h>

#define SAYS(want, form, ...)                                                             \
	do {                                                                              \
		const struct fact facts[] = {__VA_ARGS__};                                \
		const struct statement s = {form, facts, sizeof(facts) / sizeof(*facts)}; \
		struct buf b = {0};                                                       \
		finding_statement(&b, &s);                                                \
		assert_string_equal(buf_cstr(&b), want);                                  \
		buf_release(&b);                                                          \
	} while (0)

static void numbers_are_written_as_the_form_asks(void **state)
{
	(void)state;
	SAYS("perf lost 1 record while recording (0.800 %)", FORM_LOST_RECORDS,
	     fact_share("lost", 1, 125));
	SAYS("perf lost 1,250 records while recording (12.5 %)", FORM_LOST_RECORDS,
	     fact_share("lost", 1250, 10000));
	SAYS("1 context switch is missing where perf reported no lost records; 0.0 % of "
	     "waits are suspect",
	     FORM_HOLES, fact_number("missing", FACT_COUNT, 1), fact_share("suspect", 0, 0));
	SAYS("2 context switches are missing where perf reported no lost records; 100.0 % "
	     "of waits are suspect",
	     FORM_HOLES, fact_number("missing", FACT_COUNT, 2), fact_share("suspect", 3, 3));
	SAYS("  5.0 %  at a return: no caller fits, the stack ends there", FORM_LATE_LOST,
	     fact_share("copies", 1, 20));
	SAYS("2 records came too late, by up to 1.99 ms; the file was sorted as a whole",
	     FORM_LATE_SORTED, fact_number("late", FACT_COUNT, 2),
	     fact_number("by", FACT_TIME, 1999999));
	SAYS("2 records came too late, by up to 100 ms; the file was sorted as a whole",
	     FORM_LATE_SORTED, fact_number("late", FACT_COUNT, 2),
	     fact_number("by", FACT_TIME, 100999999));
}

/* Neither all nor nothing of a file is left where some is. */
static void a_rest_is_never_rounded_away(void **state)
{
	static const struct {
		uint64_t lost, all;
		const char *want;
	} rows[] = {{1, 100000, "less than 0.1"},
		    {5, 1000, "0.5"},
		    {77, 100, "77"},
		    {995, 1000, "99.5"}};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct buf want = {0};
		buf_fmt(&want, "torn; %s %% of the recording could not be read", rows[i].want);
		SAYS(buf_cstr(&want), FORM_TORN, fact_text("what", FACT_MESSAGE, "torn"),
		     fact_share("unread", rows[i].lost, rows[i].all));
		buf_release(&want);
	}
	SAYS("torn", FORM_TORN, fact_text("what", FACT_MESSAGE, "torn"));
}

static void facts_of_one_name_are_listed(void **state)
{
	struct fact front = fact_number("thread", FACT_THREAD, 11);
	struct fact nameless = fact_number("thread", FACT_THREAD, 12);
	(void)state;
	front.text = "front";
	SAYS("not measured: front/11, tid 12", FORM_NOT_MEASURED, front, nameless);
	SAYS("not measured: tid 12 and 3 more", FORM_NOT_MEASURED, nameless,
	     fact_number("more", FACT_COUNT, 3));
}

static void what_was_lost_is_drawn(void **state)
{
	(void)state;
	SAYS("0 s | @.=| 2.50 s", FORM_LOST_WHERE,
	     fact_text("lost", FACT_COUNTS, "[0,900,1,500]"),
	     fact_number("duration", FACT_TIME, 2500000000));
}

/* As a store that was tampered with has them. */
static void a_fact_that_is_missing_is_a_question_mark(void **state)
{
	(void)state;
	SAYS("? in a group (:S): only the first thread was measured", FORM_NO_INHERIT,
	     fact_text("other", FACT_EVENT, "x"));
	SAYS(" 50.0 %  /bin/x: no symbol covers the address", FORM_FILE,
	     fact_share("samples", 1, 2), fact_text("file", FACT_FILE, "/bin/x"),
	     fact_text("reason", FACT_REASON, "no symbol"));
	SAYS("0 s || ?", FORM_LOST_WHERE, fact_text("lost", FACT_COUNTS, "[,x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_written_as_the_form_asks),
		cmocka_unit_test(a_rest_is_never_rounded_away),
		cmocka_unit_test(facts_of_one_name_are_listed),
		cmocka_unit_test(what_was_lost_is_drawn),
		cmocka_unit_test(a_fact_that_is_missing_is_a_question_mark),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
