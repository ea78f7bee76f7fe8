/*
 * causes: the mechanism of a wait from the stacks real programs leave, named after what they
 * waited for (testdata/causes/stacks.txt); and idle waits from timelines made by hand.
 */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libtime/explain/causes.h"
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

static void real_waits_get_their_cause(void **state)
{
	(void)state;
	struct causes *c = new_causes();
	unsigned long right[CAUSE_COUNT] = {0}, asleep[CAUSE_COUNT] = {0}, n;
	char comm[32], st[16], stack[8192];
	FILE *f = fopen("testdata/causes/stacks.txt", "r");
	assert_non_null(f);
	while (fscanf(f, "%lu %31s %15s %8191s", &n, comm, st, stack) == 4) {
		enum cause got = classify(c, st, stack);
		int want = cause_of(comm);
		assert_true(want >= 0);
		if (*st == 'R') {
			int yield = strstr(stack, "sys_sched_yield") != NULL;
			assert_int_equal(got, yield ? CAUSE_YIELD : CAUSE_PREEMPT);
			right[got] += n;
			asleep[got] += n;
			continue;
		}
		if (strstr(stack, ";nap;")) /* until the lock is held */
			continue;
		if (got == CAUSE_UNKNOWN && !strstr(stack, "sched_setaffinity"))
			fail_msg("no cause for a wait of %s: %s", comm, stack);
		asleep[want] += n;
		if ((int)got == want)
			right[want] += n;
	}
	fclose(f);
	static const enum cause all[] = {
		CAUSE_LOCK,    CAUSE_RWLOCK, CAUSE_SEMAPHORE, CAUSE_COND,  CAUSE_JOIN,
		CAUSE_BARRIER, CAUSE_FUTEX,  CAUSE_SLEEP,     CAUSE_POLL,  CAUSE_PIPE,
		CAUSE_NET,     CAUSE_IO,     CAUSE_FAULT,     CAUSE_CHILD, CAUSE_SIGNAL,
		CAUSE_YIELD,   CAUSE_PREEMPT};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (right[all[i]] < 3 || right[all[i]] * 4 < asleep[all[i]] * 3)
			fail_msg("%s: %lu of %lu", cause_name(all[i]), right[all[i]],
				 asleep[all[i]]);
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
	assert_string_equal(
		e.msg,
		"my.rules:3: neither a cause, work, idle, missing nor a frame's role: snooze");
	assert_int_equal(parse(c, "io disk=x", &e), ERR_FORMAT);
	assert_int_equal(parse(c, "io kernel=", &e), ERR_FORMAT);
	assert_int_equal(parse(c, "missing nap text", &e), ERR_FORMAT);
	assert_int_equal(causes_load(c, "/proc/self/nonexistent", &e), ERR_NOTFOUND);
	assert_int_equal(causes_work_frame(c, "(", &e), ERR_USAGE);
	causes_free(c);
}

/* --- idle -------------------------------------------------------------------------------- */

static int verdict(const char *folded)
{
	struct stacks s = {0};
	struct causes *c;
	assert_int_equal(causes_new(&c, NULL), 0);
	int v = causes_verdict(c, &s, path_of(&s, folded), "prog");
	stacks_release(&s);
	causes_free(c);
	return v;
}

static void a_go_thread_without_a_goroutine_is_idle(void **state)
{
	(void)state;
	int idle = verdict("main;ReadCommand;recv");
	assert_int_not_equal(idle, verdict("main;work;recv"));
	assert_int_equal(verdict("main.main;sync.(*Mutex).lockSlow;runtime.findRunnable;"
				 "runtime.stopm;runtime.notesleep;runtime.futex.abi0"),
			 idle);
	assert_int_equal(verdict("runtime.mstart1;runtime.sysmon;runtime.usleep.abi0"), idle);
	assert_int_not_equal(verdict("main.main;runtime.lock2;runtime.futex.abi0"), idle);
}

