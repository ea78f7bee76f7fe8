/*
 * thin: what a thinned timeline keeps exactly, and what it sums up. Times are us; the grain is
 * 100 us.
 */
#include "tests/lib/unit.h"

#include "base/text/buf.h"
#include "libtime/sched/thin.h"

struct rig {
	struct stacks stacks;
	struct timeline tl, thin;
};

enum { US = 1000, GRAIN = 100 * US };

static void off(struct rig *r, unsigned thread, unsigned from, unsigned blocked, unsigned rest,
		uint32_t path, uint16_t cpu_in)
{
	struct offcpu o = {.start_ns = from * US,
			   .end_ns = (from + blocked + rest) * US,
			   .blocked_ns = blocked * US,
			   .thread = thread,
			   .path = path,
			   .waker = 1,
			   .waker_context = WAKER_TASK,
			   .cpu_in = cpu_in};
	assert_int_equal(bigvec_push(&r->tl.offcpu, o, NULL), 0);
}

static void sample(struct rig *r, unsigned at, uint32_t path)
{
	struct tl_sample s = {.time_ns = at * US, .period = 7, .path = path};
	assert_int_equal(bigvec_push(&r->tl.samples, s, NULL), 0);
}

static struct rig *rig_new(void)
{
	static struct rig r;
	r = (struct rig){0};
	assert_int_equal(timeline_init(&r.tl, &r.stacks), 0);
	for (int i = 0; i < 2; i++) {
		struct tl_thread t = {
			.pid = 1, .tid = i + 1, .first_ns = 0, .last_ns = 1000 * US};
		assert_int_equal(vec_push(&r.tl.threads, t), 0);
	}
	return &r;
}

static void finish(struct rig *r)
{
	struct err e = {0};
	assert_int_equal(timeline_finish(&r->tl, &e), 0);
	assert_int_equal(timeline_thin(&r->tl, GRAIN, NULL, 0, &r->thin, &e), 0);
	assert_int_equal(timeline_check(&r->thin, &e), 0);
}

static void rig_free(struct rig *r)
{
	timeline_thin_release(&r->thin);
	timeline_release(&r->tl);
	stacks_release(&r->stacks);
}

/* "from-to blocked path" of all intervals of a thread. */
static void assert_offs(struct rig *r, unsigned thread, const char *want)
{
	const struct tl_thread *t = &r->thin.threads.v[thread];
	struct buf b = {0};
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n; i++) {
		const struct offcpu *o = &r->thin.offcpu.v[i];
		buf_fmt(&b, "%llu-%llu %llu p%u%s; ", (unsigned long long)o->start_ns / US,
			(unsigned long long)o->end_ns / US,
			(unsigned long long)o->blocked_ns / US, o->path,
			o->waker == TL_NONE ? "" : " woken");
	}
	assert_string_equal(buf_cstr(&b), want);
	buf_release(&b);
}

static void equal_ones_of_a_cell_are_one_behind_what_ran_between(void **state)
{
	(void)state;
	struct rig *r = rig_new();
	off(r, 0, 10, 5, 1, 1, 0);
	off(r, 0, 20, 5, 1, 2, 0);
	off(r, 0, 30, 5, 1, 1, 0); /* ran 4 + 4 between them */
	finish(r);
	assert_offs(r, 0, "18-30 10 p1; 30-36 5 p2 woken; ");
	rig_free(r);
}

static void what_reaches_to_another_cell_or_cpu_stays(void **state)
{
	(void)state;
	struct rig *r = rig_new();
	off(r, 0, 10, 5, 0, 1, 0);
	off(r, 0, 90, 20, 0, 1, 0);   /* over the edge at 100 */
	off(r, 0, 120, 5, 0, 1, 1);   /* comes back on CPU 1 */
	off(r, 0, 300, 250, 0, 1, 0); /* longer than the grain */
	off(r, 1, 10, 5, 0, 1, 0);    /* another thread */
	finish(r);
	assert_offs(r, 0,
		    "10-15 5 p1 woken; 90-110 20 p1 woken; 120-125 5 p1 woken; 300-550 250 p1 "
		    "woken; ");
	assert_offs(r, 1, "10-15 5 p1 woken; ");
	rig_free(r);
}

static void equal_samples_of_a_cell_are_one_with_their_periods(void **state)
{
	(void)state;
	struct rig *r = rig_new();
	sample(r, 10, 1);
	sample(r, 20, 2);
	sample(r, 30, 1);
	sample(r, 110, 1);
	finish(r);
	assert_int_equal(r->thin.samples.n, 3);
	assert_int_equal(r->thin.samples.v[0].period, 14);
	assert_int_equal(r->thin.samples.v[1].period, 7);
	assert_int_equal(r->thin.samples.v[2].time_ns, 110 * US);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ones_of_a_cell_are_one_behind_what_ran_between),
		cmocka_unit_test(what_reaches_to_another_cell_or_cpu_stays),
		cmocka_unit_test(equal_samples_of_a_cell_are_one_with_their_periods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
