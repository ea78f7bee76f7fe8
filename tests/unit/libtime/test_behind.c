/* test_behind.c - the thread behind the work of a kernel thread that another one waits for. */
#include "tests/unit/libtime/tailrig.h"

#define JBD2 "[k]ret_from_fork;[k]kthread;[k]kjournald2"
#define WORKER "[k]ret_from_fork;[k]kthread;[k]worker_thread"
#define FSYNC "backup;c:fsync;[k]ext4_sync_file;[k]__jbd2_log_start_commit"

struct journal {
	struct rig r;
	uint32_t front, bulk, jbd2, worker;
	struct tail t;
	struct explanation x;
};

/* jbd2's idle wait until 2000, before which front began to wait for it until 9000. */
static struct offcpu *begin(struct journal *j, const char *idle)
{
	*j = (struct journal){0};
	rig_init(&j->r, 20000);
	j->front = thread(&j->r, "front", 101, 0);
	j->bulk = thread(&j->r, "bulk", 102, 1);
	j->jbd2 = thread(&j->r, "jbd2/sda1-8", 50, TL_NOCPU);
	j->worker = thread(&j->r, "kworker/1:1", 51, TL_NOCPU);
	j->r.tl.threads.v[j->jbd2].flags = j->r.tl.threads.v[j->worker].flags = THREAD_KERNEL;
	woken_by(off(&j->r, j->front, 2500, 9000, 9000, CAUSE_IO,
		     "front;c:fsync;[k]jbd2_log_wait_commit"),
		 j->jbd2);
	return off(&j->r, j->jbd2, 100, 2000, 2010, CAUSE_UNKNOWN, idle);
}

/* How jbd2's work came about. */
static struct behind end(struct journal *j)
{
	off(&j->r, j->jbd2, 2200, 8900, 8900, CAUSE_IO, JBD2 ";[k]io_schedule");
	j->t = explain_one(&j->r, "front", &j->x);
	assert_int_equal(explanation_root(&j->x)->thread, j->jbd2);
	struct behind b = explanation_root(&j->x)->behind;
	explanation_release(&j->x);
	tail_release(&j->t);
	rig_release(&j->r);
	return b;
}

static void who_ended_the_idle_wait_gave_the_work(void **state)
{
	(void)state;
	struct journal j;
	struct offcpu *o = begin(&j, JBD2 ";[k]schedule");
	woken_by(o, j.bulk);
	o->waker_path = path(&j.r, FSYNC);
	uint32_t fsync = o->waker_path;
	struct behind b = end(&j);
	assert_int_equal(b.thread, j.bulk);
	assert_int_equal(b.path, fsync);
	assert_int_equal(b.ns, 6500 * 1000);

	o = begin(&j, ""); /* no stacks of kernel threads */
	woken_by(o, j.bulk);
	assert_int_equal(end(&j).thread, j.bulk);
}

static void a_wait_in_the_middle_of_work_gave_none(void **state)
{
	(void)state;
	struct journal j;
	struct offcpu *o = begin(&j, JBD2 ";[k]jbd2_journal_commit_transaction;[k]schedule");
	woken_by(o, j.bulk);
	assert_int_equal(end(&j).ns, 0);
}

static void for_whom_a_timer_did_is_not_recorded(void **state)
{
	(void)state;
	struct journal j;
	begin(&j, JBD2 ";[k]schedule");
	struct behind b = end(&j);
	assert_int_equal(b.thread, TL_NONE);
	assert_int_equal(b.ns, 6500 * 1000);
}

/* A worker that queued work is followed to who gave it its own; one that wakes another of its
 * pool is not. */
static void work_that_is_handed_on(void **state)
{
	(void)state;
	for (int queued = 0; queued < 2; queued++) {
		struct journal j;
		struct offcpu *o = begin(&j, WORKER ";[k]schedule");
		woken_by(o, j.worker);
		o->waker_path = path(&j.r, queued ? WORKER ";[k]__queue_work" : WORKER);
		woken_by(off(&j.r, j.worker, 50, 1900, 1910, CAUSE_UNKNOWN,
			     WORKER ";[k]schedule"),
			 j.bulk);
		struct behind b = end(&j);
		assert_int_equal(b.ns, queued ? 6500 * 1000 : 0);
		assert_int_equal(b.thread, queued ? j.bulk : TL_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_ended_the_idle_wait_gave_the_work),
		cmocka_unit_test(a_wait_in_the_middle_of_work_gave_none),
		cmocka_unit_test(for_whom_a_timer_did_is_not_recorded),
		cmocka_unit_test(work_that_is_handed_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
