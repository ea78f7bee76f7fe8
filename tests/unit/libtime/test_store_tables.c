/* store: the declaration of its tables (libtime/store/schema.c) is complete. */
#include "tests/lib/unit.h"

#include "libtime/store/schema.h"

#include <stdio.h>
#include <string.h>

/* Tables of a store whose rows stand in those that refer to them, where tables are flat, or that
 * are only for perfkit's own commands. */
static int is_in_place(const char *name)
{
	static const char *const in_place[] = {"comms",        "dsos",          "symbols",
					       "files",        "wait_frames",   "offcpu_kinds",
					       "sample_tasks", "sample_sums",   "folded_paths",
					       "folded_sums",  "function_code", "source_texts"};
	for (size_t i = 0; i < sizeof(in_place) / sizeof(*in_place); i++)
		if (!strcmp(name, in_place[i]))
			return 1;
	return 0;
}

/* offcpu_rows → offcpu, selected_events → events, as the views of a store have it. */
static int is_flat(const char *name)
{
	size_t rows = strlen(name) > 5 ? strlen(name) - 5 : 0;
	int cut = rows && !strcmp(name + rows, "_rows");
	for (size_t i = 0; i < FLAT_TABLES; i++) {
		const char *flat = flat_tables[i].name;
		size_t n = strlen(flat);
		if (!strcmp(flat, name) ||
		    (cut && !strncmp(name, flat, rows) && strchr("s", flat[rows])) ||
		    (!strcmp(name, "selected_events") && n == 6 && !strcmp(flat, "events")))
			return 1;
	}
	return 0;
}

static void each_table_is_exported(void **state)
{
	int bad = 0;
	(void)state;
	for (size_t i = 0; i < STORE_TABLES; i++) {
		const char *name = store_tables[i].name;
		if (is_flat(name) == is_in_place(name)) {
			printf("%s: neither a flat table nor part of one, or both\n", name);
			bad++;
		}
	}
	assert_int_equal(bad, 0);
}

static void each_column_says_where_its_value_lies(void **state)
{
	(void)state;
	for (size_t i = 0; i < STORE_TABLES; i++)
		for (size_t k = 0; k < store_tables[i].n; k++) {
			const struct column *c = &store_tables[i].columns[k];
			assert_true(*c->name && c->kind < COLUMN_KINDS);
			assert_int_equal(c->kind == COLUMN_WORD, c->word != NULL);
			for (size_t m = 0; m < k; m++)
				assert_string_not_equal(c->name,
							store_tables[i].columns[m].name);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_table_is_exported),
		cmocka_unit_test(each_column_says_where_its_value_lies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
