/* render: what all threads did together, as report says it above its table. */
#include "libtime/tables/tables.h"
#include "render/tail/rows_text.h"
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

static char *totals(const uint64_t (*cells)[2], size_t n, uint64_t losses, int brief)
{
	struct stacks st = {0};
	struct timeline tl;
	struct rows r;
	struct buf b = {0};
	struct tl_thread threads[2] = {{.tid = 1}, {.tid = 2}};
	uint32_t row;
	assert_int_equal(timeline_init(&tl, &st), 0);
	rows_init(&r, table_kind_of("thread"), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(vec_push(&tl.threads, threads[i]), 0);
		assert_int_equal(rows_row(&r, 0, i, &row), 0);
		for (size_t k = 0; k < n; k++)
			rows_add(&r, row, (enum column)cells[k][0], cells[k][1]);
	}
	for (uint64_t i = 0; i < losses; i++)
		assert_int_equal(vec_push(&tl.losses, (struct tl_loss){0}), 0);
	assert_int_equal(rows_finish(&r), 0);
	assert_int_equal(rows_filter(&r, &tl, NULL, 0), 0);
	rows_totals(&b, &tl, &r, brief);
	buf_cstr(&b);
	rows_release(&r);
	timeline_release(&tl);
	stacks_release(&st);
	return b.v;
}

/* The text as one line. */
static void unwrap(char *text)
{
	char *to = text;
	for (const char *p = text; *p; p++)
		if (*p == '\n' && p[1])
			*to++ = ' ', p += strspn(p + 1, " ");
		else
			*to++ = *p;
	*to = '\0';
}

static void rows_are_added_up(void **state)
{
	static const uint64_t plain[][2] = {{COL_WAITS, 3},
					    {COL_RUN, 1000000},
					    {COL_BLOCKED, 2000000},
					    {COL_PREEMPTED, 500}};
	static const uint64_t all[][2] = {{COL_WAITS, 3},      {COL_STACKS, 1},
					  {COL_UNCLEAR, 1000}, {COL_IDLE, 1000000},
					  {COL_IDLE_WAITS, 2}, {COL_OPEN, 1}};
	(void)state;
	char *text = totals(plain, 4, 0, 0);
	assert_string_equal(text,
			    "\nscheduler  2 threads, 6 waits: 2.0 ms running, 4.0 ms blocked, "
			    "0 ns runnable\n"
			    "           (1.0 us of it preempted), 0 ns in an unknown state\n");
	free(text);
	text = totals(plain, 4, 0, 1);
	assert_string_equal(text, "2 threads: 2.0 ms running, 4.0 ms blocked, 0 ns runnable\n");
	free(text);
	text = totals(all, 6, 1, 0);
	unwrap(text);
	assert_non_null(strstr(text, "6 waits, 2 of them with a stack: "));
	assert_non_null(strstr(text, "0 ns blocked, 2.0 us unclear, 0 ns runnable"));
	assert_non_null(strstr(text, "4 waits at rest"));
	assert_non_null(strstr(text, "2 open and 0 suspect"));
	assert_non_null(strstr(text, "1 gap"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_added_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
