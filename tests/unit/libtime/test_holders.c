/* test_holders.c - who held a reader/writer lock or an interpreter's lock; functions at several
 * lines. */
#include "tests/unit/libtime/tailrig.h"

#define READ_LOCK "c:pthread_rwlock_rdlock"
#define WRITE_LOCK "c:pthread_rwlock_wrlock"

static void whole_stacks(struct rig *r)
{
	struct tl_event ev = {.name = text(r, "sched:sched_switch"), .stacks = STACKS_DWARF};
	assert_int_equal(vec_push(&r->tl.events, ev), 0);
}

/* A wait for the lock, ended by a thread whose stack lacks its callers. */
static void waits(struct rig *r, uint32_t t, uint64_t out, uint64_t woken, const char *stack,
		  uint32_t by, const char *unlock)
{
	uint32_t at = path(r, unlock);
	struct offcpu *o = off(r, t, out, woken, woken, CAUSE_RWLOCK, stack);
	woken_by(o, by);
	o->waker_path = at;
}

static void sleeps(struct rig *r, uint32_t t, uint64_t out, uint64_t in, const char *stack)
{
	off(r, t, out, in, in, CAUSE_SLEEP, stack);
}

/* w slept in its hold. No other thread can have had the lock in the meantime: that would have
 * woken the reader. */
static void a_writer_had_it_since_the_reader_began_to_wait(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 20000);
	whole_stacks(&r);
	uint32_t a = thread(&r, "a", 101, 0), w = thread(&r, "w", 102, TL_NOCPU);
	waits(&r, a, 1000, 9000, "a;read_shared;" READ_LOCK, w, "c:pthread_rwlock_unlock");
	sleeps(&r, w, 2000, 8000, "w;hold;c:nanosleep");
	struct tail t = explain_one(&r, "a", &x);
	assert_int_equal(explanation_root(&x)->thread, w);
	assert_int_equal(explanation_root(&x)->ns, 8000 * 1000);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* The same, but w lost its CPU as it let the lock go, after it had woken b. */
static void who_lets_it_go_has_it_no_longer(void **state)
{
	static const char unlock[] = "c:pthread_rwlock_unlock;[k]do_futex;[k]futex_wake";
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 20000);
	whole_stacks(&r);
	uint32_t a = thread(&r, "a", 101, 0), w = thread(&r, "w", 102, TL_NOCPU),
		 b = thread(&r, "b", 103, 1);
	waits(&r, a, 1000, 9000, "a;read_shared;" READ_LOCK, w, unlock);
	waits(&r, b, 900, 5000, "b;read_shared;" READ_LOCK, w, unlock);
	off(&r, w, 5010, 5010, 8900, CAUSE_PREEMPT, "w;write_shared;c:pthread_rwlock_unlock")
		->flags = OFF_RUNNING;
	struct tail t = explain_one(&r, "a", &x);
	assert_int_equal(explanation_root(&x)->thread, w);
	assert_int_equal(explanation_root(&x)->ns, 4010 * 1000);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* r1 is in the function that takes the lock since 3000, and wakes the writer; r2 is in it until
 * 5000. Other lines of a function are the same function. */
