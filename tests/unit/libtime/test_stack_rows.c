/* Stacks with what they weigh: one kind of row for waits, wall-clock time, chains and the tail.
 */
#include "base/text/buf.h"
#include "libtime/explain/stack_rows.h"
#include "tests/unit/libtime/tailrig.h"

struct taken {
	struct rig *r;
	struct buf text;
	uint64_t ns, waiting_ns;
	int fail_at; /* the row at which the sink fails; 0: never */
	int rows;
};

/* "front:main;lock [lock] -- back 300" a line, µs. */
static int take(void *ctx, const struct stack_row *row, struct err *e)
{
	struct taken *t = ctx;
	const struct stacks *s = &t->r->stacks;
	uint32_t frames[16];
	size_t n = stacks_depth(s, row->of.path);
	if (++t->rows == t->fail_at)
		return err_set(e, ERR_LIMIT, "enough");
	stacks_frames(s, row->of.path, frames, n);
	buf_fmt(&t->text, "%s:", name(t->r, row->of.comm));
	if (row->below)
		buf_fmt(&t->text, "%s ", row->below);
	for (size_t i = 0; i < n; i++)
		buf_fmt(&t->text, "%s%s", i ? ";" : "", function(t->r, frames[i]));
	if (row->above || row->cause)
		buf_fmt(&t->text, " [%s]", row->above ? row->above : row->cause);
	for (size_t i = 0; i < row->nwakers; i++)
		buf_fmt(&t->text, " -- %s", row->wakers[i].name);
	buf_fmt(&t->text, " %d\n", (int)(row->of.weight / 1000));
	t->ns += row->of.weight;
	t->waiting_ns += row->waiting ? row->of.weight : 0;
	return 0;
}

static void taken_release(struct taken *t, struct set_apart *hidden)
{
	buf_release(&t->text);
	set_apart_release(hidden);
}

/* front waits for a lock that back holds while it reads from the disk. */
static void lock_and_disk(struct rig *r)
{
	rig_init(r, 1000);
	uint32_t front = thread(r, "front", 101, 0), back = thread(r, "back", 102, 1);
	off(r, back, 150, 350, 350, CAUSE_IO, "main;flush;read");
	woken_by(off(r, front, 100, 400, 450, CAUSE_LOCK, "main;lock"), back);
	finish(r);
	roles(r);
}

static struct wait_selection everything(unsigned by)
{
	struct wait_selection s = {.states = WAITS_ALL_STATES, .by = by};
	memset(s.causes, 1, sizeof(s.causes));
	return s;
}

static void waits_have_their_cause_and_waker(void **state)
{
	(void)state;
	struct rig r;
	struct taken t = {.r = &r};
	struct set_apart hidden;
	lock_and_disk(&r);
	struct wait_selection s = everything(WAITS_BY_CAUSE | WAITS_BY_WAKER);
	assert_int_equal(stack_rows_waits(&r.tl, &s, take, &t, &hidden, NULL), 0);
	assert_string_equal(buf_cstr(&t.text), "front:main;lock [lock] -- back 350\n"
					       "back:main;flush;read [io] -- [hardirq] 200\n");
	taken_release(&t, &hidden);
	t = (struct taken){.r = &r};
	s = everything(0);
	assert_int_equal(stack_rows_waits(&r.tl, &s, take, &t, &hidden, NULL), 0);
	assert_string_equal(buf_cstr(&t.text),
			    "front:main;lock 350\nback:main;flush;read 200\n");
	taken_release(&t, &hidden);
	rig_release(&r);
}

static void wall_clock_time_is_the_threads_lives(void **state)
{
	(void)state;
	struct rig r;
	struct taken t = {.r = &r};
	struct set_apart hidden;
	lock_and_disk(&r);
	const struct population all = {.idle = 1};
	assert_int_equal(stack_rows_wall(&r.tl, &all, take, &t, &hidden, NULL), 0);
	assert_int_equal(t.ns, 2 * 1000000);
	assert_int_equal(t.waiting_ns, 550000);
	assert_non_null(strstr(buf_cstr(&t.text), "front:main;lock [lock] 300\n"
						  "front:main;lock [runnable] 50\n"));
	taken_release(&t, &hidden);
	rig_release(&r);
}

/* What a link explains beyond the next one is its own; together they are the waits. */
static void links_of_a_chain_add_up_to_the_wait(void **state)
{
	(void)state;
	struct rig r;
	struct taken t = {.r = &r};
	struct set_apart hidden;
	lock_and_disk(&r);
	const struct population all = {.idle = 1};
	assert_int_equal(stack_rows_chains(&r.tl, &all, take, &t, &hidden, NULL), 0);
	assert_int_equal(t.ns, 550000);
	assert_non_null(strstr(buf_cstr(&t.text), "front:main;lock -- back "));
	taken_release(&t, &hidden);
	rig_release(&r);
}

static void the_tail_is_the_time_inside_its_episodes(void **state)
{
	(void)state;
	struct rig r;
	struct taken t = {.r = &r};
	struct set_apart hidden = {.system = 0};
	uint64_t tail_ns, median_ns;
	lock_and_disk(&r);
	struct tail tail = make(&r, top(1));
	assert_int_equal(stack_rows_tail(&tail, take, &t, NULL), 0);
	assert_string_equal(buf_cstr(&t.text), "front:main;lock 350\n");
	buf_clear(&t.text);
	t.ns = 0;
	assert_int_equal(stack_rows_tail_roots(&tail, take, &t, NULL), 0);
	assert_int_equal(t.ns, 350000);
	assert_string_equal(buf_cstr(&t.text), "front:main;lock -- back 50\n"
					       "front:main;lock -- back 200\n"
					       "front:main;lock -- back 50\n"
					       "front:main;lock 50\n");
	assert_int_equal(stack_rows_median(&tail, take, &t, &tail_ns, &median_ns, NULL), 0);
	assert_int_equal(tail_ns, 350000);
	assert_int_equal(t.ns, tail_ns + median_ns);
	tail_release(&tail);
	taken_release(&t, &hidden);
	rig_release(&r);
}

static void a_failure_of_the_sink_ends_it(void **state)
{
	(void)state;
	struct rig r;
	struct taken t = {.r = &r, .fail_at = 2};
	struct set_apart hidden;
	struct err e = {0};
	lock_and_disk(&r);
	struct wait_selection s = everything(0);
	assert_int_equal(stack_rows_waits(&r.tl, &s, take, &t, &hidden, &e), ERR_LIMIT);
	assert_string_equal(e.msg, "enough");
	assert_int_equal(t.rows, 2);
	taken_release(&t, &hidden);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_have_their_cause_and_waker),
		cmocka_unit_test(wall_clock_time_is_the_threads_lives),
		cmocka_unit_test(links_of_a_chain_add_up_to_the_wait),
		cmocka_unit_test(the_tail_is_the_time_inside_its_episodes),
		cmocka_unit_test(a_failure_of_the_sink_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
