/*
 * tail: hand-made timelines; ranks, populations, decompositions and chains, number by number.
 */
#include "tests/unit/libtime/tailrig.h"

/* --- ranks ---------------------------------------------------------------------------- */

static void ranks_are_nearest_rank_in_integers(void **state)
{
	static const struct {
		uint64_t n;
		uint32_t pct;
		uint64_t rank;
	} rows[] = {
		{1, 50000, 1},
		{1, 99990, 1},
		{999, 50000, 500},
		{999, 99900, 999},
		{1000, 99900, 999},
		{1000, 99990, 1000},
		{1001, 99900, 1000},
		{1001, 50000, 501},
		{10000, 99900, 9990},
		{10000, 99990, 9999},
		{12000, 99900, 11988},
		{12000, 99990, 11999},
		{12000, 90000, 10800},
		{12000, 99950, 11994},
		{12000, 100000, 12000},
		{7, 1, 1},
		{1ull << 60, 100000, 1ull << 60},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(percentile_rank(rows[i].n, rows[i].pct), rows[i].rank);
}

/* n waits of 1, 2, ... n µs, shuffled. */
static void many_waits(struct rig *r, uint64_t n)
{
	uint64_t at = 10, step = 7919 % n ? 7919 : 1;
	rig_init(r, n * (n + 1) / 2 + n * 2 + 100);
	uint32_t t = thread(r, "w", 101, 0);
	for (uint64_t i = 0, k = 0; i < n; i++, k = (k + step) % n) {
		off(r, t, at, at + k + 1, at + k + 1, CAUSE_IO, "main;read");
		at += k + 2;
	}
	finish(r);
}

static void percentiles_and_selection_of_12000(void **state)
{
	struct rig r;
	(void)state;
	many_waits(&r, 12000);
	struct tail_query q = {.pick = {.kind = PICK_PERCENTILE, .millipercent = 99900}};
	struct tail t = make(&r, q);
	assert_int_equal(t.episodes.clean.n, 12000);
	assert_int_equal(episodes_percentile(&t.episodes, 50000, 0), 6000 * 1000);
	assert_int_equal(episodes_percentile(&t.episodes, 99900, 0), 11988 * 1000);
	assert_int_equal(episodes_percentile(&t.episodes, 99990, 0), 11999 * 1000);
	assert_int_equal(t.selection.threshold_ns, 11988 * 1000);
	assert_int_equal(t.selection.v.n, 13);
	for (size_t i = 0; i < t.selection.v.n; i++)
		assert_int_equal(episode_ns(&t.episodes.v.v[t.selection.v.v[i]]),
				 (12000 - i) * 1000);
	tail_release(&t);
	t = make(&r, top(5));
	assert_int_equal(t.rows.n, 5);
	assert_int_equal(t.selection.threshold_ns, 11996 * 1000);
	tail_release(&t);
	q.pick = (struct episode_pick){.kind = PICK_OVER, .ns = 11990500};
	t = make(&r, q);
	assert_int_equal(t.rows.n, 10);
	tail_release(&t);
	rig_release(&r);
}

/* --- populations ---------------------------------------------------------------------- */

static void idle_parts_are_not_waits_but_their_late_wakeups_are(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 10000);
	uint32_t w = thread(&r, "worker", 101, 0), k = thread(&r, "kworker", 7, 1);
	r.tl.threads.v[k].flags = THREAD_KERNEL;
	off(&r, w, 100, 1100, 1150, CAUSE_POLL, "main;loop;c:poll")->flags = OFF_IDLE;
	off(&r, w, 1200, 1300, 1310, CAUSE_IO, "main;loop;work;c:read");
	off(&r, w, 2000, 5000, 5000, CAUSE_POLL, "main;loop;c:poll")->flags = OFF_IDLE;
	off(&r, k, 10, 9000, 9000, CAUSE_UNKNOWN, "[k]worker_thread");
	finish(&r);
	struct tail t = make(&r, top(10));
	assert_int_equal(t.episodes.clean.n, 2);
	assert_int_equal(t.episodes.clean.v[0], 50 * 1000);
	assert_int_equal(t.episodes.clean.v[1], 110 * 1000);
	assert_int_equal(t.episodes.apart.by[APART_IDLE].count, 2);
	assert_int_equal(t.episodes.apart.by[APART_IDLE].ns, 4000 * 1000);
	assert_int_equal(t.episodes.apart.by[APART_IDLE].v.v[0].ns, 4000 * 1000);
	assert_int_equal(t.episodes.apart.system, 1);
	assert_int_equal(t.episodes.apart.system_ns, 8990 * 1000);
	/* of the idle wait only the late wakeup is left */
	assert_int_equal(t.rows.v[1].state, PART_RUNNABLE);
	assert_int_equal(t.rows.v[1].cause, CAUSE_RUNQUEUE);
	tail_release(&t);
	struct tail_query q = top(10);
	q.episodes.of.idle = q.episodes.of.system = 1;
	t = make(&r, q);
	assert_int_equal(t.episodes.clean.n, 4);
	assert_int_equal(t.episodes.apart.by[APART_IDLE].count, 0);
	assert_int_equal(t.episodes.clean.v[3], 8990 * 1000);
	tail_release(&t);
	rig_release(&r);
}

