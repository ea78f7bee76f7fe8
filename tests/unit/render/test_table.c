/* table: widths, what is left out and cut where the terminal is too narrow, and wrapped words.
 */
#include "tests/lib/unit.h"

#include "base/text/buf.h"
#include "render/text/table.h"

static const struct table_column columns[] = {
	{"thread", .cut = TABLE_CUT_ID},
	{"p50", .right = 1, .drop = 1},
	{"length", .right = 1},
	{"root"},
};

static void fill(struct table *t)
{
	*t = (struct table){columns, 4};
	table_text(t, "a-very-long-name/4711");
	table_duration(t, 38200);
	table_duration(t, 12345678);
	table_text(t, "snapshot: sleep in write_pages()");
	table_text(t, "b/1");
	table_duration(t, 5);
	table_text(t, "-");
	table_text(t, "");
}

static void expect(size_t width, const char *want)
{
	struct table t;
	struct buf out = {0};
	fill(&t);
	table_write(&out, &t, width);
	assert_string_equal(buf_cstr(&out), want);
	table_release(&t);
	buf_release(&out);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	(void)state;
	expect(80, "thread                     p50   length  root\n"
		   "a-very-long-name/4711  38.2 us  12.3 ms  snapshot: sleep in write_pages()\n"
		   "b/1                       5 ns        -\n");
}

static void columns_are_dropped_before_any_is_cut(void **state)
{
	(void)state;
	expect(72, "thread                  length  root\n"
		   "a-very-long-name/4711  12.3 ms  snapshot: sleep in write_pages()\n"
		   "b/1                          -\n");
}

static void a_cut_name_keeps_its_number(void **state)
{
	(void)state;
	expect(60, "thread              length  root\n"
		   "a-very-long~/4711  12.3 ms  snapshot: sleep in write_pages()\n"
		   "b/1                      -\n");
}

static void the_last_column_is_wrapped_and_never_cut(void **state)
{
	(void)state;
	expect(50, "thread            length  root\n"
		   "a-very-lo~/4711  12.3 ms  snapshot: sleep in\n"
		   "                          write_pages()\n"
		   "b/1                    -\n");
}

/* Both ends of a key stay; columns are left out for up to 40 characters of it. */
static void a_key_is_cut_last_and_its_function_by_its_name(void **state)
{
	static const struct table_column keyed[] = {{"site", .cut = TABLE_CUT_KEY},
						    {"p50", .right = 1, .drop = 1},
						    {"total", .right = 1}};
	static const char key[] = "housekeeping-24: unknown in exchange::Book<int>::insert()";
	static const struct {
		size_t width;
		const char *want;
	} rows[] = {
		{80,
		 "site                                                        p50    total\n"
		 "housekeeping-24: unknown in exchange::Book<int>::insert()  5 ns  12.3 ms\n"},
		{60, "site                                            p50    total\n"
		     "ho~: unknown in exchange::Book<int>::insert()  5 ns  12.3 ms\n"},
		{34, "site                         total\n"
		     "hous~ in excha…::insert()  12.3 ms\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct table t = {keyed, 3};
		struct buf out = {0};
		table_text(&t, key);
		table_duration(&t, 5);
		table_duration(&t, 12345678);
		table_write(&out, &t, rows[i].width);
		assert_string_equal(buf_cstr(&out), rows[i].want);
		table_release(&t);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(columns_are_dropped_before_any_is_cut),
		cmocka_unit_test(a_cut_name_keeps_its_number),
		cmocka_unit_test(the_last_column_is_wrapped_and_never_cut),
		cmocka_unit_test(a_key_is_cut_last_and_its_function_by_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
