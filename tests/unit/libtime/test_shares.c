/*
 * shares of episodes: hand-made timelines whose chains end where most of the time went, and
 * whose shares add up to the episode.
 */
#include "tests/unit/libtime/tailrig.h"

/* The episode's shares, largest first, must add up to it. */
static uint64_t largest_share(const struct explanation *x)
{
	shares_vec v = {0};
	uint64_t sum = 0, largest;
	assert_int_equal(explanation_shares(x, &v), 0);
	for (size_t i = 0; i < v.n; i++)
		sum += v.v[i].ns;
	assert_int_equal(sum, x->chain.v[0].ns);
	largest = v.v[0].ns;
	vec_release(&v);
	return largest;
}

/* asker asks six threads in turn, 20 ms each, and stands behind one hog for 100 ms: what it
 * waited for answers is more, whoever gave them. */
static void answers_of_several_threads_are_one_part(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 400000);
	uint32_t a = thread(&r, "asker", 1, 0), hog = thread(&r, "hog", 2, TL_NOCPU);
	off(&r, hog, 0, 200000, 200000, CAUSE_SLEEP, "main;nap");
	off(&r, hog, 300000, 400000, 400000, CAUSE_SLEEP, "main;nap");
	off(&r, a, 0, 1000, 1000, CAUSE_POLL, "asker;loop;c:poll")->flags = OFF_IDLE;
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t t = thread(&r, "fan", 10 + (int)i, TL_NOCPU);
		woken_by(off(&r, a, 2000 + i * 21000, 22000 + i * 21000, 22000 + i * 21000,
			     CAUSE_COND, "asker;loop;ask;c:cond"),
			 t);
	}
	off(&r, a, 200000, 200000, 300000, CAUSE_PREEMPT, "asker;loop;work")->flags =
		OFF_RUNNING;
	off(&r, a, 310000, 400000, 400000, CAUSE_POLL, "asker;loop;c:poll")->flags = OFF_IDLE;
	finish(&r);
	struct tail_query q = top(1);
	q.episodes.kind = EPISODE_ACTIVATION;
	struct tail t = make(&r, q);
	assert_int_equal(explain(t.explainer, &t.episodes.v.v[t.rows.v[0].episode], &x, NULL),
			 0);
	const struct chain_part *p = link_part(&x, explanation_root(&x));
	assert_int_equal(x.chain.n, 1);
	assert_int_equal(p->ns, 120000000);
	assert_int_equal(p->cause, CAUSE_COND);
	assert_int_equal(p->actors, 6);
	assert_int_equal(p->actor_ns, 20000000);
	assert_string_equal(function(&r, p->function), "ask");
	assert_int_equal(largest_share(&x), 120000000);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* The holder of a lock sleeps 6.4 ms and waits 9 ms for a CPU, which a thief has for 5 of them:
 * the thief explains less than the sleep, so that it is not the root. */
static void a_thief_that_explains_less_than_the_holders_own_wait_is_not_the_root(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 50000);
	uint32_t front = thread(&r, "front", 1, TL_NOCPU), back = thread(&r, "back", 2, 0);
	off(&r, back, 10000, 16400, 16400, CAUSE_SLEEP, "back;slow_disk;c:nanosleep");
	off(&r, back, 16500, 16500, 25500, CAUSE_PREEMPT, "back;hold")->flags = OFF_RUNNING;
	for (uint32_t i = 0; i < 3; i++) {
		static const uint64_t on[] = {16500, 21500, 23500, 25500};
		uint32_t t = thread(&r, "thief", 10 + (int)i, TL_NOCPU);
		off(&r, t, 0, on[i], on[i], CAUSE_SLEEP, "main;nap");
		off(&r, t, on[i + 1], 50000, 50000, CAUSE_SLEEP, "main;nap");
	}
	woken_by(off(&r, front, 10000, 25600, 25600, CAUSE_LOCK, "front;ask;c:lll_lock"), back);
	struct tail t = explain_one(&r, "front", &x);
	assert_int_equal(explanation_root(&x)->thread, back);
	assert_int_equal(link_part(&x, explanation_root(&x))->ns, 9000000);
	assert_int_equal(link_part(&x, explanation_root(&x))->actor_ns, 5000000);
	assert_int_equal(largest_share(&x), 9000000);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* Who runs while a thread has no quota left has nothing to do with it. */
