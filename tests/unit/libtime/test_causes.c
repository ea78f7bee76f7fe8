/*
 * causes: the mechanism of a wait from the stacks real programs leave, named after what they
 * waited for (testdata/causes/stacks.txt).
 */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libtime/causes/causes.h"
#include "libtime/sched/sched.h"

static uint32_t push_frame(struct stacks *s, uint32_t parent, const char *name, int kernel)
{
	uint32_t frame, path;
	struct frame f = {.kind = kernel ? FRAME_KERNEL : FRAME_USER};
	int runtime = strstr(name, "pthread_") || strstr(name, "_wait") ||
		      strstr(name, "sleep") || !strcmp(name, "start_thread") ||
		      !strcmp(name, "poll") || !strcmp(name, "recv") ||
		      !strcmp(name, "__lll_lock_wait");
	assert_int_equal(strtab_intern(&s->strings, name, &f.name), 0);
	assert_int_equal(strtab_intern(&s->strings,
				       kernel    ? "[kernel.kallsyms]"
				       : runtime ? "/lib/libc.so.6"
						 : "/bin/prog",
				       &f.dso),
			 0);
	assert_int_equal(stacks_frame(s, &f, &frame), 0);
	assert_int_equal(stacks_push(s, parent, frame, &path), 0);
	return path;
}

/* "main;work;read;sys_read_[k]", as the stacks of the fixture are written. */
static uint32_t path_of(struct stacks *s, const char *folded)
{
	char text[8192], *save = NULL;
	uint32_t path = 0;
	snprintf(text, sizeof(text), "%s", folded);
	for (char *f = strtok_r(text, ";", &save); f; f = strtok_r(NULL, ";", &save)) {
		size_t n = strlen(f);
		int kernel = n > 4 && !strcmp(f + n - 4, "_[k]");
		if (kernel)
			f[n - 4] = '\0';
		path = push_frame(s, path, f, kernel);
	}
	return path;
}

static enum cause classify_call(struct causes *c, const char *state, const char *folded,
				const char *syscall)
{
	struct stacks s = {0};
	enum cause cause;
	assert_int_equal(
		causes_classify(c, &s, path_of(&s, folded), state, syscall, &cause, NULL), 0);
	stacks_release(&s);
	return cause;
}

static enum cause classify(struct causes *c, const char *state, const char *folded)
{
	return classify_call(c, state, folded, "");
}

static struct causes *new_causes(void)
{
	struct causes *c;
	struct err e = {0};
	if (causes_new(&c, &e))
		fail_msg("%s", e.msg);
	return c;
}

/* A thread waits for what it is called after, but for these. */
static int other_cause(const char *stack, int named)
{
	static const struct {
		const char *part;
		enum cause cause;
	} others[] = {
		{";nap;", CAUSE_SLEEP}, /* until the lock that it will want is held */
		/* the address space's lock, which the thread of page faults takes to unmap */
		{";rwsem_down_", CAUSE_RWLOCK},
		{"sched_setaffinity",
		 CAUSE_UNKNOWN}, /* moved to its CPU, by the migration thread */
	};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strstr(stack, others[i].part))
			return (int)others[i].cause;
	return named;
}

static void real_waits_get_their_cause(void **state)
{
	(void)state;
	struct causes *c = new_causes();
	unsigned long right[CAUSE_COUNT] = {0}, n;
	char comm[32], st[16], stack[8192];
	FILE *f = fopen("testdata/causes/stacks.txt", "r");
	assert_non_null(f);
	while (fscanf(f, "%lu %31s %15s %8191s", &n, comm, st, stack) == 4) {
		enum cause got = classify(c, st, stack);
		int want = cause_find(comm);
		assert_true(want >= 0);
		if (*st == 'R') {
			int yield = strstr(stack, "sys_sched_yield") != NULL;
			assert_int_equal(got, yield ? CAUSE_YIELD : CAUSE_PREEMPT);
			right[got] += n;
			continue;
		}
		want = other_cause(stack, want);
		if ((int)got != want)
			fail_msg("%s, not %s: %s", cause_name(got), cause_name((unsigned)want),
				 stack);
		right[want] += n;
	}
	fclose(f);
	static const enum cause all[] = {
		CAUSE_LOCK,    CAUSE_RWLOCK, CAUSE_SEMAPHORE, CAUSE_COND,  CAUSE_JOIN,
		CAUSE_BARRIER, CAUSE_FUTEX,  CAUSE_SLEEP,     CAUSE_POLL,  CAUSE_PIPE,
		CAUSE_NET,     CAUSE_IO,     CAUSE_FAULT,     CAUSE_CHILD, CAUSE_SIGNAL,
		CAUSE_YIELD,   CAUSE_PREEMPT};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (right[all[i]] < 3)
			fail_msg("%s: %lu", cause_name(all[i]), right[all[i]]);
	causes_free(c);
}

