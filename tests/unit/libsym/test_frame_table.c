/* The table of frame roles: names as rules see them, built-in rules, and those of users. */
#include "tests/lib/unit.h"

#include "libsym/name/frame_table.h"

static struct frame_table *table(void)
{
	struct frame_table *t;
	struct err e = {0};
	if (frame_table_new(&t, &e))
		fail_msg("%s", e.msg);
	return t;
}

static void plain_names(void **state)
{
	static const struct {
		const char *symbol, *plain;
	} row[] = {
		{"main", "main"},
		{"", ""},
		{"__GI___libc_read", "__libc_read"},
		{"pthread_cond_wait@@GLIBC_2.3.2", "pthread_cond_wait"},
		{"__new_sem_wait_slow64.constprop.0", "__new_sem_wait_slow64"},
		{"runtime.futex.abi0", "runtime.futex"},
		{"runtime.(*mcache).refill", "runtime.(*mcache).refill"},
		{"std::condition_variable::wait(std::unique_lock<std::mutex>&)",
		 "std::condition_variable::wait"},
		{"void std::condition_variable::wait<f()::{lambda()#1}>(std::unique_lock&, "
		 "f()::{lambda()#1})",
		 "std::condition_variable::wait"},
		{"node::(anonymous namespace)::PlatformWorkerThread(void*)",
		 "node::PlatformWorkerThread"},
		{"(anonymous namespace)::f(int)", "f"},
		{"<tokio::runtime::park::CachedParkThread>::park::<main::{closure#0}>",
		 "tokio::runtime::park::CachedParkThread::park::"},
		{"<alloc::boxed::Box<dyn FnOnce()> as core::ops::FnOnce<()>>::call_once",
		 "alloc::boxed::Box::call_once"},
		{"std::sys::unix::thread::Thread::new::thread_start::h0123456789abcdef",
		 "std::sys::unix::thread::Thread::new::thread_start"},
		{"std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
		 "std::operator<<"},
		{"operator new(unsigned long)", "operator new"},
		{"f()::{lambda(int)#2}::operator()(int) const", "f"},
		{"worker::{lambda(int)#2}::operator()(int) const", "worker::{}::operator()"},
		{"std::__cxx11::to_string[abi:cxx11](int)", "std::__cxx11::to_string"},
		{"Ljava/util/concurrent/locks/LockSupport;::park",
		 "java.util.concurrent.locks.LockSupport.park"},
		{"void java.lang.Thread.run()", "java.lang.Thread.run"},
		{"StubRoutines (1)", "StubRoutines"},
		{"[unknown]", "[unknown]"},
		{"a<b", "a"},
		{"operator<", "operator<"},
	};
	char out[128];
	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		frame_plain_name(row[i].symbol, out, sizeof(out));
		if (strcmp(out, row[i].plain))
			fail_msg("%s: %s, not %s", row[i].symbol, out, row[i].plain);
	}
	frame_plain_name("abcdef", out, 4);
	assert_string_equal(out, "abc");
}