static void a_cpu_quota_is_the_root_of_what_it_throttled(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 90000);
	uint32_t v = thread(&r, "victim", 1, 0), other = thread(&r, "other", 2, TL_NOCPU);
	r.tl.threads.v[other].pid = 200;
	off(&r, v, 10000, 10000, 70000, CAUSE_THROTTLE, "main;work")->flags = OFF_RUNNING;
	off(&r, other, 0, 10000, 10000, CAUSE_SLEEP, "main;nap");
	off(&r, other, 70000, 90000, 90000, CAUSE_SLEEP, "main;nap");
	struct tail t = explain_one(&r, "victim", &x);
	assert_int_equal(x.chain.n, 1);
	assert_int_equal(x.throttled_ns, 60000000);
	assert_int_equal(link_part(&x, explanation_root(&x))->end, END_QUOTA);
	assert_int_equal(t.rows.v[0].root.cause, CAUSE_THROTTLE);
	assert_int_equal(t.rows.v[0].root.thread, v);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* Three waits of 5 ms that time out and one that the holder ends are one. */
static void a_lock_wait_that_was_retried_has_the_last_ones_holder(void **state)
{
	(void)state;
	for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
		struct rig r;
		struct explanation x = {0};
		rig_init(&r, 50000);
		uint32_t a = thread(&r, "a", 1, 0), h = thread(&r, "holder", 2, 1);
		for (uint64_t at = 1000; at < 16000; at += 5020)
			off(&r, a, at, at + 5000, at + 5000 + (at == 1000), CAUSE_LOCK,
			    elsewhere && at > 1000 ? "a;other;take_gil;c:futex"
						   : "a;take_gil;c:futex");
		woken_by(off(&r, a, 16060, 18000, 18000, CAUSE_LOCK,
			     elsewhere ? "a;other;take_gil;c:futex" : "a;take_gil;c:futex"),
			 h);
		struct tail t = explain_one(&r, "a", &x);
		assert_int_equal(t.episodes.v.n, 1 + elsewhere);
		assert_int_equal(x.chain.v[0].ns, elsewhere ? 11980000 : 17000000);
		assert_int_equal(explanation_root(&x)->thread, h);
		if (elsewhere) { /* the one before was another wait */
			assert_int_equal(explain(t.explainer, &t.episodes.v.v[0], &x, NULL), 0);
			assert_int_equal(x.chain.v[0].ns, 5001000);
			assert_int_equal(explanation_root(&x)->thread, a);
			assert_int_equal(link_part(&x, explanation_root(&x))->end,
					 END_TIMED_OUT);
		}
		explanation_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

/* What middle did is next to lost records: nothing is built on it. */
static void a_chain_ends_at_a_suspect_interval(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 50000);
	uint32_t f = thread(&r, "front", 1, 0), m = thread(&r, "middle", 2, 1);
	off(&r, m, 900, 9990, 9990, CAUSE_SLEEP, "middle;nap;c:nanosleep")->flags = OFF_SUSPECT;
	woken_by(off(&r, f, 1000, 10000, 10000, CAUSE_LOCK, "front;ask;c:lll_lock"), m);
	struct tail t = explain_one(&r, "front", &x);
	const struct chain_part *p = link_part(&x, explanation_root(&x));
	assert_int_equal(explanation_root(&x)->thread, m);
	assert_int_equal(p->state, PART_UNKNOWN);
	assert_int_equal(p->end, END_SUSPECT);
	assert_true(explanation_suspect(&x));
	assert_true(x.missing & MISSING_HOLE);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* Samples below an interrupt are no doing of the thread's, but softirqs that its own system
 * call runs are. */
static void samples_below_interrupts_are_a_part_of_their_own(void **state)
{
	static const struct {
		const char *stack;
		int interrupted;
	} rows[] = {
		{"holder;pack;[k]asm_sysvec_call_function_single;[k]__irq_exit_rcu;"
		 "[k]handle_softirqs;[k]net_rx_action;[k]tcp_v4_rcv",
		 1},
		{"holder;pack;c:write;[k]ksys_write;[k]asm_common_interrupt;"
		 "[k]common_interrupt;[k]handle_softirqs;[k]net_rx_action",
		 1},
		{"holder;pack;c:send;[k]tcp_sendmsg;[k]__local_bh_enable_ip;[k]do_softirq;"
		 "[k]handle_softirqs;[k]net_rx_action",
		 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rig r;
		struct explanation x = {0};
		rig_init(&r, 50000);
		uint32_t f = thread(&r, "front", 1, 1), h = thread(&r, "holder", 2, 0);
		woken_by(off(&r, f, 1000, 9000, 9000, CAUSE_LOCK, "front;ask;c:lll_lock"), h);
		for (uint64_t k = 0; k < 8; k++) {
			struct tl_sample s = {.time_ns = (1500 + k * 1000) * 1000, .thread = h};
			s.path = path(&r, k % 4 ? rows[i].stack : "holder;pack");
			assert_int_equal(bigvec_push(&r.tl.samples, s, NULL), 0);
		}
		struct tail t = explain_one(&r, "front", &x);
		const struct chain_part *p = link_part(&x, explanation_root(&x));
		assert_int_equal(explanation_root(&x)->thread, h);
		assert_int_equal(p->ns, rows[i].interrupted ? 6000000 : 8000000);
		assert_int_equal(p->end, rows[i].interrupted ? END_IRQ : END_RAN);
		assert_string_equal(function(&r, p->function),
				    rows[i].interrupted ? "net_rx_action" : "pack");
		assert_int_equal(largest_share(&x), p->ns);
		explanation_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

/* A thread of the kernel that worked on what was waited for is the next link; one that only
 * took the device's answer, after a rest, explains no more than that. */
static void threads_of_the_kernel_are_actors_while_they_work(void **state)
{
	static const struct {
		const char *stack;
		int root;
	} rows[] = {
		{"[k]kthread;[k]kjournald2;[k]jbd2_journal_commit_transaction;[k]io_schedule",
		 1},
		{"[k]kthread;[k]worker_thread;[k]schedule;[k]__schedule", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rig r;
		struct explanation x = {0};
		rig_init(&r, 50000);
		uint32_t a = thread(&r, "a", 1, 0), k = thread(&r, "jbd2/vda1-8", 2, 1);
		r.tl.threads.v[k].flags |= THREAD_KERNEL;
		off(&r, k, 500, 9900, 9900, CAUSE_IO, rows[i].stack);
		woken_by(off(&r, a, 1000, 10000, 10000, CAUSE_IO, "a;save;c:fsync"), k);
		struct tail t = explain_one(&r, "a", &x);
		assert_int_equal(explanation_root(&x)->thread, rows[i].root ? k : a);
		assert_int_equal(link_part(&x, explanation_root(&x))->end, END_DEVICE);
		assert_int_equal(largest_share(&x), rows[i].root ? 8900000 : 9000000);
		explanation_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_of_several_threads_are_one_part),
		cmocka_unit_test(
			a_thief_that_explains_less_than_the_holders_own_wait_is_not_the_root),
		cmocka_unit_test(a_cpu_quota_is_the_root_of_what_it_throttled),
		cmocka_unit_test(a_lock_wait_that_was_retried_has_the_last_ones_holder),
		cmocka_unit_test(a_chain_ends_at_a_suspect_interval),
		cmocka_unit_test(samples_below_interrupts_are_a_part_of_their_own),
		cmocka_unit_test(threads_of_the_kernel_are_actors_while_they_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