static void the_order_of_the_rules_decides(void **state)
{
	(void)state;
	struct causes *c = new_causes();
	/* a read by a page fault is a fault; waiting for the address space's lock in one is not
	 */
	assert_int_equal(
		classify(c, "D",
			 "main;asm_exc_page_fault_[k];filemap_fault_[k];io_schedule_[k]"),
		CAUSE_FAULT);
	assert_int_equal(
		classify(c, "D", "main;asm_exc_page_fault_[k];rwsem_down_read_slowpath_[k]"),
		CAUSE_RWLOCK);
	assert_int_equal(
		classify(c, "D", "main;__x64_sys_read_[k];filemap_read_[k];io_schedule_[k]"),
		CAUSE_IO);
	/* a worker of io_uring and a FUSE daemon: without a request, and busy with one */
	assert_int_equal(
		classify(c, "S", "ret_from_fork_[k];io_wq_worker_[k];schedule_timeout_[k]"),
		CAUSE_POLL);
	assert_int_equal(classify(c, "D",
				  "ret_from_fork_[k];io_wq_worker_[k];io_wq_submit_work_[k];"
				  "io_write_[k];io_schedule_[k]"),
			 CAUSE_IO);
	assert_int_equal(
		classify(c, "S",
			 "main;read;fuse_dev_read_[k];fuse_dev_do_read_[k];schedule_[k]"),
		CAUSE_POLL);
	assert_int_equal(classify(c, "D", "main;read;fuse_file_read_iter_[k];schedule_[k]"),
			 CAUSE_IO);
	assert_int_equal(
		classify(c, "S", "main;read;vfs_read_[k];timerfd_read_[k];schedule_[k]"),
		CAUSE_SLEEP);
	/* PREEMPT_RT: a lock of the kernel, whatever it is taken for */
	assert_int_equal(
		classify(c, "D", "main;do_wait_[k];rt_read_lock_[k];rwbase_read_lock_[k]"),
		CAUSE_RWLOCK);
	/* a condition whose mutex is taken by somebody else when it comes back */
	assert_int_equal(classify(c, "S",
				  "main;pthread_cond_wait@@GLIBC_2.3.2;__lll_lock_wait;"
				  "__x64_sys_futex_[k];futex_wait_[k]"),
			 CAUSE_LOCK);
	assert_int_equal(classify(c, "S",
				  "main;___pthread_cond_wait;__futex_abstimed_wait_common64."
				  "constprop.0;__x64_sys_futex_[k];futex_wait_[k]"),
			 CAUSE_COND);
	/* a malloc arena, a Java monitor */
	assert_int_equal(classify(c, "S", "main;malloc;__lll_lock_wait_private;futex_wait_[k]"),
			 CAUSE_LOCK);
	assert_int_equal(classify(c, "S",
				  "JavaMain;ObjectMonitor::enter(JavaThread*);os::PlatformEvent"
				  "::park();pthread_cond_wait;futex_wait_[k]"),
			 CAUSE_LOCK);
	assert_int_equal(
		classify(c, "S",
			 "Thread::call_run;JVM_Sleep;JavaThread::sleep;os::PlatformEvent"
			 "::park;pthread_cond_timedwait;futex_wait_[k]"),
		CAUSE_SLEEP);
	/* Go's own locks, and a thread of it without a goroutine to run */
	assert_int_equal(classify(c, "S",
				  "runtime.mcall;runtime.lock2;runtime.futexsleep;"
				  "runtime.futex.abi0;futex_wait_[k]"),
			 CAUSE_LOCK);
	assert_int_equal(classify(c, "S",
				  "main.main;runtime.stopm;runtime.mPark;runtime.notesleep;"
				  "runtime.futexsleep;runtime.futex.abi0;futex_wait_[k]"),
			 CAUSE_COND);
	/* vfork and posix_spawn wait for the child; what else blocks in a fork does not */
	assert_int_equal(classify(c, "D",
				  "main;__vfork;__x64_sys_vfork_[k];kernel_clone_[k];"
				  "wait_for_completion_state_[k];__wait_for_common_[k]"),
			 CAUSE_CHILD);
	assert_int_equal(classify(c, "D",
				  "main;vfork;_do_fork_[k];wait_for_completion_killable_[k];"
				  "schedule_timeout_[k]"),
			 CAUSE_CHILD);
	assert_int_equal(classify(c, "D",
				  "main;fork;kernel_clone_[k];copy_process_[k];"
				  "wait_for_completion_[k];schedule_timeout_[k]"),
			 CAUSE_UNKNOWN);
	/* without user frames a futex is a futex */
	assert_int_equal(
		classify(c, "S", "do_syscall_64_[k];__x64_sys_futex_[k];futex_wait_[k]"),
		CAUSE_FUTEX);
	assert_true(*causes_missing(c, CAUSE_FUTEX) != '\0');
	assert_int_equal(classify(c, "S", ""), CAUSE_UNKNOWN);
	assert_int_equal(classify(c, "R+", ""), CAUSE_PREEMPT);
	assert_int_equal(classify(c, "S", "main;usleep;clock_nanosleep"), CAUSE_SLEEP);
	assert_int_equal(classify(c, "T", "main;do_signal_stop_[k]"), CAUSE_STOPPED);
	causes_free(c);
}

