/*
 * sched: hand-made event streams, and the interval table they must give, row by row
 * (schedrig.h).
 */
#include "tests/unit/libtime/schedrig.h"

#include "base/mem.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_query.h"

static struct tl_sums sums(const struct rig *r, int tid)
{
	struct tl_sums s = {0};
	for (uint32_t i = 0; i < r->tl.threads.n; i++)
		if (r->tl.threads.v[i].tid == tid)
			timeline_thread_sums(&r->tl, i, &s);
	return s;
}

/* It left CPU 1; records of CPU 0 are lost; then it is taken from CPU 0: it had run there. */
static void a_sleeper_taken_from_another_cpu_has_run_there(void **state)
{
	(void)state;
	for (int from = 0; from < 2; from++) {
		struct rig *r = rig_new(FULL);
		sw(r, 100, 0, 0, "R", 8);
		sw(r, 100, 1, 0, "R", 7);
		sw(r, 110, 1, 7, "D", 9);
		lost(r, 150, 0, 5);
		waking(r, 300, 1, 9, 7);
		migrate(r, 301, 1, 9, 7, (uint16_t)from, !from);
		wakeup(r, 302, 1, 9, 7);
		sw(r, 310, 1, 9, "X", 7);
		expect(r, from ? "7 110-310 D 190+10 <-9 task\n"
			       : "7 110-300 D 0+0 ?lost suspect\n"
				 "7 300-310  0+10 suspect <-9 task\n");
		done(r);
	}
}

/* Moved twice while it waited for a CPU, and no record of the first time: not to be trusted. */
static void a_ready_thread_found_elsewhere_is_suspect(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 100, 0, 0, "R", 8);
	sw(r, 100, 1, 0, "R", 7);
	sw(r, 110, 1, 7, "R", 9);
	migrate(r, 120, 0, 8, 7, 1, 0);
	migrate(r, 130, 0, 8, 7, 0, 1);
	sw(r, 140, 1, 9, "X", 7);
	sw(r, 150, 1, 7, "R", 0);
	migrate(r, 160, 0, 8, 7, 0, 1);
	sw(r, 170, 1, 0, "R", 7);
	expect(r, "7 110-140 R 0+30 preempted\n"
		  "7 150-170 R 0+20 preempted suspect\n");
	done(r);
}

/* One CPU was recorded: 7 was woken, ran and slept on the other, and is woken again. */
static void a_second_waking_proves_an_unseen_run(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL | TL_SOME_CPUS);
	sw(r, 100, 0, 0, "R", 7);
	sw(r, 110, 0, 7, "S", 9);
	wakeup(r, 130, 0, 9, 7); /* by an interrupt between CPUs: its waking is not here */
	waking(r, 500, 0, 9, 7);
	wakeup(r, 501, 0, 9, 7);
	sw(r, 510, 0, 9, "R", 7);
	sw(r, 520, 0, 7, "R", 9);
	waking(r, 530, 0, 9, 7); /* about to sleep when preempted: no proof */
	wakeup(r, 531, 0, 9, 7);
	sw(r, 540, 0, 9, "X", 7);
	expect(r, "7 110-130 S 20+0 suspect\n"
		  "7 130-500  0+0 ?hole suspect rest\n"
		  "7 500-510  0+10 suspect <-9 task\n"
		  "7 520-540 R 0+20 preempted\n"
		  "9 510-520 R 0+10 preempted\n");
	done(r);
}

/* 7 is woken into the queue of CPU 1, which was not recorded: by a wakeup that says so, then by
 * a waking whose wakeup came from there. */