static void activations_begin_at_the_waking_out_of_idle(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 10000);
	uint32_t w = thread(&r, "worker", 101, 0);
	off(&r, w, 100, 1000, 1050, CAUSE_POLL, "main;loop;c:poll")->flags = OFF_IDLE;
	off(&r, w, 1100, 1300, 1310, CAUSE_IO, "main;loop;work;c:read");
	off(&r, w, 1400, 5000, 5000, CAUSE_POLL, "main;loop;c:poll")->flags = OFF_IDLE;
	finish(&r);
	struct tail_query q = top(10);
	q.episodes.kind = EPISODE_ACTIVATION;
	struct tail t = make(&r, q);
	assert_int_equal(t.episodes.v.n, 2);
	const struct episode *ep = &t.episodes.v.v[0];
	assert_int_equal(ep->start_ns, 1000 * 1000);
	assert_int_equal(ep->end_ns, 1400 * 1000);
	assert_int_equal(ep->flags, 0);
	assert_int_equal(explain(t.explainer, ep, &x, &e), 0);
	assert_sums(&x, ep);
	assert_int_equal(x.run_ns, 140 * 1000);
	assert_int_equal(x.blocked_by[CAUSE_IO], 200 * 1000);
	assert_int_equal(x.runnable_ns, 60 * 1000);
	/* the last stay is cut by the end */
	assert_int_equal(t.episodes.v.v[1].start_ns, 5000 * 1000);
	assert_int_equal(t.episodes.v.v[1].flags, OFF_OPEN);
	assert_int_equal(t.episodes.clean.n, 1);
	assert_int_equal(t.episodes.open, 1);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

static void open_and_suspect_ones_stand_apart(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 100000);
	uint32_t w = thread(&r, "w", 101, 0);
	for (int i = 0; i < 9; i++)
		off(&r, w, 100 + 20u * (unsigned)i, 110 + 20u * (unsigned)i,
		    110 + 20u * (unsigned)i, CAUSE_IO, "main;read");
	off(&r, w, 1000, 2000, 2000, CAUSE_IO, "main;read")->flags = OFF_SUSPECT;
	off(&r, w, 50000, 100000, 100000, CAUSE_IO, "main;read")->flags = OFF_OPEN;
	finish(&r);
	struct tail_query q = {.pick = {.kind = PICK_PERCENTILE, .millipercent = 99900}};
	struct tail t = make(&r, q);
	assert_int_equal(t.episodes.clean.n, 9);
	assert_int_equal(t.episodes.open, 1);
	assert_int_equal(t.episodes.suspect, 1);
	assert_int_equal(episodes_percentile(&t.episodes, 99900, 0), 10 * 1000);
	assert_int_equal(episodes_percentile(&t.episodes, 99900, 1), 50000 * 1000);
	assert_int_equal(episodes_percentile(&t.episodes, 90000, 1), 1000 * 1000);
	assert_int_equal(t.selection.dirty, 2);
	/* nine clean ones reach 10 µs too */
	assert_int_equal(t.selection.uncertain, 0);
	tail_release(&t);
	r.tl.offcpu.v[0].end_ns += 1000;
	r.tl.offcpu.v[0].blocked_ns += 1000;
	t = make(&r, q);
	assert_int_equal(t.selection.uncertain, 1);
	assert_int_equal(t.selection.v.n, 2); /* and the one that never ended */
	tail_release(&t);
	q.pick.dirty = 1;
	t = make(&r, q);
	assert_int_equal(t.selection.v.n, 3);
	tail_release(&t);
	/* the longest two are these */
	q.pick.kind = PICK_TOP;
	q.pick.top = 2;
	t = make(&r, q);
	assert_int_equal(t.selection.v.n, 2);
	assert_int_equal(t.selection.threshold_ns, 1000 * 1000);
	assert_int_equal(t.selection.dirty, 2);
	tail_release(&t);
	/* nothing else is there: a thread that hangs from one edge to the other */
	q.episodes.of.start_ns = 60000 * 1000;
	q.episodes.of.stop_ns = 70000 * 1000;
	t = make(&r, q);
	assert_int_equal(t.episodes.clean.n, 0);
	assert_int_equal(t.selection.v.n, 1);
	tail_release(&t);
	rig_release(&r);
}