static void readers_have_it_while_in_the_function_that_takes_it(void **state)
{
	(void)state;
	for (int two = 0; two < 2; two++) {
		struct rig r;
		struct explanation x = {0};
		rig_init(&r, 20000);
		whole_stacks(&r);
		uint32_t a = thread(&r, "a", 101, 0), r1 = thread(&r, "r1", 102, TL_NOCPU),
			 r2 = thread(&r, "r2", 103, TL_NOCPU);
		waits(&r, r1, 100, 300, "r1;read_shared@3;" READ_LOCK, a,
		      "c:pthread_rwlock_unlock");
		waits(&r, r2, 100, 310, "r2;read_shared@3;" READ_LOCK, a,
		      "c:pthread_rwlock_unlock");
		waits(&r, a, 1000, 9000, "a;write_shared;" WRITE_LOCK, r1,
		      "c:pthread_rwlock_unlock");
		sleeps(&r, r1, 500, 3000, "r1;think;c:nanosleep");
		sleeps(&r, r1, 4000, 8000, "r1;read_shared@7;c:nanosleep");
		sleeps(&r, r2, 500, 5000,
		       two ? "r2;read_shared@7;c:nanosleep" : "r2;think;c:nanosleep");
		struct tail t = explain_one(&r, "a", &x);
		assert_int_equal(explanation_root(&x)->thread, r1);
		assert_int_equal(explanation_root(&x)->ns, 6000 * 1000);
		assert_int_equal(x.parts.v[0].actors, 1 + two);
		assert_int_equal(x.parts.v[0].kept_ns, (6000 + 2000 * two) * 1000);
		explanation_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

/* An interpreter: how its threads look that interpret, wait for its lock, or for something
 * else. */
struct interpreter {
	const char *interprets, *wants_lock, *waits;
	uint8_t cause;  /* of waits */
	unsigned ended; /* threads of the process that ended before */
};

/* c ends a's wait for the lock, but waited itself before, when b interpreted. d interprets,
 * too, if `two`: two that may have it are too many. */
static void has_holder(const struct interpreter *in, int two)
{
	struct rig r;
	struct explanation x = {0};
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "a", 101, 0), b = thread(&r, "b", 102, 1),
		 c = thread(&r, "c", 103, TL_NOCPU), d = thread(&r, "d", 104, TL_NOCPU);
	for (unsigned i = 0; i < in->ended; i++) {
		uint32_t t = thread(&r, "old", 200 + (int)i, TL_NOCPU);
		r.tl.threads.v[t].last_ns = 500000;
	}
	woken_by(off(&r, a, 1000, 9000, 9000, CAUSE_LOCK, in->wants_lock), c);
	off(&r, c, 500, 8900, 8900, in->cause, in->waits);
	off(&r, b, 8950, 8950, 8990, CAUSE_PREEMPT, in->interprets)->flags = OFF_RUNNING;
	off(&r, d, 0, two ? 600 : 9500, two ? 600 : 9500, CAUSE_SLEEP, in->waits);
	if (two)
		off(&r, d, 9100, 9500, 9500, CAUSE_SLEEP, in->waits);
	struct tail t = explain_one(&r, "a", &x);
	assert_int_equal(explanation_root(&x)->thread, two ? a : b);
	assert_int_equal(explanation_root(&x)->ns, (two ? 8000 : 7900) * 1000);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* More threads of the process live than are looked at. */
static void too_many_threads_leave_the_holder_unknown(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "a", 101, 0), c = thread(&r, "c", 103, TL_NOCPU);
	for (int i = 0; i < 600; i++)
		thread(&r, "idle", 200 + i, TL_NOCPU);
	woken_by(off(&r, a, 1000, 9000, 9000, CAUSE_LOCK,
		     "a;_PyEval_EvalFrameDefault;take_gil;c:pthread_cond_timedwait"),
		 c);
	off(&r, c, 500, 8900, 8900, CAUSE_SLEEP,
	    "c;_PyEval_EvalFrameDefault;time_sleep;c:nanosleep");
	struct tail t = explain_one(&r, "a", &x);
	assert_int_equal(explanation_root(&x)->thread, a);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

static void a_waiting_thread_does_not_hold_an_interpreters_lock(void **state)
{
	static const struct interpreter all[] = {
		{"b;_PyEval_EvalFrameDefault",
		 "a;_PyEval_EvalFrameDefault;take_gil;c:pthread_cond_timedwait",
		 "c;_PyEval_EvalFrameDefault;time_sleep;c:nanosleep", CAUSE_SLEEP, 0},
		{"b;_PyEval_EvalFrameDefault",
		 "a;_PyEval_EvalFrameDefault;take_gil;c:pthread_cond_timedwait",
		 "c;_PyEval_EvalFrameDefault;c:fdatasync;[k]submit_bio_wait", CAUSE_IO, 0},
		{"b;_PyEval_EvalFrameDefault",
		 "a;_PyEval_EvalFrameDefault;take_gil;c:pthread_cond_timedwait",
		 "c;_PyEval_EvalFrameDefault;time_sleep;c:nanosleep", CAUSE_SLEEP, 600},
		{"r:vm_exec", "r:vm_exec;r:gvl_acquire_common;c:pthread_cond_wait",
		 "r:vm_exec;c:nanosleep", CAUSE_SLEEP, 0},
		{"r:rb_vm_exec", "r:rb_vm_exec;r:thread_sched_yield;c:pthread_cond_wait",
		 "r:rb_vm_exec;c:nanosleep", CAUSE_SLEEP, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		has_holder(&all[i], 0);
		has_holder(&all[i], 1);
	}
}

static void sample(struct rig *r, uint32_t t, uint64_t us, const char *stack)
{
	struct tl_sample s = {.time_ns = us * 1000, .thread = t, .path = path(r, stack)};
	assert_int_equal(bigvec_push(&r->tl.samples, s, NULL), 0);
}

/* Four samples in three lines of parse(), three in one of copy(). */
static void lines_of_a_function_are_one_function(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "a", 101, 0), w = thread(&r, "w", 102, 1);
	woken_by(off(&r, a, 1000, 9000, 9000, CAUSE_LOCK, "a;work;c:lll_lock_wait"), w);
	const char *const stacks[] = {"w;parse@1", "w;copy@9",  "w;copy@9", "w;copy@9",
				      "w;parse@2", "w;parse@3", "w;parse@3"};
	for (uint64_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++)
		sample(&r, w, 2000 + 100 * i, stacks[i]);
	struct tail t = explain_one(&r, "a", &x);
	const struct chain_part *p = &x.parts.v[explanation_root(&x)->part];
	assert_string_equal(function(&r, p->function), "parse");
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* Three hold the lock in turn: what the longest of them did. */
static void the_longest_of_several_holders_has_a_function(void **state)
{
	static const char wait[] = "w;use;c:lll_lock_wait";
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "a", 101, 0), b = thread(&r, "b", 102, TL_NOCPU),
		 c = thread(&r, "c", 103, TL_NOCPU), d = thread(&r, "d", 104, 1);
	woken_by(off(&r, a, 1000, 9000, 9000, CAUSE_LOCK, wait), b);
	woken_by(off(&r, b, 900, 6500, 6500, CAUSE_LOCK, wait), c);
	woken_by(off(&r, c, 900, 3000, 3000, CAUSE_LOCK, wait), d);
	sample(&r, c, 4000, "c;use;parse");
	sample(&r, b, 7000, "b;use;print");
	struct tail t = explain_one(&r, "a", &x);
	assert_int_equal(x.chain.n, 1);
	assert_int_equal(x.parts.v[0].actors, 3);
	assert_int_equal(x.parts.v[0].actor, c);
	assert_string_equal(function(&r, x.parts.v[0].actor_function), "parse");
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* h is in the function that takes the lock, in more samples than are looked at; before these
 * it was not. */
static void who_had_it_before_a_search_was_given_up_is_not_known(void **state)
{
	(void)state;
	for (int many = 0; many < 2; many++) {
		struct rig r;
		struct explanation x = {0};
		rig_init(&r, 40000);
		whole_stacks(&r);
		uint32_t w = thread(&r, "w", 101, 0), h = thread(&r, "h", 102, 1);
		struct offcpu *o = off(&r, w, 1000, 21000, 21000, CAUSE_LOCK,
				       "_start;main;ask;c:pthread_mutex_lock");
		woken_by(o, h);
		o->waker_path = path(&r, "_start;main;ask;c:pthread_mutex_unlock");
		sample(&r, h, 2000, "_start;main;work");
		for (uint64_t us = 2500; us < 20500; us += many ? 2 : 1000)
			sample(&r, h, us, "_start;main;ask");
		struct tail t = explain_one(&r, "w", &x);
		assert_int_equal(explanation_root(&x)->thread, many ? w : h);
		explanation_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_writer_had_it_since_the_reader_began_to_wait),
		cmocka_unit_test(who_lets_it_go_has_it_no_longer),
		cmocka_unit_test(readers_have_it_while_in_the_function_that_takes_it),
		cmocka_unit_test(too_many_threads_leave_the_holder_unknown),
		cmocka_unit_test(a_waiting_thread_does_not_hold_an_interpreters_lock),
		cmocka_unit_test(the_longest_of_several_holders_has_a_function),
		cmocka_unit_test(who_had_it_before_a_search_was_given_up_is_not_known),
		cmocka_unit_test(lines_of_a_function_are_one_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
