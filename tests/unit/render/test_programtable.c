/* program_table: the option that asks about a program alone. */
#include "render/tail/program_table.h"
#include "tests/unit/libtime/tailrig.h"

/* A wait of a process of that name. */
static void add_process(struct rig *r, const char *name, int32_t pid, uint64_t at)
{
	uint32_t t = thread(r, name, pid, 0);
	r->tl.threads.v[t].pid = pid;
	off(r, t, at, at + 1000, at + 1000, CAUSE_SLEEP, "main;nap");
}

static void has(struct buf *b, const char *text)
{
	if (!strstr(buf_cstr(b), text) || strchr(buf_cstr(b), '\033'))
		fail_msg("%s", buf_cstr(b));
	buf_clear(b);
}

/* In the table, and between parentheses in words. */
static void writes(struct rig *r, const char *option)
{
	struct buf b = {0}, words = {0};
	finish(r);
	struct tail t = make(r, top(10));
	assert_int_equal(program_table(&b, &t, 120), 0);
	buf_fmt(&words, "%s\n", option);
	has(&b, buf_cstr(&words));
	assert_int_equal(program_words(&b, &t), 0);
	buf_clear(&words);
	buf_fmt(&words, "(%s)", option);
	has(&b, buf_cstr(&words));
	tail_release(&t);
	buf_release(&b);
	buf_release(&words);
	rig_release(r);
}

static void a_pid_that_was_given_twice_is_written_once(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 50000);
	add_process(&r, "front", 7, 1000);
	add_process(&r, "front", 7, 3000);
	add_process(&r, "back", 9, 5000);
	writes(&r, "--pid 7");
}

static void a_name_is_one_visible_word(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 50000);
	for (int i = 0; i < 3; i++)
		add_process(&r, "a b;\033[2J", 7 + i, 1000 + 2000 * (uint64_t)i);
	add_process(&r, "back", 19, 7000);
	writes(&r, "--comm 'a b;␛[2J'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pid_that_was_given_twice_is_written_once),
		cmocka_unit_test(a_name_is_one_visible_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