static void java_locks_are_told_by_name(void **state)
{
	(void)state;
	struct causes *c = new_causes();
	/* java.util.concurrent, as recorded: twelve frames below the lock */
#define PARK                                                                                   \
	"void java.util.concurrent.locks.LockSupport.park;void jdk.internal.misc.Unsafe.park;" \
	"Unsafe_Park;Parker::park;pthread_cond_wait@@GLIBC_2.3.2;__pthread_cond_wait_common;"  \
	"__futex_abstimed_wait_common;__futex_abstimed_wait_common64;do_futex_[k];futex_wait_" \
	"[k]"
#define AQS "void java.util.concurrent.locks.AbstractQueuedSynchronizer"
	assert_int_equal(
		classify(c, "S",
			 "void L.locker;void java.util.concurrent.locks.ReentrantLock.lock;"
			 "void java.util.concurrent.locks.ReentrantLock$Sync.lock;" AQS
			 ".acquire;" AQS ".acquire;" PARK),
		CAUSE_LOCK);
	assert_int_equal(
		classify(c, "S",
			 "void L.rw;void java.util.concurrent.locks.ReentrantReadWriteLock"
			 "$WriteLock.lock;" AQS ".acquire;" AQS ".acquire;" PARK),
		CAUSE_RWLOCK);
	assert_int_equal(classify(c, "S",
				  "void L.sem;void java.util.concurrent.Semaphore.acquire;" AQS
				  ".acquireSharedInterruptibly;" AQS ".acquire;" PARK),
			 CAUSE_SEMAPHORE);
	assert_int_equal(
		classify(c, "S",
			 "void L.eat;java.lang.Object java.util.concurrent.LinkedBlockingQueue"
			 ".take;" AQS "$ConditionObject.await;" PARK),
		CAUSE_COND);
	/* what the JVM waits for when the lock is called the first time is not the lock */
	assert_int_equal(
		classify(c, "S",
			 "void java.util.concurrent.locks.ReentrantLock.lock;CompileBroker::"
			 "wait_for_completion;Monitor::wait;os::PlatformMonitor::wait;"
			 "pthread_cond_wait;futex_wait_[k]"),
		CAUSE_COND);
	causes_free(c);
}

static int parse(struct causes *c, const char *text, struct err *e)
{
	return causes_parse(c, text, strlen(text), "my.rules", e);
}

/* The loop of task works yields after each: for a quota only on the way to user mode. */
static void throttling_is_told_from_other_task_works(void **state)
{
	(void)state;
	struct causes *c = new_causes();
	assert_int_equal(classify(c, "R+",
				  "main;do_syscall_64_[k];exit_to_user_mode_loop_[k];"
				  "task_work_run_[k];__cond_resched_[k];__schedule_[k]"),
			 CAUSE_THROTTLE);
	assert_int_equal(classify(c, "R",
				  "main;exit_to_user_mode_loop_[k];task_work_run_[k];"
				  "throttle_cfs_rq_work_[k];__schedule_[k]"),
			 CAUSE_THROTTLE);
	assert_int_equal(classify(c, "R+",
				  "main;do_group_exit_[k];do_exit_[k];task_work_run_[k];"
				  "__cond_resched_[k];__schedule_[k]"),
			 CAUSE_PREEMPT);
	assert_int_equal(classify(c, "R+",
				  "main;exit_to_user_mode_loop_[k];task_work_run_[k];"
				  "__fput_[k];dput_[k];__cond_resched_[k];__schedule_[k]"),
			 CAUSE_PREEMPT);
	causes_free(c);
}

