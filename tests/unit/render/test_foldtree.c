/* folded lines: equal ones are one, wherever their nodes came from, in byte order. */
#include "tests/lib/unit.h"

#include "render/flame/fold_tree.h"

#include <stdlib.h>

typedef int child_of(struct foldtree *t, uint32_t parent, uint32_t text, uint32_t *node);

static uint32_t child(struct foldtree *t, child_of *how, uint32_t parent, const char *text)
{
	uint32_t id, node;
	assert_int_equal(foldtree_text(t, text, strlen(text), &id), 0);
	assert_int_equal(how(t, parent, id, &node), 0);
	return node;
}

static uint64_t tenth(uint64_t weight, void *ctx)
{
	(void)ctx;
	return weight / 10;
}

static void expect(struct foldtree *t, const char *want)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct err e = {0};
	assert_int_equal(foldtree_write(t, f, tenth, NULL, &e), 0);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, want);
	free(text);
	foldtree_release(t);
}

static void children_of_equal_text_are_written_as_one(void **state)
{
	(void)state;
	struct foldtree t = {0};
	uint32_t a = child(&t, foldtree_child, 0, "a");
	assert_int_equal(child(&t, foldtree_child, 0, "a"), a);
	uint32_t x = child(&t, foldtree_new, a, "x"), y = child(&t, foldtree_new, a, "x");
	assert_int_not_equal(x, y);
	foldtree_add(&t, x, 15); /* summed before it is rounded */
	foldtree_add(&t, y, 15);
	foldtree_add(&t, child(&t, foldtree_new, x, "leaf"), 10);
	foldtree_add(&t, child(&t, foldtree_child, y, "leaf"), 20);
	foldtree_add(&t, child(&t, foldtree_new, y, "last"), 40);
	foldtree_add(&t, child(&t, foldtree_new, child(&t, foldtree_new, 0, "a"), "x"), 30);
	expect(&t, "a;x 6\na;x;last 4\na;x;leaf 3\n");
}

static void lines_are_in_byte_order(void **state)
{
	(void)state;
	struct foldtree t = {0};
	uint32_t a = child(&t, foldtree_child, 0, "a");
	foldtree_add(&t, child(&t, foldtree_new, a, "x"), 10);
	foldtree_add(&t, child(&t, foldtree_child, 0, "a b"), 20);
	foldtree_add(&t, child(&t, foldtree_child, 0, "a:"), 30);
	foldtree_add(&t, a, 40);
	expect(&t, "a 4\na b 2\na: 3\na;x 1\n");
}

static void only_a_node_that_was_looked_up_is_found(void **state)
{
	(void)state;
	struct foldtree t = {0};
	uint32_t a = child(&t, foldtree_new, 0, "a"), b = child(&t, foldtree_child, a, "b");
	assert_int_equal(child(&t, foldtree_child, a, "b"), b);
	assert_int_not_equal(child(&t, foldtree_child, 0, "a"), a);
	foldtree_release(&t);
}

static void no_lines_are_nothing(void **state)
{
	(void)state;
	struct foldtree t = {0};
	expect(&t, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_of_equal_text_are_written_as_one),
		cmocka_unit_test(lines_are_in_byte_order),
		cmocka_unit_test(only_a_node_that_was_looked_up_is_found),
		cmocka_unit_test(no_lines_are_nothing),
	};
	return cmocka_run_group_tests_name("render fold tree", tests, NULL, NULL);
}