static void a_wakeup_to_a_cpu_not_recorded_hides_what_follows(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL | TL_SOME_CPUS);
	sw(r, 100, 0, 0, "R", 7);
	sw(r, 110, 0, 7, "S", 9);
	waking(r, 130, 0, 9, 7);
	struct sched_event ev = event(SCHED_WAKEUP, 131, 0, 9);
	ev.target_tid = 7;
	ev.to_cpu = 1;
	put(r, &ev);
	sw(r, 500, 0, 9, "R", 7);
	sw(r, 510, 0, 7, "S", 9);
	waking(r, 530, 0, 9, 7);
	sw(r, 600, 0, 9, "R", 7);
	sw(r, 610, 0, 7, "S", 9);
	waking(r, 630, 0, 9, 7);
	ev.time_ns = 631000;
	ev.to_cpu = 0;
	put(r, &ev);
	sw(r, 640, 0, 9, "S", 7);
	sw(r, 650, 0, 7, "S", 0);
	waking(r, 660, 0, 0, 7);
	r->end = 700000;
	expect(r, "7 110-130 S 20+0 suspect <-9 task\n"
		  "7 130-500  0+0 ?hole suspect rest\n"
		  "7 510-530 S 20+0 suspect <-9 task\n"
		  "7 530-600  0+0 ?hole suspect rest\n"
		  "7 610-640 S 20+10 <-9 task\n"
		  "7 650-660 S 10+0 suspect <-0 task\n"
		  "7 660-700  0+0 ?hole open suspect rest\n"
		  "9 500-510 R 0+10 preempted\n"
		  "9 600-610 R 0+10 preempted\n"
		  "9 640-700 S 60+0 open\n");
	done(r);
}

static void off_times_are_exact_at_every_power_of_two(void **state)
{
	(void)state;
	static const int off[] = {0, 1, 2, 3, 4, 7, 8, 1023, 1024};
	struct rig *r = rig_new(FULL);
	double t = 100;
	sw(r, t, 0, 0, "R", 7);
	for (size_t i = 0; i < 9; i++) {
		sw(r, t += 10, 0, 7, "S", 0);
		waking(r, t + off[i] / 2, 1, 0, 7);
		wakeup(r, t + off[i] / 2, 1, 0, 7);
		sw(r, t += off[i], 0, 0, "R", 7);
	}
	expect(r, "7 110-110 S 0+0 <-0 task\n"
		  "7 120-121 S 0+1 <-0 task\n"
		  "7 131-133 S 1+1 <-0 task\n"
		  "7 143-146 S 1+2 <-0 task\n"
		  "7 156-160 S 2+2 <-0 task\n"
		  "7 170-177 S 3+4 <-0 task\n"
		  "7 187-195 S 4+4 <-0 task\n"
		  "7 205-1228 S 511+512 <-0 task\n"
		  "7 1238-2262 S 512+512 <-0 task\n");
	struct tl_sums s = sums(r, 7);
	assert_int_equal(s.run, 90000);
	assert_int_equal(s.blocked + s.runnable, 2072000);
	done(r);
}

static void running_states_are_preemptions(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 10, 0, 1, "R", 2);
	sw(r, 25, 0, 2, "R+", 1);
	waking(r, 30, 1, 0, 2); /* of a thread that never slept: means nothing */
	wakeup(r, 30, 1, 0, 2);
	sw(r, 40, 0, 1, "S", 2);
	sw(r, 50, 0, 2, "S", 0);
	expect(r, "1 10-25 R 0+15 preempted\n"
		  "1 40-50 S 10+0 open\n"
		  "2 25-40 R+ 0+15 preempted\n"
		  "2 50-50 S 0+0 open\n");
	done(r);
}

static void an_exiting_thread_ends_without_an_interval(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	struct sched_event ev = event(SCHED_EXIT, 20, 0, 5);
	sw(r, 0, 0, 0, "R", 5);
	ev.target_tid = ev.target_pid = 5;
	put(r, &ev);
	sw(r, 30, 0, 5, "X", 6);
	sw(r, 50, 0, 6, "S", 0);
	sw(r, 60, 0, 0, "R", 5); /* the tid again: another thread */
	sw(r, 70, 0, 5, "S", 0);
	sw(r, 80, 0, 0, "R", 6);
	expect(r, "6 50-80 S 0+0 ?missing wakeup\n"
		  "5 70-80 S 10+0 open\n");
	assert_int_equal(r->tl.threads.n, 3);
	assert_int_equal(r->tl.threads.v[0].last_ns, 30000);
	assert_true(r->tl.threads.v[0].flags & THREAD_EXITED);
	assert_int_equal(r->tl.threads.v[2].first_ns, 60000);
	done(r);
}

static void what_is_open_at_the_end_is_clipped_and_flagged(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 10, 0, 1, "D", 0);
	waking(r, 40, 1, 0, 1);
	sw(r, 100, 1, 0, "R", 2);
	expect(r, "1 10-100 D 30+60 open <-0 task\n");
	assert_int_equal(sums(r, 1).open, 1);
	done(r);
}

