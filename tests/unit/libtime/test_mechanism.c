/* mechanism: what stacks are for, by the built-in rules and by others. */
#include "tests/unit/libtime/tailrig.h"

#include "libtime/causes/mechanism.h"

static const char *words(struct mechanisms *m, uint32_t path, uint32_t waker_path)
{
	const struct mechanism *is = mechanism_of(m, path, waker_path);
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
	assert_null(mechanism_of(m, fork, 0));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_tell_what_a_wait_was_for),
		cmocka_unit_test(what_the_other_did_is_told_by_its_stacks_or_its_name),
		cmocka_unit_test(bad_rules_are_refused_with_their_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
