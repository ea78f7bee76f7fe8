/* syscalls: numbers are named as this system's headers name them; futex by its operation. */
#include "tests/lib/unit.h"

#include "libtime/sched/syscalls.h"
#include "libtime/sched/timeline.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
#define HERE "x86_64"
#elif defined(__aarch64__)
#define HERE "aarch64"
#endif

#define SAME(call)                                                         \
	do {                                                               \
		assert_int_equal(syscall_name(HERE, SYS_##call, text), 1); \
		assert_string_equal(text, #call);                          \
	} while (0)

static void numbers_are_those_of_the_kernels_headers(void **state)
{
	(void)state;
#ifdef HERE
	char text[SYSCALL_TEXT];
	SAME(read);
	SAME(futex);
	SAME(wait4);
	SAME(fsync);
	SAME(rt_sigtimedwait);
	SAME(clock_nanosleep);
	SAME(semtimedop);
	SAME(recvfrom);
	SAME(accept4);
	SAME(io_uring_enter);
	SAME(clone3);
	SAME(faccessat2);
#else
	skip_because("neither x86-64 nor arm64");
#endif
}

static void another_architecture_has_other_numbers(void **state)
{
	(void)state;
	char text[SYSCALL_TEXT];
	assert_int_equal(syscall_name("x86_64", 202, text), 1);
	assert_string_equal(text, "futex");
	assert_int_equal(syscall_name("aarch64", 98, text), 1);
	assert_string_equal(text, "futex");
	assert_int_equal(syscall_name("arm64", 260, text), 1);
	assert_string_equal(text, "wait4");
	assert_int_equal(syscall_name("s390x", 238, text), 0);
	assert_string_equal(text, "");
	assert_int_equal(syscall_name("x86_64", 380, text), 0); /* in a gap */
	assert_int_equal(syscall_name("x86_64", -1, text), 0);
	assert_int_equal(syscall_name("x86_64", 1 << 30, text), 0);
}

static void futex_tells_its_operation(void **state)
{
	(void)state;
	char text[SYSCALL_TEXT];
	syscall_text("futex", 202, FUTEX_WAIT_PRIVATE, text);
	assert_string_equal(text, "futex:wait");
	syscall_text("futex", 202, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, text);
	assert_string_equal(text, "futex:wait_bitset");
	syscall_text("futex", 202, 99, text);
	assert_string_equal(text, "futex");
	syscall_text("futex", 202, -1, text);
	assert_string_equal(text, "futex");
	syscall_text("", 999, -1, text);
	assert_string_equal(text, "999");
	syscall_text("read", 0, 3, text);
	assert_string_equal(text, "read");
}

/* A store may name another one for each of its intervals. */
static void texts_without_end_do_not_take_the_square_of_time(void **state)
{
	enum { DISTINCT = 70000, MANY = 2000000 };
	struct stacks st = {0};
	struct timeline tl;
	clock_t before = clock();
	(void)state;
	assert_int_equal(timeline_init(&tl, &st), 0);
	for (unsigned i = 0; i < MANY; i++) {
		char call[24];
		uint16_t at;
		unsigned n = i % DISTINCT;
		snprintf(call, sizeof(call), "call%u", n);
		assert_int_equal(timeline_syscall(&tl, call, &at), 0);
		if (at != (n < UINT16_MAX ? n + 1 : 0)) /* [0] is "" */
			fail_msg("%s is %u", call, at);
	}
	timeline_release(&tl);
	stacks_release(&st);
	assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_the_kernels_headers),
		cmocka_unit_test(another_architecture_has_other_numbers),
		cmocka_unit_test(futex_tells_its_operation),
		cmocka_unit_test(texts_without_end_do_not_take_the_square_of_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