static void a_client_that_asked_waits_for_the_answer(void **state)
{
	(void)state;
	int work = verdict("backend;ProcSleep;poll");
	assert_int_equal(verdict("main;report;PQexecParams;PQgetResult;[libpq.so.5];poll"),
			 work);
	assert_int_equal(verdict("main;getaddrinfo;gaih_inet.constprop.0;send_dg;poll"), work);
	assert_int_equal(verdict("main;curl_easy_perform;curl_multi_poll;poll"), work);
	assert_int_not_equal(verdict("main;loop;curl_multi_poll;poll"), work);
}

static void a_wait_in_a_signal_handler_is_work(void **state)
{
	(void)state;
	int idle = verdict("main;ReadCommand;recv");
	assert_int_not_equal(verdict("main;ReadCommand;recv;__restore_rt;on_stop;sigsuspend"),
			     idle);
	assert_int_equal(verdict("start_thread;loop;nap;__restore_rt;on_stop;sigsuspend"),
			 verdict("backend;ProcSleep;poll"));
}

struct rig {
	struct stacks stacks;
	struct timeline tl;
	struct causes *c;
};

static void rig_init(struct rig *r, int threads)
{
	*r = (struct rig){.c = new_causes()};
	assert_int_equal(timeline_init(&r->tl, &r->stacks), 0);
	r->tl.flags = TL_HAS_SWITCH | TL_HAS_WAKING | TL_HAS_WAKEUP;
	for (int i = 0; i < threads; i++) {
		struct tl_thread t = {.pid = 100, .tid = 100 + i, .last_ns = 1000000};
		char comm[16];
		snprintf(comm, sizeof(comm), "t%d", i);
		assert_int_equal(strtab_intern(&r->stacks.strings, comm, &t.comm), 0);
		assert_int_equal(vec_push(&r->tl.threads, t), 0);
	}
}

/* Thread slept in [start, end), woken at its end by `waker` (TL_NONE: a timer) from `from`. */
static void slept(struct rig *r, uint32_t thread, uint64_t start, uint64_t end,
		  const char *where, uint32_t waker, const char *from)
{
	struct off o = {.thread = thread,
			.start_ns = start,
			.end_ns = end,
			.blocked_ns = end - start,
			.path = path_of(&r->stacks, where),
			.waker = waker,
			.comm = r->tl.threads.v[thread].comm,
			.waker_path = waker == TL_NONE ? 0 : path_of(&r->stacks, from),
			.waker_context = waker == TL_NONE ? WAKER_HARDIRQ : WAKER_TASK,
			.cpu_out = TL_NOCPU,
			.cpu_in = TL_NOCPU,
			.cpu_wake = TL_NOCPU,
			.cpu_queue = TL_NOCPU};
	assert_int_equal(timeline_state(&r->tl, "S", &o.state), 0);
	assert_int_equal(bigvec_push(&r->tl.off, o, NULL), 0);
}

static void worked(struct rig *r, uint32_t thread, uint64_t at, const char *where)
{
	struct tl_sample s = {.time_ns = at,
			      .thread = thread,
			      .period = 1,
			      .path = path_of(&r->stacks, where)};
	assert_int_equal(bigvec_push(&r->tl.samples, s, NULL), 0);
}

/* How many waits of a thread are idle, how many are not. */
static void count_idle(struct rig *r, uint32_t thread, int *idle, int * not )
{
	const struct tl_thread *t = &r->tl.threads.v[thread];
	*idle = *not = 0;
	for (uint32_t i = 0; i < t->off_n; i++)
		*(r->tl.off.v[t->off_first + i].flags & OFF_IDLE ? idle : not ) += 1;
}

static void apply(struct rig *r)
{
	struct err e = {0};
	r->tl.flags = 0; /* samples are evidence here, not to be joined */
	assert_int_equal(timeline_finish(&r->tl, &e), 0);
	assert_int_equal(causes_apply(r->c, &r->tl, &e), 0);
}

static void expect_idle(struct rig *r, uint32_t thread, int idle, int not )
{
	int i, n;
	count_idle(r, thread, &i, &n);
	assert_int_equal(i, idle);
	assert_int_equal(n, not );
}

static void rig_release(struct rig *r)
{
	causes_free(r->c);
	timeline_release(&r->tl);
	stacks_release(&r->stacks);
}

#define FUTEX ";pthread_cond_wait;do_futex_[k];futex_wait_[k]"
#define NAP ";clock_nanosleep;do_nanosleep_[k]"

