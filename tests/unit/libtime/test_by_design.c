/* by_design: what ranks below in an answer about everybody. */
#include "libtime/explain/by_design.h"
#include "tests/unit/libtime/tailrig.h"

enum { END = 1000000, TICK = 1, LOCK, SITES };

/* ticker sleeps 20 ms all its life; hog computes, but waits 9 ms for a CPU now and then; perf has
 * CPU 1 while front waits 6 ms for that; and front waits three times for a lock, `lock` µs. */
static void fill(struct rig *r, uint64_t lock)
{
	rig_init(r, END);
	for (int i = 0; i < SITES; i++)
		assert_int_equal(
			vec_push(&r->tl.sites, ((struct tl_site){.verdict = SITE_WORK})), 0);
	uint32_t ticker = thread(r, "ticker", 1, 0), hog = thread(r, "hog", 2, 0);
	uint32_t front = thread(r, "front", 3, 1), perf = thread(r, "perf", 4, 1);
	r->tl.threads.v[hog].pid = 2; /* another process than the others */
	for (uint64_t at = 1000; at + 21000 < END; at += 21000) {
		off(r, ticker, at, at + 20000, at + 20000, CAUSE_SLEEP, "main;tick")->site =
			TICK;
		struct offcpu *o = off(r, hog, at, at, at + 9000, CAUSE_PREEMPT, "main;burn");
		o->flags = OFF_RUNNING;
	}
	for (uint64_t at = 1000; at + 20000 < END; at += 20000) {
		uint64_t ns = at < 60000 ? lock : 2000;
		off(r, front, at, at + ns, at + ns, CAUSE_LOCK, "main;take")->site = LOCK;
	}
	struct offcpu *o = off(r, front, 990000, 990000, 996000, CAUSE_PREEMPT, "main");
	o->flags = OFF_RUNNING;
	o->cpu_out = o->cpu_in = 1;
	r->tl.threads.v[perf].flags |= THREAD_RECORDER;
	off(r, perf, 1, 989000, 989000, CAUSE_POLL, "main;poll")->cpu_in = 1;
	off(r, perf, 997000, END, END, CAUSE_POLL, "main;poll");
	finish(r);
}

static struct tail ask(struct rig *r, int unusual, int of_ticker)
{
	struct tail_query q = top(3);
	q.pick = (struct episode_pick){
		.kind = PICK_PERCENTILE, .millipercent = 99900, .least = 3, .unusual = unusual};
	q.episodes.of.ranked = 1;
	q.episodes.of.comms = (const char *const[]){"ticker"};
	q.episodes.of.ncomms = (size_t)of_ticker;
	return make(r, q);
}

static const char *name_of(const struct tail *t, size_t i)
{
	return strtab_get(&t->tl->stacks->strings, t->episodes.v.v[t->rows.v[i].episode].comm);
}

static void waits_by_design_are_left_out_if_there_is_a_tail(void **state)
{
	struct rig r;
	(void)state;
	fill(&r, 5000);
	struct tail t = ask(&r, 1, 0);
	assert_int_equal(t.rows.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(name_of(&t, i), "front");
		assert_int_equal(episode_ns(&t.episodes.v.v[t.rows.v[i].episode]), 5000000);
	}
	assert_true(t.selection.by_design > 50);
	assert_int_equal(t.selection.longest_ns, 20000000);
	tail_release(&t);

	t = ask(&r, 0, 0); /* a percentile was asked for */
	assert_string_equal(name_of(&t, 0), "ticker");
	tail_release(&t);
	t = ask(&r, 1, 1); /* so was the ticker */
	assert_string_equal(name_of(&t, 0), "ticker");
	assert_int_equal(t.selection.by_design, 0);
	tail_release(&t);
	rig_release(&r);
}

/* If there is one process, it was recorded for: what it computes waits for a CPU, too. */
static void a_program_alone_waits_for_cpus(void **state)
{
	struct rig r;
	(void)state;
	fill(&r, 5000);
	for (size_t i = 0; i < r.tl.threads.n; i++)
		r.tl.threads.v[i].pid = 2;
	struct tail t = ask(&r, 1, 0);
	assert_string_equal(name_of(&t, 0), "hog");
	assert_int_equal(episode_ns(&t.episodes.v.v[t.rows.v[0].episode]), 9000000);
	tail_release(&t);
	rig_release(&r);
}

/* A client waits for its server all its life, as long as usual: for work. */
static void a_client_is_ranked(void **state)
{
	struct rig r;
	(void)state;
	fill(&r, 5000);
	r.tl.sites.v[TICK].reason = REASON_CONNECTED;
	struct tail t = ask(&r, 1, 0);
	assert_string_equal(name_of(&t, 0), "ticker");
	tail_release(&t);
	rig_release(&r);
}

static void without_another_tail_they_are_the_answer(void **state)
{
	struct rig r;
	(void)state;
	fill(&r, 5000);
	for (size_t i = 0; i < r.tl.offcpu.n; i++) /* too short to be a tail */
		if (r.tl.offcpu.v[i].cause == CAUSE_LOCK)
			r.tl.offcpu.v[i].end_ns = r.tl.offcpu.v[i].start_ns +
						  (r.tl.offcpu.v[i].blocked_ns = 900000);
	struct tail t = ask(&r, 1, 0);
	assert_string_equal(name_of(&t, 0), "ticker");
	assert_int_equal(t.selection.by_design, 0);
	tail_release(&t);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_by_design_are_left_out_if_there_is_a_tail),
		cmocka_unit_test(a_program_alone_waits_for_cpus),
		cmocka_unit_test(a_client_is_ranked),
		cmocka_unit_test(without_another_tail_they_are_the_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