static void built_in(void **state)
{
	struct frame_table *t = table();
	static const struct {
		unsigned roles;
		int kernel;
		const char *symbol, *dso;
	} row[] = {
		{ROLE_RUNTIME, 0, "pthread_cond_wait@@GLIBC_2.3.2", "/bin/app"},
		{ROLE_RUNTIME, 0, "", "/lib/x86_64-linux-gnu/libc.so.6"},
		{ROLE_RUNTIME, 0, "", "/lib/x86_64-linux-gnu/libc-2.31.so"},
		{0, 0, "", "/usr/lib/libc.sober"},
		{ROLE_RUNTIME | ROLE_START, 0, "start_thread", "/lib/libc.so.6"},
		{ROLE_ROOT_START, 0, "start", "/bin/app"},
		{0, 0, "main", "/bin/app"},
		{0, 0, "sleep_ms", "/bin/app"},
		{0, 0, "write_ns", "/bin/app"},
		{0, 0, "nap", "/bin/app"},
		{ROLE_RUNTIME, 0, "std::mutex::lock()", "/bin/app"},
		{ROLE_TAKES_WORK, 0, "pq_getbyte", "/usr/lib/postgresql/15/bin/postgres"},
		{0, 0, "pq_getbyte", "/bin/app"},
		{ROLE_LIBRARY_LOOP, 0, "uv__io_poll", "/usr/bin/node"},
		{ROLE_TAKES_WORK, 0, "ThreadpoolMgr::WorkerThreadStart(void*)",
		 "/opt/dotnet/libcoreclr.so"},
		{ROLE_LOOP, 0, "worker", "/usr/bin/node"},
		{ROLE_LOOP | ROLE_POLL_LOOP | ROLE_LIBRARY_LOOP, 0, "aeMain",
		 "/usr/bin/redis-server"},
		{ROLE_LIBRARY_LOOP, 0, "aeMain", "/usr/bin/redis-benchmark"},
		{0, 0, "worker", "/bin/app"},
		{ROLE_RUNTIME, 0, "sync.(*Mutex).Lock", "/bin/app"},
		{ROLE_RUNTIME | ROLE_TAKES_WORK, 0, "runtime.stopm", "/bin/app"},
		{ROLE_RUNTIME, 0, "<std::sys::sync::condvar::futex::Condvar>::wait",
		 "/bin/app"},
		{ROLE_RUNTIME | ROLE_WORK_WAIT, 0,
		 "std::thread::join_handle::JoinHandle<T>::join", ""},
		{ROLE_SCHEDULER, 1, "schedule_hrtimeout_range_clock.part.0", "[kernel]"},
		{0, 0, "schedule", "/bin/app"},
		{0, 1, "read", "[kernel.kallsyms]"},
		{ROLE_TAKES_WORK, 1, "fuse_dev_do_read", "[fuse]"},
		{ROLE_HANDLER | ROLE_RUNTIME, 0, "__restore_rt", "libc.so.6"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		unsigned got = frame_roles(t, row[i].kernel, row[i].symbol, row[i].dso);
		if (got != row[i].roles)
			fail_msg("%s in %s: %#x, not %#x", row[i].symbol, row[i].dso, got,
				 row[i].roles);
	}
	frame_table_free(t);
}

static int parse(struct frame_table *t, const char *text, struct err *e)
{
	return frame_table_parse(t, text, strlen(text), "my.rules", e);
}

static void rules_of_users(void **state)
{
	struct frame_table *t = table();
	struct err e = {0};
	(void)state;
	assert_int_equal(parse(t,
			       "# mine\n"
			       "lock kernel=no_rule_of_this_table\n"
			       "loop dso=server serve_forever # its base\n"
			       "wrapper Mutex::lock my_*\n"
			       "runtime dso=libmine.so.* *\n"
			       "application uv_run std::mine::work\n",
			       &e),
			 0);
	assert_int_equal(frame_roles(t, 0, "serve_forever", "/srv/server"), ROLE_LOOP);
	assert_int_equal(frame_roles(t, 0, "serve_forever", "/srv/server2"), 0);
	assert_int_equal(frame_roles(t, 0, "its", "/srv/server"), 0);
	assert_int_equal(frame_roles(t, 0, "Mutex::lock()", ""), ROLE_WRAPPER);
	assert_int_equal(frame_roles(t, 0, "my_lock", ""), ROLE_WRAPPER);
	assert_int_equal(frame_roles(t, 0, "", "/opt/libmine.so.3"), ROLE_RUNTIME);
	assert_int_equal(frame_roles(t, 0, "uv_run", "/l/libuv.so.1"), ROLE_APPLICATION);
	assert_int_equal(frame_roles(t, 0, "std::mine::work", ""), ROLE_APPLICATION);
	frame_table_free(t);
}

static void what_is_no_rule(void **state)
{
	static const struct {
		const char *text, *why;
	} row[] = {
		{"\nloop\n", "my.rules:2: no names: loop"},
		{"loop dso=a", "my.rules:1: no names: loop"},
		{"loop a*b", "my.rules:1: * is for the end of a name: a*b"},
		{"loop a**", "my.rules:1: * is for the end of a name: a**"},
		{"runtime *", "my.rules:1: every name needs a dso=: *"},
		{"runtime dso=a||b c", "my.rules:1: not a mapping's name: a||b"},
		{"runtime dso=* c", "my.rules:1: not a mapping's name: *"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct frame_table *t = table();
		struct err e = {0};
		assert_int_equal(parse(t, row[i].text, &e), ERR_FORMAT);
		assert_string_equal(e.msg, row[i].why);
		frame_table_free(t);
	}
}

static void roles_have_names(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= ROLE_APPLICATION; i <<= 1)
		assert_int_equal(frame_role_named(frame_role_name(i)), i);
	assert_int_equal(frame_role_named("work"), 0);
	assert_string_equal(frame_role_name(3), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names),      cmocka_unit_test(built_in),
		cmocka_unit_test(rules_of_users),   cmocka_unit_test(what_is_no_rule),
		cmocka_unit_test(roles_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