static void a_pool_waiting_for_jobs_is_idle_its_jobs_are_not(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 2);
	for (uint64_t t = 0; t < 20; t++) { /* 1 makes jobs on a timer, 0 does them */
		slept(&r, 0, t * 1000, t * 1000 + 500, "start_thread;worker;get_job" FUTEX, 1,
		      "main;serve;submit;pthread_cond_signal");
		worked(&r, 0, t * 1000 + 600, "start_thread;worker;handle;parse");
		slept(&r, 0, t * 1000 + 700, t * 1000 + 900,
		      "start_thread;worker;handle;ask" FUTEX, TL_NONE, "");
	}
	for (uint64_t t = 0; t < 20; t++) {
		slept(&r, 1, t * 1000 + 510, t * 1000 + 1490, "main;serve" NAP, TL_NONE, "");
		worked(&r, 1, t * 1000 + 500, "main;serve;submit");
	}
	apply(&r);
	expect_idle(&r, 0, 20, 20); /* get_job; ask */
	expect_idle(&r, 1, 20, 0);  /* a heartbeat */
	rig_release(&r);
}

/* A loop that sleeps between its turns, and in the end waits for a child. */
static void a_heartbeat_that_waits_once_stays_one(void **state)
{
	(void)state;
	for (int children = 1; children < 8; children += 6) {
		struct rig r;
		rig_init(&r, 1);
		for (uint64_t t = 0; t < 20; t++) {
			slept(&r, 0, t * 1000, t * 1000 + 400, "main" NAP, TL_NONE, "");
			worked(&r, 0, t * 1000 + 500, "main;report");
		}
		for (int i = 0; i < children; i++)
			slept(&r, 0, 30000 + (uint64_t)i * 1000, 30900 + (uint64_t)i * 1000,
			      "main;__GI___wait4;do_wait_[k]", TL_NONE, "");
		apply(&r);
		/* waits that nobody asked for, and sleeps if these are too few to be the loop
		 */
		expect_idle(&r, 0, children == 1 ? 21 : 7, children == 1 ? 0 : 20);
		rig_release(&r);
	}
}

/* Samples in the call that waits, below a function of the program's own, are no work there. */
static void going_to_sleep_is_no_work(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 1);
	for (uint64_t t = 0; t < 20; t++) {
		slept(&r, 0, t * 1000, t * 1000 + 400, "main;beat;ms;nap" NAP, TL_NONE, "");
		worked(&r, 0, t * 1000 + 401, "main;beat;ms;nap" NAP ";finish_task_switch_[k]");
		worked(&r, 0, t * 1000 + 500, "main;beat;send");
	}
	apply(&r);
	expect_idle(&r, 0, 20, 0);
	rig_release(&r);
}

/* Samples by frame pointers end in the middle of code without them. Beside whole stacks they do
 * not tell that the thread worked outside of its loop; alone, they are all that is known. */
static void stacks_cut_short_do_not_tell_where_the_loop_is(void **state)
{
	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		struct rig r;
		rig_init(&r, 1);
		for (uint64_t t = 0; t < 20; t++) {
			slept(&r, 0, t * 1000, t * 1000 + 500, "start_thread;flusher" NAP,
			      TL_NONE, "");
			worked(&r, 0, t * 1000 + 600, "copy_block;copy_words");
			if (whole)
				worked(&r, 0, t * 1000 + 700, "start_thread;flusher;flush");
			else if (t < 8)
				worked(&r, 0, t * 1000 + 700, "start_thread;flusher;flush");
		}
		apply(&r);
		expect_idle(&r, 0, whole ? 20 : 0, whole ? 0 : 20);
		rig_release(&r);
	}
}