static void time_filter_cuts_and_opens(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 10000);
	uint32_t w = thread(&r, "w", 101, 0);
	off(&r, w, 1000, 2000, 2000, CAUSE_IO, "main;read");
	off(&r, w, 3000, 3100, 3100, CAUSE_IO, "main;read");
	off(&r, w, 8000, 9000, 9000, CAUSE_IO, "main;read");
	finish(&r);
	struct tail_query q = top(10);
	q.episodes.of.start_ns = 1500 * 1000;
	q.episodes.of.stop_ns = 7000 * 1000;
	struct tail t = make(&r, q);
	assert_int_equal(t.episodes.clean.n, 1);
	assert_int_equal(t.episodes.dirty.n, 1);
	assert_int_equal(t.episodes.dirty.v[0], 500 * 1000);
	tail_release(&t);
	rig_release(&r);
}

/* --- chains --------------------------------------------------------------------------- */

static void chain_goes_through_two_locks_to_the_sleeper(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t front = thread(&r, "front", 101, 0), middle = thread(&r, "middle", 102, 1),
		 back = thread(&r, "back", 103, 1);
	/* back: fsync 400, sleep 6000, then wakes middle at 10000; middle wakes front 10100 */
	off(&r, back, 3500, 3600, 3600, CAUSE_SLEEP, "back;loop;c:nanosleep");
	off(&r, back, 3700, 4100, 4100, CAUSE_IO, "back;slow_disk;c:fdatasync");
	off(&r, back, 4100, 9990, 9995, CAUSE_SLEEP,
	    "back;slow_disk;uv_cond_timedwait;c:nanosleep");
	woken_by(off(&r, middle, 3800, 10000, 10020, CAUSE_LOCK, "middle;mid_work;c:lll_lock"),
		 back);
	woken_by(off(&r, front, 3900, 10100, 10110, CAUSE_LOCK, "front;request;c:lll_lock"),
		 middle);
	/* a louder bystander: sleeps all the time, woken by nobody of these */
	uint32_t loud = thread(&r, "loud", 104, 0);
	off(&r, loud, 10, 19000, 19000, CAUSE_SLEEP, "loud;nap_all_day;c:nanosleep");
	finish(&r);
	struct tail_query q = top(1);
	q.episodes.of.tids = (int32_t[]){101};
	q.episodes.of.ntids = 1;
	struct tail t = make(&r, q);
	assert_int_equal(t.rows.n, 1);
	const struct episode *ep = &t.episodes.v.v[t.rows.v[0].episode];
	assert_int_equal(explain(t.explainer, ep, &x, &e), 0);
	assert_sums(&x, ep);
	assert_int_equal(x.blocked_by[CAUSE_LOCK], 6200 * 1000);
	assert_int_equal(x.runnable_ns, 10 * 1000);
	assert_int_equal(x.chain.n, 3);
	assert_int_equal(x.chain.v[0].thread, front);
	assert_int_equal(x.chain.v[0].next_ns, 6200 * 1000);
	assert_int_equal(x.chain.v[1].thread, middle);
	assert_int_equal(x.chain.v[1].ns, 6200 * 1000);
	assert_int_equal(x.chain.v[1].cause, CAUSE_LOCK);
	/* middle was blocked before front was: only what explains front counts */
	assert_int_equal(x.chain.v[1].next_ns, 6100 * 1000);
	const struct chain_link *root = explanation_root(&x);
	assert_int_equal(root->thread, back);
	assert_int_equal(root->ns, 6100 * 1000);
	assert_int_equal(root->cause, CAUSE_SLEEP);
	assert_int_equal(link_part(&x, root)->ns, 5890 * 1000);
	assert_int_equal(link_part(&x, root)->end, END_TIMER);
	assert_int_equal(x.parts.v[root->part + 1].cause, CAUSE_IO);
	assert_int_equal(x.parts.v[root->part + 1].ns, 200 * 1000);
	/* the wrapper that sleeps tells less than its caller */
	assert_string_equal(function(&r, t.rows.v[0].root.function), "slow_disk");
	assert_string_equal(name(&r, t.rows.v[0].root.comm), "back");
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

static void preemption_names_the_hog_of_that_cpu(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t victim = thread(&r, "victim", 101, 0), hog = thread(&r, "hog", 102, 0),
		 other = thread(&r, "other", 103, 1);
	struct offcpu *o = off(&r, victim, 1000, 1000, 9000, CAUSE_PREEMPT, "victim;compute");
	o->flags = OFF_RUNNING;
	/* the hog sleeps, then has CPU 0 from 1000 to 8900 */
	o = off(&r, hog, 0, 1000, 1000, CAUSE_SLEEP, "hog;c:nanosleep");
	o->prio_in = 49;
	off(&r, hog, 8900, 19000, 19000, CAUSE_SLEEP, "hog;burn;c:nanosleep");
	off(&r, other, 19000, 19500, 19500, CAUSE_SLEEP, "other;c:nanosleep")->cpu_in = 1;
	finish(&r);
	struct tail t = make(&r, top(10));
	struct tail_row *row = NULL;
	for (size_t i = 0; i < t.rows.n; i++)
		if (t.episodes.v.v[t.rows.v[i].episode].thread == victim)
			row = &t.rows.v[i];
	assert_non_null(row);
	const struct episode *ep = &t.episodes.v.v[row->episode];
	assert_int_equal(explain(t.explainer, ep, &x, &e), 0);
	assert_sums(&x, ep);
	assert_int_equal(x.preempted_ns, 8000 * 1000);
	assert_int_equal(x.state, PART_PREEMPTED);
	assert_int_equal(x.cause, CAUSE_PREEMPT);
	assert_int_equal(x.corunners.n, 1);
	assert_int_equal(x.corunners.v[0].thread, hog);
	assert_int_equal(x.corunners.v[0].ns, 7900 * 1000);
	assert_int_equal(x.corunners.v[0].prio, 49);
	assert_int_equal(x.chain.n, 2);
	assert_int_equal(explanation_root(&x)->thread, hog);
	assert_int_equal(explanation_root(&x)->via, VIA_CPU);
	assert_int_equal(explanation_root(&x)->prio, 49);
	assert_int_equal(row->root.state, PART_RUNNING);
	/* no samples: the stack it left the CPU with */
	assert_string_equal(function(&r, row->root.function), "burn");
	assert_true(x.missing & MISSING_SAMPLES);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* Who had the CPU that it was pulled to in the end did not keep it waiting. */
static void a_woken_thread_waits_where_the_wakeup_put_it(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t victim = thread(&r, "victim", 101, 0), hog = thread(&r, "hog", 102, 0),
		 other = thread(&r, "other", 103, 1);
	struct offcpu *o = off(&r, victim, 500, 1000, 9000, CAUSE_POLL, "victim;c:poll");
	o->cpu_queue = 0;
	o->cpu_in = 1;
	off(&r, hog, 0, 600, 600, CAUSE_SLEEP, "hog;c:nanosleep");
	off(&r, hog, 19000, 19500, 19500, CAUSE_SLEEP, "hog;burn;c:nanosleep");
	off(&r, other, 8900, 19000, 19000, CAUSE_SLEEP, "other;c:nanosleep")->cpu_in = 1;
	finish(&r);
	struct tail t = make(&r, top(1));
	for (size_t i = 0; i < t.episodes.v.n; i++) {
		const struct episode *ep = &t.episodes.v.v[i];
		if (ep->thread == victim)
			assert_int_equal(explain(t.explainer, ep, &x, &e), 0);
	}
	assert_int_equal(x.runnable_ns, 8000 * 1000);
	assert_int_equal(x.corunners.n, 1);
	assert_int_equal(x.corunners.v[0].thread, hog);
	assert_int_equal(x.corunners.v[0].ns, 8000 * 1000);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

static void inline_softirq_has_a_waker_and_hardirq_a_bystander(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "asker", 101, 0), b = thread(&r, "answerer", 102, 1);
	struct offcpu *o = off(&r, a, 1000, 5000, 5000, CAUSE_NET, "asker;ask;c:recv");
	o->waker = b;
	o->waker_context = WAKER_SOFTIRQ_INLINE;
	/* the same, but a packet from elsewhere interrupted b */
	o = off(&r, a, 6000, 9000, 9000, CAUSE_NET, "asker;ask;c:recv");
	o->waker_context = WAKER_HARDIRQ;
	o->waker_path = path(&r, "answerer;innocent");
	finish(&r);
	struct tail t = make(&r, top(2));
	assert_int_equal(t.rows.v[0].root.thread, b);
	assert_int_equal(t.rows.v[0].root.state, PART_RUNNING);
	assert_int_equal(t.rows.v[1].root.thread, a);
	assert_int_equal(t.rows.v[1].root.end, END_NETWORK);
	assert_string_equal(function(&r, t.rows.v[1].root.function), "ask");
	tail_release(&t);
	rig_release(&r);
}

/* What ended a wait for the network: its timeout, or a packet that a thread of the kernel took.
 */
static void the_wakeup_tells_what_the_network_did(void **state)
{
	static const struct {
		const char *wakeup;
		uint8_t context, cause, end;
	} rows[] = {
		{"[k]__run_timers;[k]process_timeout", WAKER_SOFTIRQ, CAUSE_NET, END_TIMER},
		{"[k]__hrtimer_run_queues;[k]hrtimer_wakeup", WAKER_HARDIRQ, CAUSE_NET,
		 END_TIMER},
		{"[k]net_rx_action;[k]tcp_v4_rcv", WAKER_SOFTIRQ, CAUSE_NET, END_NETWORK},
		{"[k]kthread;[k]napi_threaded_poll;[k]tcp_v4_rcv", WAKER_TASK, CAUSE_NET,
		 END_NETWORK},
		{"[k]kthread;[k]napi_threaded_poll;[k]tcp_v4_rcv", WAKER_TASK, CAUSE_POLL,
		 END_NETWORK},
		{"[k]kthread;[k]irq_thread;[k]ep_poll_callback", WAKER_TASK, CAUSE_POLL,
		 END_NONE}, /* what the thread of some device did */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rig r;
		rig_init(&r, 20000);
		uint32_t a = thread(&r, "a", 101, 0), napi = thread(&r, "napi/eth0", 102, 1);
		r.tl.threads.v[napi].flags |= THREAD_KERNEL;
		struct offcpu *o = off(&r, a, 1000, 5000, 5000, rows[i].cause, "a;ask;c:recv");
		o->waker_path = path(&r, rows[i].wakeup);
		o->waker_context = rows[i].context;
		o->waker = rows[i].context == WAKER_TASK ? napi : TL_NONE;
		finish(&r);
		struct tail t = make(&r, top(1));
		assert_int_equal(t.rows.v[0].root.thread, rows[i].end ? a : napi);
		if (rows[i].end)
			assert_int_equal(t.rows.v[0].root.end, rows[i].end);
		tail_release(&t);
		rig_release(&r);
	}
}

static void lock_owner_of_the_probe_comes_before_the_waker(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "a", 101, 0), b = thread(&r, "b", 102, 1),
		 c = thread(&r, "c", 103, 1);
	woken_by(off(&r, a, 1000, 5000, 5000, CAUSE_LOCK, "a;work;c:lll_lock_wait"), b);
	off(&r, c, 900, 4900, 4900, CAUSE_IO, "c;holding;c:fsync");
	struct tl_mark m = {.time_ns = 990 * 1000,
			    .name = text(&r, "probe_libc:__lll_lock_wait"),
			    .text = text(&r, "(7f00) mutex=0x55 owner=103"),
			    .thread = a};
	assert_int_equal(vec_push(&r.tl.marks, m), 0);
	finish(&r);
	struct tail_query q = top(1);
	q.show.causes = 1u << CAUSE_LOCK;
	q.pick.top = 2;
	struct tail t = make(&r, q);
	assert_int_equal(t.rows.n, 1);
	assert_int_equal(t.rows.v[0].root.thread, c);
	assert_int_equal(t.rows.v[0].root.via, VIA_OWNER);
	assert_string_equal(function(&r, t.rows.v[0].root.function), "holding");
	assert_int_not_equal(t.rows.v[0].root.thread, b);
	tail_release(&t);
	rig_release(&r);
}

/* In a container the probe reads a tid that is another thread's outside. */
static void a_tid_of_a_container_owns_no_lock(void **state)
{
	(void)state;
	for (int kernel = 0; kernel < 2; kernel++) {
		struct rig r;
		rig_init(&r, 20000);
		uint32_t a = thread(&r, "a", 101, 0), b = thread(&r, "b", 102, 1),
			 other = thread(&r, "other", 15, 1);
		if (kernel)
			r.tl.threads.v[other].flags |= THREAD_KERNEL;
		else
			r.tl.threads.v[other].pid = 15;
		woken_by(off(&r, a, 1000, 5000, 5000, CAUSE_LOCK, "a;work;c:lll_lock_wait"), b);
		struct tl_mark m = {.time_ns = 990 * 1000,
				    .name = text(&r, "perfkit:lock_wait"),
				    .text = text(&r, "(7f00) mutex=0x55 owner=15"),
				    .thread = a};
		assert_int_equal(vec_push(&r.tl.marks, m), 0);
		finish(&r);
		struct tail t = make(&r, top(1));
		assert_int_equal(t.rows.v[0].root.thread, b);
		assert_int_equal(t.rows.v[0].root.via, VIA_WAKER);
		tail_release(&t);
		rig_release(&r);
	}
}

static void hit(struct rig *r, uint32_t t, uint64_t us, const char *fields)
{
	struct tl_mark m = {.time_ns = us * 1000,
			    .name = text(r, "perfkit:lock_wait"),
			    .text = text(r, fields),
			    .thread = t};
	assert_int_equal(vec_push(&r->tl.marks, m), 0);
}

/* The link of a thread behind the first, as the chain holds it: what it explains. */
static void assert_root(const struct explanation *x, uint32_t thread, uint64_t us)
{
	assert_int_equal(x->chain.n, 2);
	assert_int_equal(explanation_root(x)->thread, thread);
	assert_int_equal(explanation_root(x)->via, VIA_OWNER);
	assert_int_equal(explanation_root(x)->ns, us * 1000);
}

/* a waits from 1000 to 6000 for a lock that flush holds until it wakes b at 2500, to sleep for
 * long; b holds it until it wakes a. The probe read flush's tid when a and b began to wait. */
static void rig_hand_over(struct rig *r, uint32_t *flush, uint32_t *b, uint8_t cause_of_b,
			  const char *mark_of_b)
{
	rig_init(r, 20000);
	uint32_t a = thread(r, "a", 101, 0);
	*b = thread(r, "b", 102, TL_NOCPU);
	*flush = thread(r, "flush", 103, 1);
	woken_by(off(r, a, 1000, 6000, 6000, CAUSE_LOCK, "a;work;c:lll_lock_wait"), *b);
	woken_by(off(r, *b, 900, 2500, 2510, cause_of_b, "b;work;c:lll_lock_wait"), *flush);
	off(r, *flush, 800, 2400, 2400, CAUSE_IO, "flush;hold;c:fsync");
	off(r, *flush, 2600, 9000, 9000, CAUSE_SLEEP, "flush;nap;c:nanosleep");
	if (mark_of_b)
		hit(r, *b, 890, mark_of_b);
	hit(r, a, 990, "(7f00) mutex=0x55 word=2 owner=103");
}

static void an_owner_that_woke_another_waiter_has_let_go(void **state)
{
	static const struct {
		uint8_t cause;
		const char *mark;
		int handed;
	} rows[] = {
		{CAUSE_LOCK, "(7f00) mutex=0x55 word=2 owner=103", 1},
		{CAUSE_FUTEX, "(7f00) mutex=0x55 word=2 owner=103", 1},
		{CAUSE_LOCK, NULL, 1}, /* waits again: no hit */
		{CAUSE_LOCK, "(7f00) mutex=0x66 word=2 owner=103", 0},
		{CAUSE_FUTEX, NULL, 0}, /* may be a condition */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rig r;
		struct explanation x = {0};
		uint32_t flush, b;
		rig_hand_over(&r, &flush, &b, rows[i].cause, rows[i].mark);
		struct tail t = explain_one(&r, "a", &x);
		if (rows[i].handed) {
			assert_root(&x, b, 3500);
			assert_int_equal(x.parts.v[x.chain.v[1].part].state, PART_RUNNING);
		} else { /* it let go before it slept, since b ended the wait */
			assert_int_equal(explanation_root(&x)->thread, b);
			assert_int_equal(explanation_root(&x)->ns, 3400 * 1000);
		}
		explanation_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

/* flush wakes b, which finds the lock taken by hog and waits again; hog wakes b, and b wakes a: b, the
 * waiter, did not have it in the meantime. */
static void a_waiter_that_was_woken_in_vain_holds_nothing(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "a", 101, 0), b = thread(&r, "b", 102, TL_NOCPU),
		 flush = thread(&r, "flush", 103, 1), hog = thread(&r, "hog", 104, 1);
	woken_by(off(&r, a, 1000, 9000, 9000, CAUSE_LOCK, "a;work;c:lll_lock_wait"), b);
	woken_by(off(&r, b, 900, 2000, 2010, CAUSE_LOCK, "b;work;c:lll_lock_wait"), flush);
	woken_by(off(&r, b, 2020, 8000, 8010, CAUSE_LOCK, "b;work;c:lll_lock_wait"), hog);
	off(&r, hog, 2500, 7900, 7900, CAUSE_SLEEP, "hog;hold;c:nanosleep");
	struct tail t = explain_one(&r, "a", &x);
	assert_root(&x, hog, 6000);
	assert_int_equal(x.parts.v[0].actors, 3);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* c's probe reads another owner of the same lock; one of another lock says nothing. */
static void an_owner_read_later_ends_the_first_ones_hold(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct rig r;
		struct explanation x = {0};
		rig_init(&r, 20000);
		uint32_t a = thread(&r, "a", 101, 0), b = thread(&r, "b", 102, 1),
			 c = thread(&r, "c", 103, TL_NOCPU), d = thread(&r, "d", 104, 0);
		woken_by(off(&r, a, 1000, 6000, 6000, CAUSE_LOCK, "a;work;c:lll_lock_wait"), b);
		off(&r, d, 900, 2000, 2000, CAUSE_IO, "d;hold;c:fsync");
		off(&r, d, 2100, 5900, 5900, CAUSE_SLEEP, "d;nap;c:nanosleep");
		hit(&r, a, 990, "(7f00) mutex=0x55 owner=104");
		hit(&r, c, 2200,
		    same ? "(7f00) mutex=0x55 owner=102" : "(7f00) mutex=0x66 owner=102");
		struct tail t = explain_one(&r, "a", &x);
		assert_root(&x, same ? b : d, same ? 3900 : 4900); /* d slept at 2100 */
		explanation_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

static void cycles_end(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "a", 101, 0), b = thread(&r, "b", 102, 1);
	woken_by(off(&r, a, 1000, 5000, 5000, CAUSE_COND, "a;wait;c:cond"), b);
	woken_by(off(&r, b, 900, 4900, 4900, CAUSE_COND, "b;wait;c:cond"), a);
	finish(&r);
	struct tail t = make(&r, top(2));
	for (int i = 0; i < 2; i++) {
		const struct episode *ep = &t.episodes.v.v[t.rows.v[i].episode];
		assert_int_equal(explain(t.explainer, ep, &x, &e), 0);
		assert_sums(&x, ep);
		assert_int_equal(x.chain.n, 2);
		assert_int_equal(link_part(&x, explanation_root(&x))->end, END_CYCLE);
	}
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

static void missing_wakeups_stay_unknown(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "a", 101, 0);
	struct offcpu *o = off(&r, a, 1000, 1000, 5000, CAUSE_COND, "a;wait;c:cond");
	o->unknown = UNKNOWN_NO_WAKE;
	o->waker_context = WAKER_NONE;
	finish(&r);
	struct tail t = make(&r, top(1));
	assert_int_equal(t.episodes.unknown, 1);
	const struct episode *ep = &t.episodes.v.v[0];
	assert_int_equal(explain(t.explainer, ep, &x, &e), 0);
	assert_sums(&x, ep);
	assert_int_equal(x.unknown_ns, 4000 * 1000);
	assert_true(x.missing & MISSING_WAKEUP);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* A request of 5 ms that a begins and b ends, and who asks for it. */
static struct tail_query handed_span(struct rig *r, uint32_t a, uint32_t b, uint64_t handed_us)
{
	struct tl_span s = {.start_ns = 1000 * 1000,
			    .end_ns = 6000 * 1000,
			    .handed_ns = handed_us * 1000,
			    .name = text(r, "req"),
			    .key = 7,
			    .thread = a,
			    .end_thread = b,
			    .parent = TL_NONE};
	struct tail_query q = top(1);
	assert_int_equal(vec_push(&r->tl.spans, s), 0);
	finish(r);
	q.episodes.kind = EPISODE_SPAN;
	q.episodes.span = s.name;
	return q;
}

/* front waits for a lock of worker, then gives it the request, which is soon done. */
static void a_span_handed_over_tells_whose_doing_it_was(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "front", 101, 0), b = thread(&r, "worker", 102, 1);
	woken_by(off(&r, a, 1100, 5000, 5000, CAUSE_LOCK, "front;submit;c:lll_lock_wait"), b);
	struct offcpu *o = off(&r, b, 5100, 5500, 5500, CAUSE_COND, "worker;c:cond");
	o->flags = OFF_IDLE;
	woken_by(o, a);
	static const uint32_t cpu[] = {0, 1};
	struct tail_query q = handed_span(&r, a, b, 0);
	q.episodes.of.cpus = cpu;
	q.episodes.of.ncpus = 1;
	struct tail t = make(&r, q);
	assert_int_equal(explain(t.explainer, &t.episodes.v.v[0], &x, &e), 0);
	assert_int_equal(x.chain.n, 2);
	assert_int_equal(x.chain.v[0].thread, a);
	assert_int_equal(x.chain.v[1].thread, b);
	assert_int_equal(x.chain.v[1].ns, 3900 * 1000);
	explanation_release(&x);
	tail_release(&t);
	/* it began on CPU 0 */
	q.episodes.of.cpus = cpu + 1;
	t = make(&r, q);
	assert_int_equal(t.episodes.v.n, 0);
	tail_release(&t);
	rig_release(&r);
}

/* worker is busy when front puts the request into its queue: no wakeup shows when. */
static void a_span_handed_to_a_busy_thread_is_cut_where_it_was(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "front", 101, 0), b = thread(&r, "worker", 102, 1);
	off(&r, a, 1100, 4000, 4000, CAUSE_IO, "front;load;c:read");
	struct tail_query q = handed_span(&r, a, b, 4100);
	struct tail t = make(&r, q);
	assert_int_equal(explain(t.explainer, &t.episodes.v.v[0], &x, &e), 0);
	assert_int_equal(x.blocked_by[CAUSE_IO], 2900 * 1000);
	assert_int_equal(x.run_ns, 2100 * 1000);
	assert_int_equal(x.chain.v[0].thread, a);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* front ran for longer, in pieces each shorter than what worker then ran. */
static void a_span_handed_over_is_told_of_the_thread_that_ran_most(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "front", 101, 0), b = thread(&r, "worker", 102, 1);
	for (uint64_t at = 1500; at < 4000; at += 500)
		off(&r, a, at, at + 10, at + 10, CAUSE_IO, "main;front;parse;c:read");
	off(&r, b, 6100, 7000, 7000, CAUSE_IO, "main;worker;job;c:read");
	struct tail_query q = handed_span(&r, a, b, 3990);
	struct tail t = make(&r, q);
	assert_int_equal(explain(t.explainer, &t.episodes.v.v[0], &x, &e), 0);
	assert_int_equal(x.chain.v[0].thread, a);
	assert_string_equal(function(&r, x.parts.v[x.chain.v[0].part].function), "parse");
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

static void handed_over_spans_follow_the_wakeups(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	(void)state;
	rig_init(&r, 20000);
	uint32_t a = thread(&r, "front", 101, 0), b = thread(&r, "worker", 102, 1);
	off(&r, a, 1500, 1700, 1700, CAUSE_FAULT, "front;parse");
	struct offcpu *o = off(&r, b, 500, 2000, 2100, CAUSE_COND, "worker;c:cond");
	o->flags = OFF_IDLE;
	woken_by(o, a);
	off(&r, b, 3000, 5000, 5000, CAUSE_IO, "worker;job;c:read");
	struct tail_query q = handed_span(&r, a, b, 0);
	struct tail t = make(&r, q);
	const struct episode *ep = &t.episodes.v.v[0];
	assert_int_equal(explain(t.explainer, ep, &x, &e), 0);
	assert_sums(&x, ep);
	assert_int_equal(x.blocked_by[CAUSE_FAULT], 200 * 1000);
	assert_int_equal(x.blocked_by[CAUSE_IO], 2000 * 1000);
	assert_int_equal(x.blocked_by[CAUSE_COND], 0);
	assert_int_equal(x.runnable_ns, 100 * 1000);
	assert_int_equal(x.run_ns, 2700 * 1000);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* --- memory --------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
	struct rig r;
	struct tail t;
	struct err e = {0};
	(void)state;
	many_waits(&r, 50);
	struct tail_query q = top(50);
	int rc = ERR_NOMEM;
	for (long n = 0; n < 400 && rc; n++) {
		mem_fail_after(n);
		rc = tail_make(&r.tl, &q, &t, &e);
		mem_fail_after(-1);
		if (rc)
			assert_int_equal(rc, ERR_NOMEM);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(t.rows.n, 50);
	tail_release(&t);
	rig_release(&r);
}

/* The same for chains behind a probed lock, and for a queue. */
static void chains_report_a_lack_of_memory(void **state)
{
	(void)state;
	for (int queue = 0; queue < 2; queue++) {
		struct rig r;
		struct tail t;
		uint32_t flush, b;
		struct tail_query q = top(50);
		struct err e = {0};
		int rc = ERR_NOMEM;
		if (queue)
			rig_queue(&r, 150);
		else
			rig_hand_over(&r, &flush, &b, CAUSE_LOCK, "mutex=0x55 owner=103");
		finish(&r);
		for (long n = 0; n < 400 && rc; n++) {
			mem_fail_after(n);
			rc = tail_make(&r.tl, &q, &t, &e);
			mem_fail_after(-1);
			if (rc)
				assert_int_equal(rc, ERR_NOMEM);
		}
		assert_int_equal(rc, 0);
		tail_release(&t);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_nearest_rank_in_integers),
		cmocka_unit_test(percentiles_and_selection_of_12000),
		cmocka_unit_test(idle_parts_are_not_waits_but_their_late_wakeups_are),
		cmocka_unit_test(activations_begin_at_the_waking_out_of_idle),
		cmocka_unit_test(open_and_suspect_ones_stand_apart),
		cmocka_unit_test(time_filter_cuts_and_opens),
		cmocka_unit_test(chain_goes_through_two_locks_to_the_sleeper),
		cmocka_unit_test(preemption_names_the_hog_of_that_cpu),
		cmocka_unit_test(a_woken_thread_waits_where_the_wakeup_put_it),
		cmocka_unit_test(inline_softirq_has_a_waker_and_hardirq_a_bystander),
		cmocka_unit_test(the_wakeup_tells_what_the_network_did),
		cmocka_unit_test(lock_owner_of_the_probe_comes_before_the_waker),
		cmocka_unit_test(a_tid_of_a_container_owns_no_lock),
		cmocka_unit_test(an_owner_that_woke_another_waiter_has_let_go),
		cmocka_unit_test(a_waiter_that_was_woken_in_vain_holds_nothing),
		cmocka_unit_test(an_owner_read_later_ends_the_first_ones_hold),
		cmocka_unit_test(cycles_end),
		cmocka_unit_test(missing_wakeups_stay_unknown),
		cmocka_unit_test(handed_over_spans_follow_the_wakeups),
		cmocka_unit_test(a_span_handed_over_tells_whose_doing_it_was),
		cmocka_unit_test(a_span_handed_to_a_busy_thread_is_cut_where_it_was),
		cmocka_unit_test(a_span_handed_over_is_told_of_the_thread_that_ran_most),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(chains_report_a_lack_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
