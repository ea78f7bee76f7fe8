/* several: threads woken together, pools that are full, readers whose turns overlap. */
#include "libtime/explain/several.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/explain/told.h"
#include "tests/unit/libtime/tailrig.h"

enum { CROWD = 5, REST = 1, ASK, SITES };

/* --- a crowd: ringer wakes five threads, `apart` µs one after the other; each then has CPU 0 for
 * 1 ms, and the last one waits for the four before it. With `blocks` ringer sleeps after the
 * second. */

static int crowd(unsigned apart, int blocks, struct crowd *out)
{
	struct rig r;
	struct explanation x = {0};
	rig_init(&r, 100000);
	uint32_t ringer = thread(&r, "ringer", 1, 1), ring = path(&r, "main;ring"), last = 0;
	struct offcpu *nap = off(&r, ringer, 100, 900, 900, CAUSE_SLEEP, "main;nap");
	nap->cpu_out = nap->cpu_in = 1;
	if (blocks)
		off(&r, ringer, 1001 + apart, 1002 + apart, 1002 + apart, CAUSE_SLEEP,
		    "main;nap");
	for (unsigned i = 0; i < CROWD; i++) {
		uint64_t woken = 1000 + i * apart, in = i ? 2000 + i * 1000 : woken;
		last = thread(&r, i + 1 < CROWD ? "worker" : "last", 10 + (int)i, 0);
		struct offcpu *o = off(&r, last, 0, woken, in, CAUSE_COND, "main;work;wait");
		woken_by(o, ringer);
		o->waker_path = ring;
		o->cpu_queue = 0;
		off(&r, last, in + 1000, 90000, 90000, CAUSE_COND, "main;work;wait")->flags =
			OFF_IDLE;
	}
	finish(&r);
	struct tail_query q = top(1);
	q.episodes.of.comms = (const char *const[]){"last"};
	q.episodes.of.ncomms = 1;
	struct tail t = make(&r, q);
	assert_int_equal(explain(t.explainer, &t.episodes.v.v[t.rows.v[0].episode], &x, NULL),
			 0);
	int found = crowd_find(&r.tl, &x, out);
	assert_true(!found || out->waker == ringer);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
	return found;
}

static void threads_woken_at_once_are_a_crowd(void **state)
{
	struct crowd c;
	(void)state;
	assert_true(crowd(2, 0, &c));
	assert_int_equal(c.n, CROWD);
	assert_int_equal(c.ns, (CROWD - 1) * 2 * 1000);
	assert_int_equal(c.comm, 0);     /* two names */
	assert_false(crowd(600, 0, &c)); /* slower than the queue */
	assert_false(crowd(2, 1, &c));   /* not at once: it slept in between */
}

/* --- a pool: front asks at 10000 and is answered at 20000 by worker 0 of three; worker `free`
 * of them rests until front wakes it at 9999, the others are at work. */

static int pool(int free, int rests, struct pool *out)
{
	struct rig r;
	struct likely *likely;
	struct explanation x = {0};
	rig_init(&r, 100000);
	for (int i = 0; i < SITES; i++)
		assert_int_equal(
			vec_push(&r.tl.sites,
				 ((struct tl_site){
					 .role = i ? text(&r, i == REST ? "worker" : "front")
						   : 0,
					 .verdict = i == REST ? SITE_IDLE : SITE_WORK})),
			0);
	uint32_t front = thread(&r, "front", 1, 0);
	for (int i = 0; i < 3; i++) {
		uint32_t w = thread(&r, "worker", 10 + i, 1);
		struct offcpu *o = off(&r, w, 100, 5000, 5000, CAUSE_COND, "start;worker;wait");
		o->site = REST;
		o->flags = i || rests ? OFF_IDLE : 0;
		if (i == free) {
			o = off(&r, w, 6000, 9999, 9999, CAUSE_COND, "start;worker;wait");
			o->site = REST;
			o->flags = OFF_IDLE;
			woken_by(o, front);
		}
	}
	off(&r, front, 9000, 9500, 9500, CAUSE_SLEEP, "main;think");
	struct offcpu *o =
		off(&r, front, 10000, 20000, 20000, CAUSE_SEMAPHORE, "main;ask;wait");
	woken_by(o, front + 1);
	o->site = ASK;
	finish(&r);
	struct tail_query q = top(1);
	q.episodes.of.comms = (const char *const[]){"front"};
	q.episodes.of.ncomms = 1;
	struct tail t = make(&r, q);
	assert_int_equal(likely_new(&r.tl, &likely), 0);
	assert_int_equal(explain(t.explainer, &t.episodes.v.v[t.rows.v[0].episode], &x, NULL),
			 0);
	int full = pool_find(explainer_evidence(t.explainer), likely, &x, out, NULL);
	likely_free(likely);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
	return full;
}

