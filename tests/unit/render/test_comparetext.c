/* render: two recordings compared, as a table. */
#include "render/text/compare_text.h"
#include "tests/lib/unit.h"

#include <string.h>

/* Add a wait of `ns` to each of a side's blocks. */
static void add(struct comparison *c, int side, const char *name, uint64_t ns)
{
	for (uint32_t block = 0; block < COMPARE_BLOCKS; block++)
		assert_int_equal(compare_add(c, side, name, block, ns, 1), 0);
}

static void a_narrow_table_shows_what_changed(void **state)
{
	(void)state;
	static const char name[] = "flusher: sleep in write_all_pages_of_the_table()";
	struct comparison c = {.recorded_ns = {4000000000, 4000000000}};
	struct buf wide = {0}, narrow = {0};
	add(&c, BEFORE, name, 5000000);
	add(&c, AFTER, name, 8000000);
	assert_int_equal(compare_finish(&c), 0);
	/* only the means changed */
	for (int side = 0; side < COMPARE_SIDES; side++)
		c.v.v[0].time[side] = (struct estimate){5e7, 1e7, 9e7};
	compare_text(&wide, &c, "site", 0, 200);
	assert_non_null(strstr(buf_cstr(&wide), "time before"));
	assert_non_null(strstr(buf_cstr(&wide), "count before"));
	compare_text(&narrow, &c, "site", 0, 80);
	assert_non_null(strstr(buf_cstr(&narrow), "5.0 ms  8.0 ms  more"));
	assert_null(strstr(buf_cstr(&narrow), "count before"));
	buf_release(&wide);
	buf_release(&narrow);
	compare_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_narrow_table_shows_what_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