static void a_lost_range_makes_what_it_touches_suspect(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 0, 1, 0, "R", 2);
	sw(r, 10, 0, 1, "S", 0); /* last record of CPU 0 before the loss */
	sw(r, 12, 1, 2, "S", 0);
	waking(r, 14, 1, 0, 2);
	wakeup(r, 14, 1, 0, 2);
	sw(r, 15, 1, 0, "R", 2); /* the other ring lost nothing: not touched */
	lost(r, 50, 0, 13);
	sw(r, 60, 0, 0, "R", 1); /* whose wakeup was lost */
	sw(r, 70, 0, 1, "S", 0); /* after the loss: not touched */
	waking(r, 80, 1, 2, 1);
	sw(r, 85, 0, 0, "R", 1);
	expect(r, "1 10-60 S 0+0 ?lost suspect\n"
		  "1 70-85 S 10+5 <-2 task\n"
		  "2 12-15 S 2+1 <-0 task\n");
	assert_int_equal(r->tl.losses.n, 1);
	assert_int_equal(r->tl.losses.v[0].from_ns, 10000);
	assert_int_equal(r->tl.losses.v[0].to_ns, 50000);
	assert_int_equal(r->tl.losses.v[0].count, 13);
	done(r);
}

static void a_break_of_the_chain_is_a_hole_with_bounds(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 10, 0, 1, "S", 9); /* 9: a thread whose records never come */
	waking(r, 12, 1, 0, 1);
	wakeup(r, 12, 1, 0, 1);
	waking(r, 30, 0, 9, 3);                /* still 9 */
	wake(r, SCHED_OTHER, 40, 0, 1, -1, 0); /* now 1, though no switch said so */
	sw(r, 50, 0, 1, "S", 0);
	waking(r, 60, 1, 0, 9);
	sw(r, 70, 0, 0, "R", 9);
	expect(r, "1 10-30 S 2+18 suspect <-0 task\n"
		  "1 30-40  0+0 ?hole suspect rest\n"
		  "1 50-70 S 20+0 open\n"
		  "9 30-60  0+0 ?hole suspect\n"
		  "9 60-70  0+10 suspect <-0 task\n"
		  "3 30-70  0+40 open <-9 task\n");
	assert_int_equal(r->tl.losses.n, 1);
	assert_int_equal(r->tl.losses.v[0].kind, LOSS_HOLE);
	assert_int_equal(r->tl.losses.v[0].from_ns, 30000);
	assert_int_equal(r->tl.losses.v[0].to_ns, 40000);
	assert_int_equal(r->tl.losses.v[0].cpu, 0);
	done(r);
}

static void a_switch_recorded_twice_is_one(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 10, 0, 0, "R", 1);
	sw(r, 20, 0, 1, "S", 2);
	sw(r, 20, 0, 1, "S", 2);
	waking(r, 30, 0, 2, 1);
	wakeup(r, 31, 0, 2, 1);
	sw(r, 40, 0, 2, "S", 1);
	sw(r, 40, 0, 2, "S", 1);
	sw(r, 50, 0, 1, "S", 0);
	expect(r, "1 20-40 S 10+10 <-2 task\n"
		  "1 50-50 S 0+0 open\n"
		  "2 40-50 S 10+0 open\n");
	assert_int_equal(r->tl.losses.n, 0);
	done(r);
}

static void a_hole_in_a_sleep_keeps_what_is_known_of_it(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 10, 0, 1, "S", 2);
	waking(r, 30, 0, 2, 4); /* the last record of the CPU before 1 leaves it again */
	sw(r, 50, 0, 1, "S", 0);
	expect(r, "1 10-30 S 0+0 ?missing wakeup suspect\n"
		  "1 30-50  0+0 ?hole suspect rest\n"
		  "1 50-50 S 0+0 open\n"
		  "2 30-50  0+0 ?hole open suspect\n"
		  "4 30-50  0+20 open <-2 task\n");
	done(r);
}