static void a_pool_is_full_if_none_of_its_threads_was_at_rest(void **state)
{
	struct pool p;
	(void)state;
	assert_int_equal(pool(-1, 1, &p), 1);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.busy_ns, 10000 * 1000);
	assert_true(p.comm && p.running);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pool(i, 1, &p), 0);
	assert_int_equal(pool(-1, 0, &p), 0); /* where one rests is not known */
}

/* --- readers that go round in one function: each draws for 12 ms and pauses for 1 ms, r2 6 ms
 * after r1. With one reader, the lock is free in the pauses. */

static void round_and_round(struct rig *r, uint32_t t, uint64_t at, uint64_t until)
{
	for (; at + 13000 < until; at += 13000) {
		off(r, t, at, at + 12000, at + 12000, CAUSE_SLEEP,
		    "start;render;draw;c:nanosleep");
		off(r, t, at + 12010, at + 13000, at + 13000, CAUSE_SLEEP,
		    "start;render;c:nanosleep");
	}
}

static void readers_that_overlap_are_counted(void **state)
{
	(void)state;
	for (int two = 0; two < 2; two++) {
		static const char unlock[] = "c:pthread_rwlock_unlock";
		struct rig r;
		struct lock_readers x;
		struct explanation of = {0};
		rig_init(&r, 100000);
		struct tl_event ev = {.name = text(&r, "sched:sched_switch"),
				      .stacks = STACKS_DWARF};
		assert_int_equal(vec_push(&r.tl.events, ev), 0);
		uint32_t front = thread(&r, "front", 1, 0), r1 = thread(&r, "render", 2, 1),
			 r2 = thread(&r, "render", 3, 1);
		uint32_t lets_go = path(&r, unlock);
		for (uint32_t t = r1; t <= r2; t++) {
			struct offcpu *o = off(&r, t, 100, 300, 300, CAUSE_RWLOCK,
					       "start;render;c:pthread_rwlock_rdlock");
			woken_by(o, front);
			o->waker_path = lets_go;
		}
		round_and_round(&r, r1, 1000, 99000);
		if (two)
			round_and_round(&r, r2, 7000, 47000);
		struct offcpu *o = off(&r, front, 2000, 52005, 52005, CAUSE_RWLOCK,
				       "main;update;c:pthread_rwlock_wrlock");
		woken_by(o, r1);
		o->waker_path = lets_go;
		struct tail t = explain_one(&r, "front", &of);
		uint32_t wait = 0;
		for (; r.tl.offcpu.v[wait].thread != front; wait++)
			;
		int found = lock_readers(explainer_evidence(t.explainer), wait, &x, NULL);
		assert_int_equal(found, two);
		if (two)
			assert_int_equal(x.n, 2);
		/* not all of the wait, as if it had not been elsewhere */
		if (!two)
			assert_true(x.ns <= 13000 * 1000);
		explanation_release(&of);
		tail_release(&t);
		rig_release(&r);
	}
}

/* --- who had the CPU --- */

static int says(const struct told *x, enum told_form form)
{
	for (size_t i = 0; i < x->v.n; i++)
		if (x->v.v[i].form == form)
			return 1;
	return 0;
}

static void the_recorder_is_told_from_programs(void **state)
{
	(void)state;
	for (int is = 0; is < 2; is++) {
		struct rig r;
		struct told x = {0};
		size_t sentence;
		uint32_t victim = rig_queue(&r, 180);
		r.tl.threads.v[victim + 1].flags |= is ? THREAD_RECORDER : 0;
		finish(&r);
		struct tail_query q = top(1);
		q.episodes.of.comms = (const char *const[]){"victim"};
		q.episodes.of.ncomms = 1;
		struct tail t = make(&r, q);
		assert_int_equal(told_answer(&x, &t, &sentence, NULL), 0);
		assert_int_equal(says(&x, TOLD_RECORDER_HAD), is);
		assert_int_equal(says(&x, TOLD_HAD_THE_CPU), !is);
		told_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_woken_at_once_are_a_crowd),
		cmocka_unit_test(a_pool_is_full_if_none_of_its_threads_was_at_rest),
		cmocka_unit_test(readers_that_overlap_are_counted),
		cmocka_unit_test(the_recorder_is_told_from_programs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
