/* mechanism: what stacks are for, by the built-in rules and by others. */
#include "tests/unit/libtime/tailrig.h"

#include "libtime/causes/mechanism.h"
#include "libtime/explain/wait_object.h"

static const char *words(struct mechanisms *m, uint32_t path, uint32_t waker_path)
{
	const struct mechanism *is = mechanism_of(m, MECHANISMS_OF_WAIT, path, waker_path, 0);
	return is ? is->words : "-";
}

/* Stacks as they were recorded. */
static void stacks_tell_what_a_wait_was_for(void **state)
{
	static const struct {
		const char *stack, *waker, *words;
	} rows[] = {
		{"main;save;c:fsync;[k]__x64_sys_fsync;[k]do_fsync;[k]ext4_sync_file;"
		 "[k]jbd2_log_wait_commit;[k]schedule",
		 "", "the ext4 journal's commit"},
		{"main;save;c:write;[k]ksys_write;[k]balance_dirty_pages_ratelimited_flags;"
		 "[k]balance_dirty_pages;[k]io_schedule_timeout",
		 "", "throttled, too many dirty pages"},
		{"main;take;c:mmap64;[k]vm_mmap_pgoff;[k]down_write_killable;"
		 "[k]rwsem_down_write_slowpath",
		 "", "mmap_lock"},
		{"main;save;c:write;[k]ext4_file_write_iter;[k]ext4_buffered_write_iter;"
		 "[k]down_write;[k]rwsem_down_write_slowpath",
		 "", "the file's inode lock"},
		{"main;get;c:malloc;c:_int_malloc;c:__lll_lock_wait_private;[k]futex_wait", "",
		 "the allocator's lock"},
		{"main;get;c:__lll_lock_wait_private;[k]futex_wait",
		 "main;c:_int_free;c:__lll_lock_wake_private", "the allocator's lock"},
		{"main;get;c:__lll_lock_wait_private;[k]futex_wait", "",
		 "a lock inside the C library"},
		{"main;time_sleep;PyEval_RestoreThread;take_gil;c:pthread_cond_timedwait;"
		 "[k]futex_wait",
		 "", "the GIL"},
		{"JavaThread::sleep(long);SafepointMechanism::process(JavaThread*, bool, bool);"
		 "SafepointSynchronize::block(JavaThread*);[k]futex_wait",
		 "", "a JVM safepoint to end"},
		{"void L.locker;void java.util.concurrent.locks.ReentrantLock.lock;"
		 "int java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire;"
		 "Parker::park;[k]futex_wait",
		 "", "the Java lock"},
		{"main;send;c:write;[k]anon_pipe_write;[k]schedule", "", "room in a full pipe"},
		{"main;match;c:pthread_mutex_lock;[k]futex_wait", "", "-"},
		/* what those functions call takes other locks */
		{"main;save;c:write;[k]ext4_file_write_iter;[k]ext4_map_blocks;"
		 "[k]down_write;[k]rwsem_down_write_slowpath",
		 "", "-"},
		{"main;get;c:open64;[k]path_openat;[k]ext4_create;[k]ext4_map_blocks;"
		 "[k]down_read;[k]rwsem_down_read_slowpath",
		 "", "-"},
		{"main;free;c:munmap;[k]__vm_munmap;[k]unlink_anon_vmas;[k]down_write;"
		 "[k]rwsem_down_write_slowpath",
		 "", "-"},
		/* a function of the same name as one of the kernel's */
		{"main;balance_dirty_pages;c:pthread_mutex_lock;[k]futex_wait", "", "-"},
	};
	struct rig r;
	struct mechanisms *m;
	uint32_t paths[sizeof(rows) / sizeof(*rows)][2];
	(void)state;
	rig_init(&r, 1000);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		paths[i][0] = path(&r, rows[i].stack);
		paths[i][1] = path(&r, rows[i].waker);
	}
	assert_int_equal(mechanisms_new(&r.tl, &m, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(words(m, paths[i][0], paths[i][1]), rows[i].words);
	mechanisms_free(m);
	rig_release(&r);
}

/* A stack for each rule; `comm`: it is what another thread of that name did. They are written
 * by hand: they show that no rule before takes the wait, not how such waits look. */
static const struct rule_case {
	const char *name, *stack, *waker, *comm;
	uint64_t timer_ms; /* until a timer interrupt sent the packet that ended it */
} rule_cases[] = {
	{"ptrace", "main;[k]get_signal;[k]ptrace_do_notify;[k]ptrace_stop;[k]schedule", "",
	 NULL},
	{"signal-stop", "main;[k]get_signal;[k]do_signal_stop;[k]schedule", "", NULL},
	{"frozen", "main;[k]exit_to_user_mode_loop;[k]get_signal;[k]schedule", "", NULL},
	{"f_pos", "c:read;[k]ksys_read;[k]fdget_pos;[k]__mutex_lock", "", NULL},
	{"mqueue-full", "c:mq_send;[k]do_mq_timedsend;[k]wq_sleep", "", NULL},
	{"fifo-open", "c:open64;[k]fifo_open;[k]wait_for_partner", "", NULL},
	{"loader",
	 "main;c:dlopen_doit;c:_dl_open;c:pthread_mutex_lock;c:__lll_lock_wait;[k]futex_wait",
	 "", NULL},
	{"dirty-pages", "c:write;[k]generic_perform_write;[k]balance_dirty_pages", "", NULL},
	{"memory-high", "[k]exit_to_user_mode_loop;[k]__mem_cgroup_handle_over_high", "", NULL},
	{"reclaim-cgroup", "[k]try_charge_memcg;[k]try_to_free_mem_cgroup_pages", "", NULL},
	{"reclaim", "[k]__alloc_pages_slowpath;[k]try_to_free_pages;[k]shrink_node", "", NULL},
	{"compaction", "[k]__alloc_pages_direct_compact;[k]try_to_compact_pages", "", NULL},
	{"swap", "[k]handle_mm_fault;[k]do_swap_page;[k]folio_wait_bit_common", "", NULL},
	{"mmap_lock", "[k]do_user_addr_fault;[k]down_read;[k]rwsem_down_read_slowpath", "",
	 NULL},
	{"mmap_lock",
	 "[k]el0_da;[k]do_mem_abort;[k]do_translation_fault;"
	 "[k]do_page_fault;[k]down_read;[k]rwsem_down_read_slowpath",
	 "", NULL},
	{"numa", "[k]handle_mm_fault;[k]do_numa_page;[k]migrate_misplaced_folio", "", NULL},
	{"userfault", "[k]handle_mm_fault;[k]handle_userfault;[k]schedule", "", NULL},
	{"fanotify", "c:open;[k]fsnotify;[k]fanotify_handle_event;[k]schedule", "", NULL},
	{"timeout", "c:pthread_cond_timedwait;[k]do_futex;[k]futex_wait;[k]schedule",
	 "[k]hrtimer_interrupt;[k]hrtimer_wakeup;[k]try_to_wake_up", NULL},
	{"mark-assist", "c:runtime.mallocgc;c:runtime.gcAssistAlloc.func2;c:runtime.gcDrainN",
	 "", NULL},
	{"go-gc", "c:runtime.gcBgMarkWorker.func2;c:runtime.gcDrain;c:runtime.scanSpan", "",
	 NULL},
	{"migration", "[k]do_swap_fault;[k]migration_entry_wait;[k]io_schedule", "", NULL},
	{"journal", "c:fsync;[k]ext4_sync_file;[k]jbd2_log_wait_commit", "", NULL},
	{"journal-full", "[k]jbd2__journal_start;[k]start_this_handle", "", NULL},
	{"xfs-log", "c:fsync;[k]xfs_file_fsync;[k]xfs_log_force_seq", "", NULL},
	{"btrfs-commit", "c:fsync;[k]btrfs_sync_file;[k]btrfs_sync_log", "", NULL},
	{"file-lock", "c:flock;[k]locks_lock_inode_wait;[k]flock_lock_inode_wait", "", NULL},
	{"inode", "[k]ext4_file_write_iter;[k]down_write;[k]rwsem_down_write_slowpath", "",
	 NULL},
	{"directory", "[k]path_openat;[k]down_write;[k]rwsem_down_write_slowpath", "", NULL},
	{"writeback", "[k]ext4_write_begin;[k]folio_wait_stable;[k]folio_wait_bit", "", NULL},
	{"fsync", "c:fsync;[k]__x64_sys_fsync;[k]vfs_fsync_range;[k]submit_bio_wait", "", NULL},
	{"read-page", "c:read;[k]ext4_file_read_iter;[k]filemap_read;[k]io_schedule", "", NULL},
	{"pipe-full", "c:write;[k]anon_pipe_write;[k]schedule", "", NULL},
	{"pipe-empty", "c:read;[k]pipe_read;[k]schedule", "", NULL},
	{"tcp-timer", "c:recv;[k]tcp_recvmsg_locked;[k]sk_wait_data",
	 "[k]sysvec_apic_timer_interrupt;[k]net_rx_action;[k]process_backlog", NULL},
	{"delayed-ack", "c:recv;[k]tcp_recvmsg_locked;[k]sk_wait_data",
	 "[k]run_ksoftirqd;[k]net_rx_action;[k]process_backlog", NULL, 43},
	{"delayed-ack", "c:recv;[k]schedule", "[k]tcp_delack_timer;[k]tcp_send_ack", NULL},
	{"tcp-timer", "c:recv;[k]schedule", "[k]tcp_write_timer;[k]tcp_retransmit_timer", NULL},
	{"socket-full", "c:send;[k]tcp_sendmsg_locked;[k]sk_stream_wait_memory", "", NULL},
	{"rcu", "[k]synchronize_rcu;[k]__wait_rcu_gp", "", NULL},
	{"malloc", "get;c:malloc;c:_int_malloc;c:__lll_lock_wait_private", "", NULL},
	{"malloc", "get;c:__lll_lock_wait_private", "put;c:_int_free", NULL},
	{"libc", "get;c:__lll_lock_wait_private", "", NULL},
	{"gil", "time_sleep;PyEval_RestoreThread;take_gil;c:pthread_cond_timedwait", "", NULL},
	{"gvl", "rb_thread_call_without_gvl;thread_sched_to_running_common", "", NULL},
	{"safepoint", "JavaThread::sleep(long);SafepointSynchronize::block(JavaThread*)", "",
	 NULL},
	{"monitor", "run;ObjectMonitor::enter(JavaThread*);Parker::park", "", NULL},
	{"jvm-lock", "run;Mutex::lock_contended(Thread*);Parker::park", "", NULL},
	{"juc",
	 "run;void java.util.concurrent.locks.ReentrantLock.lock;Unsafe_Park;Parker::park", "",
	 NULL},
	{"park", "start_thread;JavaCalls::call_helper;Unsafe_Park;Parker::park(bool, long)", "",
	 NULL},
	{"postgres", "LockAcquire;WaitOnLock;ProcSleep;WaitLatch", "", NULL},
	{"lwlock", "XLogInsert;LWLockAcquire;PGSemaphoreLock", "", NULL},
	{"wal-flush", "CommitTransaction;XLogFlush;issue_xlog_fsync", "", NULL},
	{"go-runtime", "runtime.schedule;runtime.lock2;runtime.futexsleep", "", NULL},
	{"fork", "c:fork;[k]kernel_clone;[k]copy_process;[k]dup_mm", "", "app"},
	{"munmap", "c:munmap;[k]__x64_sys_munmap;[k]__vm_munmap", "", "app"},
	{"mprotect", "c:mprotect;[k]do_mprotect_pkey", "", "app"},
	{"madvise", "c:madvise;[k]do_madvise;[k]zap_page_range_single", "", "app"},
	{"exit", "[k]do_exit;[k]mmput;[k]exit_mmap", "", "app"},
	{"mmap", "c:mmap64;[k]vm_mmap_pgoff;[k]do_mmap", "", "app"},
	{"fault", "main;[k]exc_page_fault;[k]do_user_addr_fault", "", "app"},
	{"gc", "main", "", "GC Thread#3"},
	{"gc", "VMThread::run();VM_GenCollectForAllocation::doit()", "", "VM Thread"},
};
/* The first cases are of stops. */
enum { STOPS = 3, RULE_CASES = sizeof(rule_cases) / sizeof(*rule_cases) };

/* Different rules among those that the cases met, with that name. */
static size_t rules_met(const struct mechanism *const *met, const char *name)
{
	size_t n = 0;
	for (size_t i = 0; i < RULE_CASES; i++) {
		size_t first = 0;
		while (met[first] != met[i])
			first++;
		n += met[i] && first == i && !strcmp(met[i]->name, name);
	}
	return n;
}

/* The next rule's name and the text behind its line; NULL: there are no more. */
static const char *next_rule(const char *text, char name[64])
{
	int found = 0;
	for (; *text && !found; text += strcspn(text, "\n"), text += *text == '\n')
		found = sscanf(text, "%*[a-z]%*[ \t]%63[^ \t\n]", name) == 1;
	return found ? text : NULL;
}

static size_t rules_of(const char *name)
{
	size_t n = 0;
	char word[64];
	for (const char *p = mechanisms_builtin; (p = next_rule(p, word));)
		n += !strcmp(word, name);
	return n;
}

static void every_rule_has_a_stack_that_it_matches(void **state)
{
	const struct mechanism *met[RULE_CASES];
	uint32_t paths[RULE_CASES][2];
	struct rig r;
	struct mechanisms *m;
	char name[64];
	int ok = 1;
	(void)state;
	rig_init(&r, 1000);
	for (size_t i = 0; i < RULE_CASES; i++) {
		paths[i][0] = path(&r, rule_cases[i].stack);
		paths[i][1] = path(&r, rule_cases[i].waker);
	}
	assert_int_equal(mechanisms_new(&r.tl, &m, NULL), 0);
	for (size_t i = 0; i < RULE_CASES; i++) {
		const struct rule_case *c = &rule_cases[i];
		met[i] = c->comm ? mechanism_doing(m, paths[i][0], paths[i][1],
						   text(&r, c->comm))
				 : mechanism_of(
					   m,
					   i < STOPS ? MECHANISMS_OF_STOP : MECHANISMS_OF_WAIT,
					   paths[i][0], paths[i][1], c->timer_ms * 1000000);
		if (met[i] && !strcmp(met[i]->name, c->name))
			continue;
		print_message("%s: %s is %s\n", c->name, c->stack, met[i] ? met[i]->name : "-");
		ok = 0;
	}
	for (const char *p = mechanisms_builtin; (p = next_rule(p, name));) {
		if (rules_met(met, name) == rules_of(name))
			continue;
		print_message("a rule %s has no stack here\n", name);
		ok = 0;
	}
	assert_true(ok);
	mechanisms_free(m);
	rig_release(&r);
}

static void what_the_other_did_is_told_by_its_stacks_or_its_name(void **state)
{
	struct rig r;
	struct mechanisms *m;
	(void)state;
	rig_init(&r, 1000);
	uint32_t fork = path(&r, "main;c:fork;[k]copy_process;[k]dup_mm;[k]up_write");
	uint32_t other = path(&r, "main;work"), gc = text(&r, "GC Thread#3"),
		 app = text(&r, "app");
	assert_int_equal(mechanisms_new(&r.tl, &m, NULL), 0);
	assert_string_equal(mechanism_doing(m, other, fork, app)->words, "in fork");
	assert_string_equal(mechanism_doing(m, other, 0, gc)->words, "for GC");
	assert_null(mechanism_doing(m, other, other, app));
	/* nor is that what a wait was for */
	assert_null(mechanism_of(m, MECHANISMS_OF_WAIT, fork, 0, 0));
	mechanisms_free(m);
	rig_release(&r);
}

static void bad_rules_are_refused_with_their_line(void **state)
{
	static const char *const bad[] = {
		"lock",
		"lock x kernel=a",
		"lock : words",
		"mutex x kernel=a : words",
		"lock x kernel : words",
		"lock x dso=a : words",
		"lock x user=a user=b user=c user=d user=e : words",
		"lock x calls=a : words",
		"lock x user=a calls=b : words",
	};
	struct rig r;
	struct mechanisms *m;
	(void)state;
	rig_init(&r, 1000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err e = {0};
		char text[128];
		snprintf(text, sizeof(text), "# a comment\n%s\n", bad[i]);
		assert_true(mechanisms_parse(&r.tl, text, strlen(text), "my.rules", &m, &e) <
			    0);
		assert_null(m);
		assert_non_null(strstr(e.msg, "my.rules:2: "));
	}
	rig_release(&r);
}

/* A signal is delivered while a wait for memory goes on; a stopped thread was waiting before.
 */
static void stops_and_waits_do_not_hide_each_other(void **state)
{
	struct rig r;
	struct mechanisms *m;
	(void)state;
	rig_init(&r, 1000);
	uint32_t swap = path(&r, "main;work;[k]exit_to_user_mode_loop;[k]get_signal;"
				 "[k]exc_page_fault;[k]do_swap_page;[k]folio_wait_bit_common");
	uint32_t stopped = path(&r, "main;c:read;[k]pipe_read;[k]do_signal_stop;[k]schedule");
	uint32_t locked = path(&r, "main;work;[k]do_user_addr_fault;[k]down_read;"
				   "[k]rwsem_down_read_slowpath;[k]try_to_compact_pages");
	assert_int_equal(mechanisms_new(&r.tl, &m, NULL), 0);
	assert_string_equal(mechanism_of(m, MECHANISMS_OF_WAIT, swap, 0, 0)->name, "swap");
	assert_string_equal(mechanism_of(m, MECHANISMS_OF_STOP, stopped, 0, 0)->name,
			    "signal-stop");
	assert_string_equal(mechanism_of(m, MECHANISMS_OF_RUNNING, locked, 0, 0)->name,
			    "compaction");
	assert_null(mechanism_of(m, MECHANISMS_OF_RUNNING, stopped, 0, 0));
	mechanisms_free(m);
	rig_release(&r);
}

static const char *frame_name_of(const struct rig *r, uint64_t frame)
{
	const struct stacks *s = r->tl.stacks;
	return strtab_get(&s->strings, s->frames.v[frame].name);
}

/* Whether a wait is for room or for data, for a child's exec or its end, and where a lock of the
 * kernel was taken. */
static void roles_tell_what_is_waited_for(void **state)
{
	static const struct {
		const char *stack, *lock;
		int send, exec;
	} rows[] = {
		{"main;log_line;c:write;[k]ksys_write;[k]pipe_write;[k]schedule", "", 1, 0},
		{"main;next;c:read;[k]ksys_read;[k]pipe_read;[k]schedule", "", 0, 0},
		{"main;reply;c:sendmsg", "", 1, 0},
		/* the application's function has such a name */
		{"main;sendmsg;wait_reply;c:recvmsg;[k]tcp_recvmsg;[k]schedule", "", 0, 0},
		{"main;run;c:vfork;[k]__do_sys_vfork;[k]kernel_clone;[k]schedule", "", 0, 1},
		{"main;run;c:waitpid;[k]kernel_wait4;[k]do_wait;[k]schedule", "", 0, 0},
		{"main;get;c:open64;[k]ext4_iget;[k]mutex_lock;[k]__mutex_lock_slowpath;"
		 "[k]schedule",
		 "ext4_iget", 0, 0},
		{"main;get;c:read;[k]ext4_iget;[k]io_schedule", "", 0, 0},
	};
	struct rig r;
	(void)state;
	rig_init(&r, 1000);
	uint32_t paths[sizeof(rows) / sizeof(*rows)];
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		paths[i] = path(&r, rows[i].stack);
	roles(&r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct told told = {0};
		assert_int_equal(waited_to_send(&r.tl, paths[i]), rows[i].send);
		assert_int_equal(waited_for_exec(&r.tl, paths[i]), rows[i].exec);
		told_lock_name(&told, &r.tl, TL_NONE, paths[i]);
		assert_string_equal(told.v.n ? frame_name_of(&r, told.args.v[0].number) : "",
				    rows[i].lock);
		told_release(&told);
	}
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_tell_what_a_wait_was_for),
		cmocka_unit_test(roles_tell_what_is_waited_for),
		cmocka_unit_test(every_rule_has_a_stack_that_it_matches),
		cmocka_unit_test(what_the_other_did_is_told_by_its_stacks_or_its_name),
		cmocka_unit_test(stops_and_waits_do_not_hide_each_other),
		cmocka_unit_test(bad_rules_are_refused_with_their_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