static void found_on_another_cpu_means_a_switch_was_missed(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 0, 1, 0, "R", 2);
	waking(r, 20, 0, 1, 3);
	sw(r, 40, 1, 2, "S", 1); /* 1 was on CPU 0 */
	sw(r, 60, 0, 5, "S", 0); /* and CPU 0 says so only now */
	expect(r, "1 20-40  0+0 ?hole suspect\n"
		  "2 40-60 S 20+0 open\n"
		  "3 20-60  0+40 open <-1 task\n"
		  "5 60-60 S 0+0 open\n");
	assert_int_equal(r->tl.losses.n, 1);
	done(r);
}

static void a_wakeup_while_running_is_ignored(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	waking(r, 5, 1, 0, 1);
	wakeup(r, 6, 1, 0, 1);
	sw(r, 10, 0, 1, "S", 0);
	waking(r, 20, 1, 0, 1);
	wakeup(r, 21, 1, 0, 1);
	sw(r, 25, 0, 0, "R", 1);
	expect(r, "1 10-25 S 10+5 <-0 task\n");
	done(r);
}

static void a_waking_without_wakeup_while_running_is_ignored(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	waking(r, 5, 1, 0, 1);
	sw(r, 10, 0, 1, "S", 0);
	sw(r, 25, 0, 0, "R", 1);
	expect(r, "1 10-25 S 0+0 ?missing wakeup\n");
	done(r);
}

static void a_waking_that_races_with_the_out_leaves_nothing_blocked(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 0, 1, 0, "R", 2);
	waking(r, 9.5, 1, 2, 1);
	sw(r, 10, 0, 1, "S", 0);
	wakeup(r, 11, 1, 2, 1);
	sw(r, 15, 0, 0, "R", 1);
	expect(r, "1 10-15 S 0+5 <-2 task\n");
	done(r);
}

static void of_two_wakeups_in_one_sleep_the_first_counts(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 0, 1, 0, "R", 2);
	sw(r, 10, 0, 1, "S", 0);
	waking(r, 20, 1, 2, 1);
	wakeup(r, 22, 1, 2, 1);
	waking(r, 30, 1, 2, 1);
	wakeup(r, 32, 1, 2, 1);
	sw(r, 40, 0, 0, "R", 1);
	expect(r, "1 10-40 S 10+20 <-2 task\n");
	done(r);
}

static void of_two_wakings_before_the_wakeup_the_last_counts(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 10, 0, 1, "S", 0);
	waking(r, 20, 1, 0, 1);
	waking(r, 30, 1, 0, 1);
	wakeup(r, 32, 1, 0, 1);
	sw(r, 40, 0, 0, "R", 1);
	expect(r, "1 10-40 S 20+10 <-0 task\n");
	done(r);
}

static void a_new_thread_waits_for_its_first_cpu(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	struct sched_event ev = event(SCHED_FORK, 5, 0, 1);
	ev.target_tid = 8;
	ev.target_pid = 1;
	ev.target_comm = "child";
	put(r, &ev);
	put(r, &ev); /* the record and the tracepoint */
	wake(r, SCHED_WAKEUP_NEW, 6, 0, 1, 8, WAKER_TASK);
	sw(r, 20, 1, 0, "R", 8);
	expect(r, "8 6-20  0+14 <-1 task\n");
	assert_int_equal(r->tl.offcpu.v[0].cause, CAUSE_RUNQUEUE);
	assert_int_equal(r->tl.threads.n, 2);
	assert_true(r->tl.threads.v[1].flags & THREAD_BORN);
	assert_int_equal(r->tl.threads.v[1].pid, 1);
	assert_string_equal(strtab_get(&r->stacks.strings, r->tl.threads.v[1].comm), "child");
	done(r);
}

static void a_wakeup_tells_whose_queue(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 1, 1, 0, "R", 2);
	sw(r, 10, 0, 1, "S", 3);
	waking(r, 20, 1, 2, 1);
	struct sched_event ev = event(SCHED_WAKEUP, 21, 1, 2);
	ev.target_tid = 1;
	ev.context = WAKER_TASK;
	ev.to_cpu = 0;
	put(r, &ev);
	sw(r, 30, 1, 2, "S", 1); /* pulled */
	expect(r, "1 10-30 S 10+10 <-2 task\n2 30-30 S 0+0 open\n");
	assert_int_equal(r->tl.offcpu.v[0].cpu_queue, 0);
	assert_int_equal(r->tl.offcpu.v[0].cpu_in, 1);
	done(r);
}