static void own_rules_come_first(void **state)
{
	(void)state;
	struct causes *c = new_causes();
	struct err e = {0};
	assert_int_equal(parse(c, "# mine\nio user=my_disk_read\nlock\tuser=spin_*\n", &e), 0);
	assert_int_equal(classify(c, "S", "main;my_disk_read;nanosleep;do_nanosleep_[k]"),
			 CAUSE_IO);
	assert_int_equal(classify(c, "R", "main;spin_hard"), CAUSE_LOCK);
	assert_int_equal(parse(c, "\n\nsnooze kernel=x\n", &e), ERR_FORMAT);
	assert_string_equal(e.msg,
			    "my.rules:3: neither a cause, missing nor a frame's role: snooze");
	assert_int_equal(parse(c, "io disk=x", &e), ERR_FORMAT);
	assert_int_equal(parse(c, "io kernel=", &e), ERR_FORMAT);
	assert_int_equal(parse(c, "missing nap text", &e), ERR_FORMAT);
	assert_int_equal(causes_load(c, "/proc/self/nonexistent", &e), ERR_NOTFOUND);
	assert_int_equal(causes_work_frame(c, "(", &e), ERR_USAGE);
	causes_free(c);
}

static void a_system_call_tells_where_stacks_do_not(void **state)
{
	(void)state;
	struct causes *c = new_causes();
	struct err e = {0};
	assert_int_equal(classify_call(c, "S", "", ""), CAUSE_UNKNOWN);
	assert_int_equal(classify_call(c, "S", "", "futex:wait_bitset"), CAUSE_FUTEX);
	assert_int_equal(classify_call(c, "S", "", "futex:lock_pi2"), CAUSE_LOCK);
	assert_int_equal(classify_call(c, "S", "", "futex:wait_requeue_pi"), CAUSE_COND);
	assert_int_equal(classify_call(c, "S", "", "epoll_wait"), CAUSE_POLL);
	assert_int_equal(classify_call(c, "D", "", "pread64"), CAUSE_IO);
	assert_int_equal(classify_call(c, "S", "", "read"), CAUSE_UNKNOWN); /* of what? */
	assert_int_equal(classify_call(c, "R", "", "futex:wait"), CAUSE_PREEMPT);
	/* what the stack tells comes first */
	assert_int_equal(
		classify_call(c, "D", "main;exc_page_fault_[k];io_schedule_[k]", "recvmsg"),
		CAUSE_FAULT);
	assert_int_equal(classify_call(c, "S", "main;unnamed_[k]", "recvmsg"), CAUSE_NET);
	/* rules of one's own may combine them */
	static const char own[] = "lock syscall=futex:wait user=my_mutex*\n";
	assert_int_equal(causes_parse(c, own, strlen(own), "own", &e), 0);
	assert_int_equal(classify_call(c, "S", "main;my_mutex_lock", "futex:wait"), CAUSE_LOCK);
	assert_int_equal(classify_call(c, "S", "main;my_mutex_lock", "futex:wait_bitset"),
			 CAUSE_FUTEX);
	assert_int_equal(classify_call(c, "S", "main;my_mutex_lock", ""), CAUSE_UNKNOWN);
	causes_free(c);
}

/* Both have no state of their own, and the same stack. */
static void a_preempted_thread_is_told_by_its_switch_record(void **state)
{
	(void)state;
	struct stacks s = {0};
	struct timeline tl;
	struct tl_thread thread = {.pid = 7, .tid = 7};
	struct causes *c = new_causes();
	assert_int_equal(timeline_init(&tl, &s), 0);
	assert_int_equal(vec_push(&tl.threads, thread), 0);
	for (unsigned i = 0; i < 4; i++) {
		struct offcpu o = {.start_ns = 10 * i, .end_ns = 10 * i + 5, .waker = TL_NONE};
		o.flags = i % 2 ? 0 : OFF_RUNNING;
		assert_int_equal(bigvec_push(&tl.offcpu, o, NULL), 0);
	}
	assert_int_equal(causes_apply(c, &tl, NULL), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(tl.offcpu.v[i].cause, i % 2 ? CAUSE_UNKNOWN : CAUSE_PREEMPT);
	timeline_release(&tl);
	stacks_release(&s);
	causes_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_waits_get_their_cause),
		cmocka_unit_test(the_order_of_the_rules_decides),
		cmocka_unit_test(java_locks_are_told_by_name),
		cmocka_unit_test(throttling_is_told_from_other_task_works),
		cmocka_unit_test(own_rules_come_first),
		cmocka_unit_test(a_system_call_tells_where_stacks_do_not),
		cmocka_unit_test(a_preempted_thread_is_told_by_its_switch_record),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