static void waiting_for_an_answer_is_not_idle(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 2);
	for (uint64_t t = 0; t < 20; t++) { /* 0 sleeps, asks 1, waits for its answer */
		slept(&r, 0, t * 1000, t * 1000 + 400, "main;loop" NAP, TL_NONE, "");
		slept(&r, 0, t * 1000 + 450, t * 1000 + 900, "main;loop" FUTEX, 1,
		      "start_thread;server;pthread_cond_signal");
	}
	for (uint64_t t = 0; t < 20; t++)
		slept(&r, 1, t * 1000 + 901, t * 1000 + 1420, "start_thread;server" FUTEX, 0,
		      "main;loop;pthread_cond_signal");
	apply(&r);
	expect_idle(&r, 0, 20, 20); /* its naps; its questions, with the first, for which what
				     * the server had done before is not recorded */
	expect_idle(&r, 1, 19,
		    1); /* the server at rest; its last wait was ended without a nap */
	rig_release(&r);
}

/* The server goes on from the question of 0 to that of 1, which came meanwhile: who set it to
 * work does not tell, but the rounds do in which 1 asked alone. */
static void an_answer_of_a_busy_server_is_not_idle(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 3);
	for (uint64_t t = 0; t < 40000; t += 1000)
		if (t % 4000)
			slept(&r, 0, t, t + 500, "main;loop" FUTEX, 2,
			      "start_thread;server;pthread_cond_signal");
	for (uint64_t t = 0; t < 40000; t += 1000) {
		slept(&r, 1, t - (t ? 90 : 0), t + 60, "main;loop" NAP, TL_NONE, "");
		slept(&r, 1, t + 70, t + 900, "main;loop" FUTEX, 2,
		      "start_thread;server;pthread_cond_signal");
	}
	for (uint64_t t = 0; t < 40000; t += 1000)
		slept(&r, 2, t - (t ? 90 : 0), t + (t % 4000 ? 10 : 65),
		      "start_thread;server" FUTEX, t % 4000 ? 0 : 1,
		      "main;loop;pthread_cond_signal");
	apply(&r);
	expect_idle(&r, 1, 40, 40); /* its naps; its questions */
	rig_release(&r);
}

/* 1 does all its work in stacks that were cut short, so its loop is not made out. */
static void an_answer_of_a_server_without_a_loop_is_not_idle(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 2);
	for (uint64_t t = 0; t < 20000; t += 1000) {
		slept(&r, 0, t, t + 200, "main;loop" NAP, TL_NONE, "");
		slept(&r, 0, t + 220, t + 400, "main;loop" NAP, TL_NONE, "");
		slept(&r, 0, t + 450, t + 900, "main;loop" FUTEX, 1, "commit;write_log");
	}
	for (uint64_t t = 0; t < 20000; t += 1000)
		slept(&r, 1, t - (t ? 90 : 0), t + 420, "start_thread;server" FUTEX, 0,
		      "main;loop;pthread_cond_signal");
	apply(&r);
	expect_idle(&r, 0, 40, 20);
	expect_idle(&r, 1, 0, 20); /* in doubt */
	rig_release(&r);
}

static void whoever_sleeps_on_a_lock_is_not_idle(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 2);
	for (uint64_t t = 0; t < 20; t++) {
		slept(&r, 0, t * 1000, t * 1000 + 400, "main;snapshot" NAP, TL_NONE, "");
		slept(&r, 0, t * 1000 + 500, t * 1000 + 800, "main;snapshot" NAP, TL_NONE, "");
	}
	for (uint64_t t = 0; t < 20; t++)
		slept(&r, 1, t * 1000 + 550, t * 1000 + 810,
		      "main;order;pthread_mutex_lock;__lll_lock_wait;futex_wait_[k]", 0,
		      "main;snapshot;pthread_mutex_unlock");
	apply(&r);
	expect_idle(&r, 0, 20, 20);
	expect_idle(&r, 1, 0, 20);
	rig_release(&r);
}

/* All nap before they come to the barrier; once 0 naps on, while 1 stands there. */
static void whoever_is_late_for_a_barrier_is_not_idle(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 2);
	for (uint64_t t = 0; t < 20000; t += 1000) {
		slept(&r, 0, t, t + 400, "main;round" NAP, TL_NONE, "");
		if (t == 7000)
			slept(&r, 0, t + 410, t + 800, "main;round;slow" NAP, TL_NONE, "");
	}
	for (uint64_t t = 0; t < 20000; t += 1000) {
		slept(&r, 1, t, t + 300, "main;round" NAP, TL_NONE, "");
		slept(&r, 1, t + 310, t + (t == 7000 ? 810 : 410),
		      "main;round;pthread_barrier_wait;do_futex_[k];futex_wait_[k]", 0,
		      "main;round;pthread_barrier_wait");
	}
	apply(&r);
	expect_idle(&r, 0, 20, 1);
	expect_idle(&r, 1, 20, 20);
	rig_release(&r);
}