static void a_tid_used_again_is_another_thread(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	for (int i = 0; i < 3; i++) {
		double t = i * 100;
		wake(r, SCHED_WAKEUP_NEW, t + 1, 0, 0, 8, WAKER_IDLE);
		sw(r, t + 2, 0, 0, "R", 8);
		sw(r, t + 3, 0, 8, i == 1 ? "S" : "X", 0); /* one end was not recorded */
	}
	expect(r, "8 1-2  0+1 <-0 idle\n8 101-102  0+1 <-0 idle\n8 201-202  0+1 <-0 idle\n");
	assert_int_equal(r->tl.threads.n, 3);
	done(r);
}

static void waker_contexts_without_a_waker_name_nobody(void **state)
{
	(void)state;
	static const uint8_t context[] = {WAKER_SOFTIRQ_INLINE, WAKER_SOFTIRQ, WAKER_HARDIRQ,
					  WAKER_IDLE};
	struct rig *r = rig_new(FULL);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 0, 1, 0, "R", 2);
	for (int i = 0; i < 4; i++) {
		double t = 10 + i * 10;
		sw(r, t, 0, 1, "S", 0);
		wake(r, SCHED_WAKING, t + 3, 1, 2, 1, context[i]);
		wakeup(r, t + 4, 1, 2, 1);
		sw(r, t + 5, 0, 0, "R", 1);
	}
	expect(r, "1 10-15 S 3+2 <-2 softirq-inline\n"
		  "1 20-25 S 3+2 <-0 softirq\n"
		  "1 30-35 S 3+2 <-0 hardirq\n"
		  "1 40-45 S 3+2 <-0 idle\n");
	done(r);
}

static void without_wakeups_the_racing_waking_is_still_found(void **state)
{
	(void)state;
	struct rig *r = rig_new(TL_HAS_SWITCH | TL_HAS_WAKING);
	sw(r, 0, 0, 0, "R", 1);
	waking(r, 9.5, 1, 0, 1);
	sw(r, 10, 0, 1, "S", 0);
	sw(r, 15, 0, 0, "R", 1);
	expect(r, "1 10-15 S 0+5 <-0 task\n");
	done(r);
}

static void without_wakings_the_wakeup_splits_the_sleep(void **state)
{
	(void)state;
	struct rig *r = rig_new(TL_HAS_SWITCH | TL_HAS_WAKEUP);
	sw(r, 0, 0, 0, "R", 1);
	sw(r, 10, 0, 1, "S", 2);
	wakeup(r, 13, 0, 2, 1);
	sw(r, 15, 0, 2, "S", 1);
	expect(r, "1 10-15 S 3+2 <-2 task\n2 15-15 S 0+0 open\n");
	done(r);
}

static void a_wakeup_that_was_seen_first_ends_one_sleep_only(void **state)
{
	(void)state;
	struct rig *r = rig_new(TL_HAS_SWITCH | TL_HAS_WAKEUP);
	wakeup(r, 10, 1, 9, 1);
	sw(r, 30, 0, 1, "S", 7); /* its switch-in lies before the first record of the CPU */
	wakeup(r, 40, 0, 7, 1);
	sw(r, 60, 0, 7, "S", 1);
	expect(r, "1 10-30  0+0 ?open edge open suspect\n"
		  "1 30-60 S 10+20 <-7 task\n"
		  "7 60-60 S 0+0 open\n");
	done(r);
}

static void switch_records_alone_give_intervals(void **state)
{
	(void)state;
	struct rig *r = rig_new(TL_HAS_RECORDS);
	record(r, SCHED_IN, 0, 0, 1, 0);
	record(r, SCHED_OUT, 10, 0, 1, 0);
	record(r, SCHED_IN, 10, 0, 2, 0);
	record(r, SCHED_OUT, 20, 0, 2, 1);
	record(r, SCHED_IN, 20, 0, 1, 0);
	record(r, SCHED_OUT, 30, 0, 1, 0);
	record(r, SCHED_IN, 30, 0, 2, 0);
	expect(r, "1 10-20  0+0 ?missing wakeup\n1 30-30  0+0 open\n2 20-30  0+10 preempted\n");
	assert_int_equal(r->tl.losses.n, 0);
	done(r);
}

