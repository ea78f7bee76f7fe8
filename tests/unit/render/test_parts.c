/* Answers in another form and of a bounded length (render/text/parts.h). */
#include "tests/lib/unit.h"

#include "render/text/escape.h"
#include "render/text/parts.h"
#include "render/text/table.h"

static const struct table_column columns[] = {{"site", .cut = TABLE_CUT_KEY},
					      {"waits", .right = 1}};

/* "sum\n", a title and a table of n rows, "a|b\n", as data. */
static void answer(struct buf *b, int n)
{
	struct table t = {columns, 2};
	buf_str(b, "all of it\n\ntitle_1\n");
	for (int i = 0; i < n; i++) {
		buf_fmt(&t.text, "site %d", i);
		table_next(&t);
		table_count(&t, (uint64_t)(n - i));
	}
	table_write(b, &t, TABLE_DATA);
	table_release(&t);
	buf_str(b, "\nlast: a|b\n");
}

static const char *written(struct buf *out, int rows, enum parts_form form, uint64_t most)
{
	struct buf b = {0};
	const struct parts_style style = {form, 80, most, "perfkit x"};
	answer(&b, rows);
	buf_clear(out);
	assert_int_equal(parts_write(out, b.v, b.n, &style), 0);
	buf_release(&b);
	return buf_cstr(out);
}

/* Without a bound, text is what the table's own writer makes. */
static void test_text(void **state)
{
	struct buf out = {0};
	(void)state;
	assert_string_equal(written(&out, 2, PARTS_TEXT, 0),
			    "all of it\n\ntitle_1\nsite    waits\nsite 0      2\n"
			    "site 1      1\n\nlast: a|b\n");
	buf_release(&out);
}

static void test_markdown(void **state)
{
	struct buf out = {0};
	(void)state;
	assert_string_equal(written(&out, 1, PARTS_MARKDOWN, 0),
			    "all of it\n\ntitle_1\n\n| site | waits |\n|---|--:|\n"
			    "| site 0 | 1 |\n\nlast: a\\|b\n");
	buf_release(&out);
}

static void test_json(void **state)
{
	struct buf out = {0};
	(void)state;
	assert_string_equal(
		written(&out, 1, PARTS_JSON, 0),
		"{\"schema\":1,\"parts\":[[{\"text\":\"all of it\"}],[{\"text\":\"title_1\"},"
		"{\"columns\":[\"site\",\"waits\"],\"rows\":[[\"site 0\",\"1\"]]}],"
		"[{\"text\":\"last: a|b\"}]]}\n");
	buf_release(&out);
}

/* Rows go first, down to three; then later parts; the end says so. */
static void test_cut(void **state)
{
	struct buf out = {0};
	(void)state;
	assert_string_equal(written(&out, 100, PARTS_TEXT, 200),
			    "all of it\n\ntitle_1\nsite    waits\nsite 0    100\n"
			    "site 1     99\nsite 2     98\nsite 3     97\nsite 4     96\n"
			    "site 5     95\nsite 6     94\nsite 7     93\n\nlast: a|b\n\n"
			    "left out: 92 rows; all: perfkit x\n");
	assert_string_equal(written(&out, 100, PARTS_TEXT, 70),
			    "all of it\n\nlast: a|b\n\nleft out: 1 part (\"title_1\"); "
			    "all: perfkit x\n");
	buf_release(&out);
}

/* Whatever the bound, the answer is at most so long, and more room never shows less of it. */
static void test_bounds(void **state)
{
	static const enum parts_form forms[] = {PARTS_TEXT, PARTS_MARKDOWN, PARTS_JSON};
	struct buf out = {0};
	(void)state;
	for (size_t f = 0; f < 3; f++)
		for (uint64_t most = 256; most < 3000; most += 61) {
			written(&out, 80, forms[f], most);
			assert_true(out.n <= most);
			assert_non_null(strstr(buf_cstr(&out), "all of it"));
		}
	buf_release(&out);
}

static const char *cut_json(struct buf *out, const char *s, uint64_t most)
{
	buf_clear(out);
	assert_int_equal(parts_json(out, s, strlen(s), most, "c"), 0);
	return buf_cstr(out);
}

/* The outermost lists of objects lose elements; others do not. */
static void test_cut_json(void **state)
{
#define HEAD                                                                               \
	"{\"a\":[{\"s\":[\"f\",\"g\"],\"in\":[{},{}]},{\"n\":2},{\"n\":3}],\"w\":[1,2,3]," \
	"\"b\":{\"c\":["
#define ROW "[\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"]"
	static const char all[] = HEAD ROW "," ROW "," ROW "," ROW "," ROW "]}}\n";
	struct buf out = {0};
	(void)state;
	assert_string_equal(cut_json(&out, all, 0), all);
	assert_string_equal(cut_json(&out, all, sizeof(all) - 1), all);
	assert_string_equal(cut_json(&out, all, 270), HEAD ROW
			    "," ROW "]},\"left_out\":{\"rows\":3,\"command\":\"c\"}}\n");
	assert_string_equal(
		cut_json(&out, all, 160),
		"{\"a\":[{\"s\":[\"f\",\"g\"],\"in\":[{},{}]}],\"w\":[1,2,3],\"b\":{\"c\":[]},"
		"\"left_out\":{\"rows\":7,\"command\":\"c\"}}\n");
	assert_string_equal(cut_json(&out, all, 80),
			    "{\"left_out\":{\"all\":true,\"command\":\"c\"}}\n");
	assert_int_equal(parts_json(&out, "[1,2,3]", 7, 3, "c"), ERR_FORMAT);
	assert_int_equal(parts_json(&out, "{\"a\":", 5, 3, "c"), ERR_FORMAT);
	buf_release(&out);
}

/* What Markdown would take as a mark. */
static void test_escape(void **state)
{
	static const char s[] = "a_b __c_ <T*> [x] `y` #1 a|b";
	struct buf out = {0};
	(void)state;
	escape_markdown(&out, s, strlen(s));
	assert_string_equal(buf_cstr(&out),
			    "a_b \\_\\_c\\_ \\<T\\*\\> \\[x\\] \\`y\\` \\#1 a\\|b");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),   cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_json),   cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bounds), cmocka_unit_test(test_cut_json),
		cmocka_unit_test(test_escape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
