/*
 * tail: hand-made timelines; who had the CPU that a thread waited for, what interrupts took.
 */
#include "tests/unit/libtime/tailrig.h"

#include "libtime/sched/part_sums.h"
#include "libtime/sched/timeline_query.h"

static void several_corunners_are_counted(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_queue(&r, 160);
	struct tail t = explain_one(&r, "victim", &x);
	assert_int_equal(x.chain.n, 2);
	assert_int_equal(x.chain.v[0].queued_ns, 100000);
	assert_int_equal(x.chain.v[0].n_ahead, 3);
	assert_int_equal(x.chain.v[1].ns, 60000);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

static void where_no_corunner_had_most_the_root_waits_for_a_cpu(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	uint32_t victim = rig_queue(&r, 150);
	struct tail t = explain_one(&r, "victim", &x);
	assert_int_equal(x.chain.n, 1);
	assert_int_equal(x.state, PART_PREEMPTED);
	assert_int_equal(x.cause, CAUSE_PREEMPT);
	assert_int_equal(t.rows.v[0].root.thread, victim);
	assert_int_equal(t.rows.v[0].root.state, PART_RUNNABLE);
	assert_int_equal(t.rows.v[0].root.cause, CAUSE_RUNQUEUE);
	assert_string_equal(function(&r, t.rows.v[0].root.function), "work");
	assert_int_equal(x.corunners.n, 3);
	assert_int_equal(x.ahead.n, 3);
	assert_int_equal(x.ahead.v[0].ns, 50000);
	assert_int_equal(x.ahead.v[1].ns, 30000);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* Woken onto a CPU that nobody had, where all switches were recorded: it was idle. */
static void an_idle_cpu_has_to_wake_up(void **state)
{
	static const struct {
		uint32_t flags;
		uint8_t of_wait, end;
	} cases[] = {{TL_HAS_SWITCH, 0, END_IDLE_EXIT},
		     {0, 0, END_IDLE_CPU},
		     {TL_HAS_SWITCH | TL_PER_TASK, 0, END_IDLE_CPU},
		     {TL_HAS_SWITCH | TL_SOME_CPUS, 0, END_IDLE_CPU},
		     {TL_HAS_SWITCH, OFF_RUNNING, END_IDLE_CPU}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		struct explanation x = {0};
		rig_init(&r, 5000);
		uint32_t front = thread(&r, "front", 1, 0);
		struct offcpu *o = off(&r, front, 1000, cases[i].of_wait ? 1000 : 1100, 1900,
				       CAUSE_IO, "front;read");
		o->flags |= cases[i].of_wait;
		struct tl_mark deep = {.time_ns = 1050 * 1000,
				       .name = text(&r, "power:cpu_idle"),
				       .text = text(&r, "state=2 cpu_id=0"),
				       .thread = TL_NONE};
		assert_int_equal(vec_push(&r.tl.marks, deep), 0);
		r.tl.flags = cases[i].flags;
		struct tail t = explain_one(&r, "front", &x);
		const struct chain_part *p = link_part(&x, explanation_root(&x));
		assert_int_equal(p->state, PART_RUNNABLE);
		assert_int_equal(p->end, cases[i].end);
		struct evidence *ev = explainer_evidence(t.explainer);
		assert_int_equal(evidence_idle_state(ev, 0, 1100 * 1000), 2);
		assert_int_equal(evidence_idle_state(ev, 0, 1040 * 1000), -1);
		assert_int_equal(evidence_idle_state(ev, 1, 1100 * 1000), -1);
		explanation_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

/* The holder of a lock loses 800 of its 1000 to softirqs, in which another interrupt comes. */
static void interrupts_that_were_recorded_have_their_time_and_name(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 5000);
	uint32_t front = thread(&r, "front", 1, TL_NOCPU), back = thread(&r, "back", 2, 0);
	struct tl_interrupt inner = {.start_ns = 1200 * 1000,
				     .end_ns = 1300 * 1000,
				     .vector = text(&r, "irq 25 virtio0"),
				     .thread = back};
	struct tl_interrupt outer = {.start_ns = 1100 * 1000,
				     .end_ns = 1900 * 1000,
				     .vector = text(&r, "softirq NET_RX"),
				     .thread = back};
	struct tl_interrupt other = {.start_ns = 1400 * 1000,
				     .end_ns = 1950 * 1000,
				     .vector = text(&r, "softirq TIMER"),
				     .thread = front};
	assert_int_equal(vec_push(&r.tl.interrupts, inner), 0);
	assert_int_equal(vec_push(&r.tl.interrupts, outer), 0);
	assert_int_equal(vec_push(&r.tl.interrupts, other), 0);
	woken_by(off(&r, front, 1000, 2000, 2000, CAUSE_LOCK, "front;work;c:lll_lock"), back);
	struct tail t = explain_one(&r, "front", &x);
	const struct chain_link *root = explanation_root(&x);
	const struct chain_part *p = link_part(&x, root);
	assert_int_equal(root->thread, back);
	assert_int_equal(p->state, PART_RUNNING);
	assert_int_equal(p->end, END_IRQ);
	assert_int_equal(p->ns, 800 * 1000);
	assert_int_equal(p->vector, outer.vector);
	assert_int_equal(p[1].ns, 200 * 1000);
	assert_int_equal(p[1].end, END_RAN);
	assert_int_equal(t.rows.v[0].root.vector, outer.vector);
	assert_int_equal(x.interrupted_ns, 0); /* front did not run */
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

/* A request runs 1000, of which a softirq takes 300 with an interrupt of 100 in it, and
 * another 50. */
static void interrupted_time_is_a_part_of_its_own(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct part_sums parts;
	struct tl_sums sums = {0};
	(void)state;
	rig_init(&r, 5000);
	uint32_t t = thread(&r, "t", 1, 0);
	struct tl_interrupt v[] = {
		{1100 * 1000, 1200 * 1000, text(&r, "irq 25 virtio0-input"), t, 0},
		{1050 * 1000, 1350 * 1000, text(&r, "softirq NET_RX"), t, 0},
		{1950 * 1000, 2050 * 1000, text(&r, "local_timer"), t, 0},
	};
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(vec_push(&r.tl.interrupts, v[i]), 0);
	off(&r, t, 2500, 3000, 3100, CAUSE_IO, "t;work;c:read");
	assert_int_equal(part_sums_init(&parts, &r.tl), 0);
	part_sums_add(&parts, t, 1000 * 1000, 2000 * 1000, &sums);
	assert_int_equal(sums.run, 1000 * 1000);
	assert_int_equal(sums.interrupted, 350 * 1000);
	part_sums_add(&parts, t, 2000 * 1000, 2700 * 1000, &sums);
	assert_int_equal(sums.interrupted, 400 * 1000);
	assert_int_equal(sums.run + sums.blocked, 1700 * 1000);
	part_sums_release(&parts);
	struct explainer *ex;
	struct episode ep = {.start_ns = 1000 * 1000,
			     .end_ns = 2700 * 1000,
			     .thread = t,
			     .end_thread = t,
			     .at = TL_NONE};
	assert_int_equal(explainer_new(&r.tl, &ex, NULL), 0);
	assert_int_equal(explain(ex, &ep, &x, NULL), 0);
	assert_int_equal(x.interrupted_ns, 400 * 1000);
	assert_int_equal(x.interrupt, v[1].vector);
	assert_int_equal(x.interrupts, 2);
	assert_int_equal(x.run_ns + x.blocked_ns, 1700 * 1000);
	explanation_release(&x);
	explainer_free(ex);
	rig_release(&r);
}

/* The holder of a lock sleeps 150 of 1000, and 700 of them stands behind seven threads: each
 * had the CPU for less than it slept, all of them for most of the time. */
static void waiting_for_a_cpu_is_one_part_whoever_had_it(void **state)
{
	struct rig r;
	struct explanation x = {0};
	(void)state;
	rig_init(&r, 5000);
	uint32_t front = thread(&r, "front", 1, TL_NOCPU), back = thread(&r, "back", 2, 0);
	off(&r, back, 1000, 1150, 1150, CAUSE_SLEEP, "back;hold;c:nanosleep");
	off(&r, back, 1200, 1200, 1500, CAUSE_PREEMPT, "back;hold")->flags = OFF_RUNNING;
	/* woken from a disk, and late again: the same queue by another name */
	off(&r, back, 1520, 1560, 1960, CAUSE_IO, "back;hold;c:fsync");
	static const uint64_t on[] = {1200, 1300, 1400, 1500, 1560, 1660, 1760, 1860, 1960};
	for (int i = 0; i < 8; i++) {
		if (on[i] == 1500)
			continue;
		uint32_t t = thread(&r, "busy", 10 + i, TL_NOCPU);
		off(&r, t, 0, on[i], on[i], CAUSE_SLEEP, "main;nap");
		off(&r, t, on[i + 1], 5000, 5000, CAUSE_SLEEP, "main;nap");
	}
	woken_by(off(&r, front, 1000, 2000, 2000, CAUSE_LOCK, "front;work;c:lll_lock"), back);
	struct tail t = explain_one(&r, "front", &x);
	const struct chain_link *root = explanation_root(&x);
	assert_int_equal(x.chain.n, 2);
	assert_int_equal(root->thread, back);
	assert_int_equal(root->runnable_ns, 700000);
	assert_int_equal(link_part(&x, root)->ns, 700000);
	assert_int_equal(link_part(&x, root)->state, PART_RUNNABLE);
	assert_int_equal(link_part(&x, root)->end, END_QUEUED);
	assert_int_equal(link_part(&x, root)->first_ns, 1200000);
	assert_string_equal(function(&r, t.rows.v[0].root.function), "hold");
	assert_int_equal(x.ahead.n, 7);
	assert_int_equal(x.parts.v[root->part + 1].ns, 150000);
	assert_int_equal(x.parts.v[root->part + 1].cause, CAUSE_SLEEP);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_corunners_are_counted),
		cmocka_unit_test(where_no_corunner_had_most_the_root_waits_for_a_cpu),
		cmocka_unit_test(an_idle_cpu_has_to_wake_up),
		cmocka_unit_test(interrupts_that_were_recorded_have_their_time_and_name),
		cmocka_unit_test(interrupted_time_is_a_part_of_its_own),
		cmocka_unit_test(waiting_for_a_cpu_is_one_part_whoever_had_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