static void switch_records_beside_tracepoints_count_nothing_twice(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL | TL_HAS_RECORDS);
	sw(r, 0, 0, 0, "R", 1);
	record(r, SCHED_IN, 0.2, 0, 1, 0);
	sw(r, 10, 0, 1, "S", 2);
	record(r, SCHED_OUT, 10.1, 0, 1, 0);
	record(r, SCHED_IN, 10.2, 0, 2, 0);
	waking(r, 12, 0, 2, 1);
	sw(r, 20, 0, 2, "X", 1);
	record(r, SCHED_OUT, 20.1, 0, 2, 0); /* of a thread that is dead by now */
	record(r, SCHED_IN, 20.2, 0, 1, 0);
	expect(r, "1 10-20 S 2+8 <-2 task\n");
	assert_int_equal(r->tl.threads.n, 2);
	done(r);
}

static void a_per_task_recording_takes_its_ins_from_switch_records(void **state)
{
	(void)state;
	struct rig *r = rig_new(TL_HAS_SWITCH | TL_HAS_RECORDS | TL_PER_TASK);
	record(r, SCHED_IN, 0, 0, 1, 0);
	sw(r, 10, 0, 1, "S", 77); /* 77 is not recorded */
	record(r, SCHED_OUT, 10.1, 0, 1, 0);
	record(r, SCHED_IN, 25, 1, 1, 0);
	sw(r, 30, 1, 1, "R", 0);
	record(r, SCHED_OUT, 30.1, 1, 1, 1);
	record(r, SCHED_IN, 31, 1, 1, 0);
	struct err e = {0};
	expect(r, "1 10-25 S 0+0 ?missing wakeup\n1 30-31 R 0+1 preempted\n");
	assert_int_equal(r->tl.losses.n, 0);
	assert_int_equal(r->tl.threads.n, 1);
	assert_int_equal(timeline_answerable(&r->tl, 1, &e), 0);
	done(r);
}

static void per_task_records_need_no_cpu(void **state)
{
	(void)state;
	struct rig *r = rig_new(TL_HAS_RECORDS | TL_PER_TASK);
	record(r, SCHED_IN, 0, TL_NOCPU, 1, 0);
	record(r, SCHED_IN, 5, TL_NOCPU, 2, 0);
	record(r, SCHED_OUT, 10, TL_NOCPU, 1, 0);
	record(r, SCHED_OUT, 12, TL_NOCPU, 2, 1);
	record(r, SCHED_IN, 20, TL_NOCPU, 1, 0);
	record(r, SCHED_IN, 25, TL_NOCPU, 2, 0);
	expect(r, "1 10-20  0+0 ?missing wakeup\n2 12-25  0+13 preempted\n");
	assert_int_equal(r->tl.offcpu.v[0].cpu_out, TL_NOCPU);
	assert_int_equal(sums(r, 2).run, 7000);
	done(r);
}

static void a_per_task_recording_without_them_is_refused(void **state)
{
	(void)state;
	struct rig *r = rig_new(TL_HAS_SWITCH | TL_PER_TASK);
	sw(r, 10, 0, 1, "S", 77);
	sw(r, 30, 0, 1, "S", 77);
	struct err e = {0};
	expect(r, "1 10-30 S 0+0 ?hole suspect\n1 30-30 S 0+0 open\n");
	assert_int_equal(timeline_answerable(&r->tl, 1, &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "record with: perfkit record"));
	done(r);
}

static void the_first_record_of_a_cpu_shows_who_ran(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	waking(r, 5, 0, 1, 2);
	sw(r, 10, 0, 1, "S", 2);
	sw(r, 20, 1, 4, "S", 0);
	sw(r, 30, 1, 0, "R", 1);
	expect(r, "1 10-30 S 0+0 ?missing wakeup\n"
		  "2 5-10  0+5 open <-1 task\n"
		  "4 20-30 S 10+0 open\n");
	assert_int_equal(r->tl.threads.v[0].first_ns, 5000);
	done(r);
}

