/* Parquet: what fails is an error, and a file that failed has no footer; tests/cli/parquet.sh
 * asks other programs whether they read what was put in. */
#include "tests/lib/torture.h"

#include "render/parquet/parquet.h"
#include "render/parquet/parquet_bits.h"

#include <string.h>

enum { ROWS = 3000 };

static const struct parquet_column columns[] = {
	{"n", PARQUET_I64, 0, 0, 1},
	{"text", PARQUET_TEXT, 1, 0, 0},
	{"list", PARQUET_TEXT, 0, 1, 0},
};

static int value_of(void *ctx, size_t column, size_t row, struct parquet_value *v,
		    struct err *e)
{
	static const char *const texts[] = {"a", "b\xff", "c"};
	static const struct parquet_value list[] = {{.s = "x", .n = 1}, {.s = "yz", .n = 2}};
	(void)e;
	*v = (struct parquet_value){.i = (int64_t)row};
	if (column == 1)
		*v = (struct parquet_value){.s = texts[row % 3],
					    .n = (uint32_t)strlen(texts[row % 3]),
					    .missing = row % 5 == 0};
	if (column == 2)
		*v = (struct parquet_value){.list = list, .n = row % 3};
	return ctx && row == *(size_t *)ctx ? err_set(e, ERR_FORMAT, "row %zu", row) : 0;
}

static int write_table(FILE *f, size_t *fail_at, struct err *e)
{
	struct parquet *p;
	int r = parquet_open(&p, f, columns, 3, e);
	r = r ? r : parquet_group(p, ROWS, value_of, fail_at, e);
	r = r ? r : parquet_group(p, ROWS, value_of, fail_at, e);
	return parquet_close(p, r, e);
}

static void without_memory_there_is_an_error(void **state)
{
	(void)state;
	for (int once = 0; once < 2; once++) {
		struct torture t = {.once = once};
		while (!t.whole) {
			struct err e = {0};
			FILE *f = fopen("/dev/null", "w");
			assert_non_null(f);
			torture_on(&t);
			int r = write_table(f, NULL, &e);
			torture_off(&t, r);
			fclose(f);
		}
		assert_true(t.failed > 20);
	}
}

static void a_row_that_fails_leaves_no_footer(void **state)
{
	(void)state;
	char *bytes = NULL;
	size_t n = 0, at = 7;
	struct err e = {0};
	FILE *f = open_memstream(&bytes, &n);
	assert_int_equal(write_table(f, &at, &e), ERR_FORMAT);
	assert_string_equal(e.msg, "row 7");
	fclose(f);
	assert_int_equal(n, 4); /* the head alone: no reader takes that for a table */
	mem_free(bytes);
	f = open_memstream(&bytes, &n);
	assert_int_equal(write_table(f, NULL, &e), 0);
	fclose(f);
	assert_memory_equal(bytes + n - 4, "PAR1", 4);
	mem_free(bytes);
}

/* The examples of Encodings.md. */
static void bits_are_packed_lowest_first(void **state)
{
	(void)state;
	static const int64_t counting[] = {0, 1, 2, 3, 4, 5, 6, 7},
			     deltas[] = {7, 5, 3, 1, 2, 3, 4, 5};
	static const uint8_t packed[] = {0x88, 0xc6, 0xfa};
	/* block size 128, 4 miniblocks, 8 values, the first 7; least difference -2, widths 2 0
	 * 0 0; 0 0 0 3 3 3 3 in two bits each, filled up to 32 */
	static const uint8_t delta[] = {0x80, 1,    4,    8, 14, 3, 2, 0, 0,
					0,    0xc0, 0x3f, 0, 0,  0, 0, 0, 0};
	struct buf b = {0};
	bits_pack(&b, counting, 8, 3);
	assert_int_equal(b.n, sizeof(packed));
	assert_memory_equal(b.v, packed, sizeof(packed));
	buf_clear(&b);
	bits_delta(&b, deltas, 8, 0);
	assert_int_equal(b.n, sizeof(delta));
	assert_memory_equal(b.v, delta, sizeof(delta));
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_memory_there_is_an_error),
		cmocka_unit_test(a_row_that_fails_leaves_no_footer),
		cmocka_unit_test(bits_are_packed_lowest_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
