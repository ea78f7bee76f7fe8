/* render: text is whole, or says that memory was short, while that runs out at each place in
 * turn. */
#include "render/tail/tail_answer.h"
#include "render/text/source_table.h"
#include "tests/lib/torture.h"
#include "tests/unit/libtime/tailrig.h"

/* Write the text again and again; *out is what is written with memory. */
static void torture_text(void (*write)(void *ctx, struct buf *b, int *r), void *ctx, int once)
{
	struct torture t = {.once = once};
	struct buf all = {0};
	int none = 0;
	write(ctx, &all, &none);
	assert_int_equal(none, 0);
	assert_true(all.n > 0);
	while (!t.whole) {
		struct buf b = {0};
		int r = 0;
		torture_on(&t);
		write(ctx, &b, &r);
		torture_off(&t, r);
		if (!r)
			assert_string_equal(buf_cstr(&b), buf_cstr(&all));
		buf_release(&b);
	}
	assert_true(t.failed > 0);
	buf_release(&all);
}

static void write_answer(void *ctx, struct buf *b, int *r)
{
	*r = tail_answer(b, ctx, NULL);
}

static void an_answer_is_whole_or_memory_is_short(void **state)
{
	(void)state;
	for (int once = 0; once < 2; once++) {
		struct rig r;
		rig_init(&r, 60000);
		uint32_t front = thread(&r, "front", 1, 0), other = thread(&r, "other", 2, 1);
		woken_by(off(&r, front, 1000, 9000, 9000, CAUSE_LOCK,
			     "main;ask;[k]ext4_iget;[k]mutex_lock"),
			 other);
		off(&r, other, 900, 8950, 8950, CAUSE_SLEEP, "main;nap");
		finish(&r);
		struct tail t = make(&r, top(1));
		torture_text(write_answer, &t, once);
		tail_release(&t);
		rig_release(&r);
	}
}

static void write_code(void *ctx, struct buf *b, int *r)
{
	struct source_style style = {.width = 100, .all = {40, 40}};
	source_table_code(b, ctx, &style);
	*r = buf_failed(b);
}

/* Instructions that jump over each other. */
static void code_is_whole_or_memory_is_short(void **state)
{
	struct code_rows c = {0};
	uint32_t text;
	(void)state;
	assert_int_equal(strtab_intern(&c.texts, "jmp", &text), 0);
	for (uint64_t i = 0; i < 40; i++) {
		struct code_row row = {.va = 0x1000 + 4 * i,
				       .target = 0x1000 + 4 * ((i * 7 + 3) % 40),
				       .self = 1,
				       .total = 1,
				       .text = text};
		assert_int_equal(vec_push(&c.v, row), 0);
	}
	torture_text(write_code, &c, 0);
	torture_text(write_code, &c, 1);
	vec_release(&c.v);
	strtab_release(&c.texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_whole_or_memory_is_short),
		cmocka_unit_test(code_is_whole_or_memory_is_short),
	};
	return cmocka_run_group_tests_name("render no memory", tests, NULL, NULL);
}