static void running_intervals_tell_who_had_a_cpu(void **state)
{
	(void)state;
	struct rig *r = rig_new(FULL);
	sw(r, 0, 1, 0, "R", 1);
	sw(r, 10, 1, 1, "S", 2);
	sw(r, 30, 1, 2, "R", 1);
	expect(r, "1 10-30 S 0+0 ?missing wakeup\n2 30-30 R 0+0 open\n");
	struct tl_runs runs;
	assert_int_equal(timeline_runs(&r->tl, &runs, NULL), 0);
	assert_int_equal(runs.v.n, 2);
	assert_int_equal(runs.first.n, 3);
	assert_int_equal(runs.first.v[1], 0);
	assert_int_equal(runs.v.v[1].start_ns, 10000);
	assert_int_equal(runs.v.v[1].end_ns, 30000);
	assert_int_equal(runs.v.v[1].thread, 1);
	assert_int_equal(runs.v.v[1].prio, 120);
	tl_runs_release(&runs);
	done(r);
}

/* Every run of every thread, in the order that timeline_runs promises. */
static void check_runs(const struct timeline *tl)
{
	struct tl_runs runs;
	uint64_t sum = 0, want = 0;
	assert_int_equal(timeline_runs(tl, &runs, NULL), 0);
	for (uint32_t cpu = 0; cpu + 1 < runs.first.n; cpu++)
		for (uint32_t i = runs.first.v[cpu]; i < runs.first.v[cpu + 1]; i++) {
			const struct tl_run *x = &runs.v.v[i];
			assert_int_equal(x->cpu, cpu);
			assert_true(i == runs.first.v[cpu] || x[-1].start_ns <= x->start_ns);
			sum += x->end_ns - x->start_ns;
		}
	assert_int_equal(runs.first.v[runs.first.n - 1], runs.v.n);
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		uint64_t on = t->first_ns;
		uint16_t cpu = t->first_cpu;
		for (uint32_t k = 0; k < t->offcpu_n; k++) {
			const struct offcpu *o = &tl->offcpu.v[t->offcpu_first + k];
			want += cpu != TL_NOCPU ? o->start_ns - on : 0;
			on = o->end_ns;
			cpu = o->cpu_in;
		}
		want += cpu != TL_NOCPU ? t->last_ns - on : 0;
	}
	assert_int_equal(sum, want);
	tl_runs_release(&runs);
}

/* Wherever the search begins, it finds the same. */
static void check_search(const struct timeline *tl)
{
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		for (uint64_t at = t->first_ns; at <= t->last_ns; at += 13000) {
			uint32_t want = timeline_offcpu_after(tl, i, at);
			for (uint32_t near = 0; near <= tl->offcpu.n; near += 3)
				assert_int_equal(timeline_offcpu_after_near(tl, i, at, near),
						 want);
		}
	}
}

/* Whatever comes in, the books balance and nothing breaks. */
static void random_streams_conserve_time(void **state)
{
	(void)state;
	static const char *const states[] = {"S", "D", "R", "R+", "X", "T"};
	uint64_t x = 88172645463325252u;
	for (int round = 0; round < 300; round++) {
		uint32_t flags =
			FULL | (round % 3 ? 0 : TL_HAS_RECORDS) | (round % 7 ? 0 : TL_PER_TASK);
		struct rig *r = rig_new(round % 5 ? flags : TL_HAS_RECORDS | TL_HAS_WAKING);
		double t = 0;
		for (int i = 0; i < 400; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			int a = (int)(x >> 8) % 9 & 15, b = (int)(x >> 16) % 9 & 15;
			uint16_t cpu = x >> 32 & 3;
			t += (double)(x >> 40 & 7);
			switch (x >> 48 & 15) {
			case 0:
				lost(r, t, cpu, 3);
				break;
			case 1:
				wakeup(r, t, cpu, a, b);
				break;
			case 2:
			case 3:
				waking(r, t, cpu, a, b);
				break;
			case 4:
				wake(r, SCHED_WAKEUP_NEW, t, cpu, a, b, WAKER_TASK);
				break;
			case 5:
				wake(r, SCHED_EXIT, t, cpu, a, a, 0);
				break;
			case 6:
				record(r, SCHED_OUT, t, cpu, a, x >> 20 & 1);
				break;
			case 7:
				record(r, SCHED_IN, t, cpu, a, 0);
				break;
			case 8:
				wake(r, SCHED_FORK, t, cpu, a, b, 0);
				break;
			case 9:
				wake(r, SCHED_OTHER, t, cpu, a, -1, 0);
				break;
			default:
				sw(r, t, cpu, a, states[x % 6], b);
			}
		}
		struct err e = {0};
		assert_int_equal(sched_finish(r->s, r->end, &e), 0);
		if (timeline_check(&r->tl, &e))
			fail_msg("round %d: %s", round, e.msg);
		check_runs(&r->tl);
		if (round % 16 == 0)
			check_search(&r->tl);
		done(r);
	}
}