static void work_rules_and_options_overrule(void **state)
{
	(void)state;
	for (int option = 0; option < 3; option++) {
		struct rig r;
		rig_init(&r, 1);
		for (uint64_t t = 0; t < 10; t++) {
			slept(&r, 0, t * 1000, t * 1000 + 400,
			      "main;loop;my_wait;poll;do_poll_[k]", TL_NONE, "");
			slept(&r, 0, t * 1000 + 500, t * 1000 + 800,
			      "main;loop;ProcSleep;poll;do_poll_[k]", TL_NONE, "");
		}
		if (option == 1)
			assert_int_equal(causes_work_frame(r.c, "^my_", NULL), 0);
		if (option == 2)
			assert_int_equal(causes_idle_frame(r.c, "ProcSleep", NULL), 0);
		apply(&r);
		expect_idle(&r, 0,
			    option == 1   ? 0
			    : option == 2 ? 20
					  : 10,
			    option == 1   ? 20
			    : option == 2 ? 0
					  : 10);
		rig_release(&r);
	}
}

static void a_single_wait_without_work_is_in_doubt(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 2);
	slept(&r, 0, 0, 400, "main;start;ask" FUTEX, TL_NONE, "");
	slept(&r, 1, 0, 400, "do_futex_[k];futex_wait_[k]", TL_NONE, "");
	slept(&r, 1, 500, 900, "do_poll_[k]", TL_NONE, ""); /* no user stack: in doubt */
	apply(&r);
	expect_idle(&r, 0, 0, 1);
	expect_idle(&r, 1, 0, 2);
	rig_release(&r);
}

static void exhaustion_is_an_error(void **state)
{
	(void)state;
	for (long n = 0;; n++) {
		struct rig r;
		rig_init(&r, 2);
		for (uint64_t t = 0; t < 5; t++)
			slept(&r, 0, t * 1000, t * 1000 + 400, "main;loop" FUTEX, 1, "main;x");
		assert_int_equal(timeline_finish(&r.tl, NULL), 0);
		mem_fail_after(n);
		int rc = causes_apply(r.c, &r.tl, NULL);
		mem_fail_after(-1);
		rig_release(&r);
		if (!rc)
			break;
		assert_int_equal(rc, ERR_NOMEM);
		assert_true(n < 1000);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_waits_get_their_cause),
		cmocka_unit_test(the_order_of_the_rules_decides),
		cmocka_unit_test(throttling_is_told_from_other_task_works),
		cmocka_unit_test(own_rules_come_first),
		cmocka_unit_test(a_system_call_tells_where_stacks_do_not),
		cmocka_unit_test(a_go_thread_without_a_goroutine_is_idle),
		cmocka_unit_test(a_client_that_asked_waits_for_the_answer),
		cmocka_unit_test(a_wait_in_a_signal_handler_is_work),
		cmocka_unit_test(a_pool_waiting_for_jobs_is_idle_its_jobs_are_not),
		cmocka_unit_test(a_heartbeat_that_waits_once_stays_one),
		cmocka_unit_test(going_to_sleep_is_no_work),
		cmocka_unit_test(stacks_cut_short_do_not_tell_where_the_loop_is),
		cmocka_unit_test(waiting_for_an_answer_is_not_idle),
		cmocka_unit_test(an_answer_of_a_busy_server_is_not_idle),
		cmocka_unit_test(an_answer_of_a_server_without_a_loop_is_not_idle),
		cmocka_unit_test(whoever_sleeps_on_a_lock_is_not_idle),
		cmocka_unit_test(whoever_is_late_for_a_barrier_is_not_idle),
		cmocka_unit_test(work_rules_and_options_overrule),
		cmocka_unit_test(a_single_wait_without_work_is_in_doubt),
		cmocka_unit_test(exhaustion_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