static void exhaustion_is_an_error_at_every_allocation(void **state)
{
	(void)state;
	for (long n = 0;; n++) {
		struct stacks stacks = {0};
		struct timeline tl;
		struct sched *s = NULL;
		struct sched_event ev = event(SCHED_SWITCH, 1, 0, 3);
		ev.prev_tid = 3;
		ev.next_tid = 4;
		ev.prev_comm = "three";
		mem_fail_after(n);
		int r = timeline_init(&tl, &stacks);
		if (!r)
			r = sched_new(&tl, &s, NULL);
		for (int i = 0; !r && i < 20; i++) {
			ev.time_ns += 10;
			ev.prev_tid = 3 + i % 3;
			ev.next_tid = 3 + (i + 1) % 3;
			r = sched_event(s, &ev, NULL);
		}
		if (!r)
			r = sched_finish(s, ev.time_ns, NULL);
		mem_fail_after(-1);
		sched_free(s);
		timeline_release(&tl);
		stacks_release(&stacks);
		if (!r)
			break;
		assert_int_equal(r, ERR_NOMEM);
		assert_true(n < 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleeper_taken_from_another_cpu_has_run_there),
		cmocka_unit_test(a_ready_thread_found_elsewhere_is_suspect),
		cmocka_unit_test(a_second_waking_proves_an_unseen_run),
		cmocka_unit_test(a_wakeup_to_a_cpu_not_recorded_hides_what_follows),
		cmocka_unit_test(off_times_are_exact_at_every_power_of_two),
		cmocka_unit_test(running_states_are_preemptions),
		cmocka_unit_test(an_exiting_thread_ends_without_an_interval),
		cmocka_unit_test(what_is_open_at_the_end_is_clipped_and_flagged),
		cmocka_unit_test(a_lost_range_makes_what_it_touches_suspect),
		cmocka_unit_test(a_break_of_the_chain_is_a_hole_with_bounds),
		cmocka_unit_test(a_switch_recorded_twice_is_one),
		cmocka_unit_test(a_hole_in_a_sleep_keeps_what_is_known_of_it),
		cmocka_unit_test(found_on_another_cpu_means_a_switch_was_missed),
		cmocka_unit_test(a_wakeup_while_running_is_ignored),
		cmocka_unit_test(a_waking_without_wakeup_while_running_is_ignored),
		cmocka_unit_test(a_waking_that_races_with_the_out_leaves_nothing_blocked),
		cmocka_unit_test(of_two_wakeups_in_one_sleep_the_first_counts),
		cmocka_unit_test(of_two_wakings_before_the_wakeup_the_last_counts),
		cmocka_unit_test(a_new_thread_waits_for_its_first_cpu),
		cmocka_unit_test(a_wakeup_tells_whose_queue),
		cmocka_unit_test(a_tid_used_again_is_another_thread),
		cmocka_unit_test(waker_contexts_without_a_waker_name_nobody),
		cmocka_unit_test(without_wakeups_the_racing_waking_is_still_found),
		cmocka_unit_test(without_wakings_the_wakeup_splits_the_sleep),
		cmocka_unit_test(a_wakeup_that_was_seen_first_ends_one_sleep_only),
		cmocka_unit_test(switch_records_alone_give_intervals),
		cmocka_unit_test(switch_records_beside_tracepoints_count_nothing_twice),
		cmocka_unit_test(a_per_task_recording_takes_its_ins_from_switch_records),
		cmocka_unit_test(per_task_records_need_no_cpu),
		cmocka_unit_test(a_per_task_recording_without_them_is_refused),
		cmocka_unit_test(the_first_record_of_a_cpu_shows_who_ran),
		cmocka_unit_test(running_intervals_tell_who_had_a_cpu),
		cmocka_unit_test(random_streams_conserve_time),
		cmocka_unit_test(exhaustion_is_an_error_at_every_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
