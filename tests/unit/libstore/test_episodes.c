/* episodes: ranks in integers, who is in the population, which ones are the tail. */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libstore/episodes.h"

static void ranks_are_exact_where_doubles_are_not(void **state)
{
	(void)state;
	assert_int_equal(percentile_rank(1000, PCT_999), 999);
	assert_int_equal(percentile_rank(10000, PCT_999), 9990);
	assert_int_equal(percentile_rank(12000, PCT_999), 11988);
	assert_int_equal(percentile_rank(1001, PCT_999), 1000);
	assert_int_equal(percentile_rank(1, PCT_999), 1);
	assert_int_equal(percentile_rank(1, 1), 1);
	assert_int_equal(percentile_rank(2, PCT_50), 1);
	assert_int_equal(percentile_rank(3, PCT_50), 2);
	assert_int_equal(percentile_rank(100, PCT_ALL), 100);
	assert_int_equal(percentile_rank(10000, PCT_9999), 9999);
	assert_int_equal(percentile_rank(1ull << 46, PCT_ALL), 1ull << 46);
	/* against the definition: the smallest rank with rank/n ≥ pct */
	for (uint64_t n = 1; n < 3000; n += 7)
		for (uint32_t pct = 1; pct <= PCT_ALL; pct += 997) {
			uint64_t k = percentile_rank(n, pct);
			assert_true(k >= 1 && k <= n && k * PCT_ALL >= n * pct);
			assert_true(k == 1 || (k - 1) * PCT_ALL < n * pct);
		}
}

static void percentages_are_read_exactly(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t pct;
	} good[] = {{"99.9", 99900}, {"50", 50000}, {"99.95", 99950}, {"99.999", 99999},
		    {"100", 100000}, {"0.001", 1},  {"99.990", 99990}};
	static const char *const bad[] = {"",      "0",       "x",  "100.001",     "101", "99.",
					  "9.9.9", "99.9999", "-5", "99999999999", ".5"};
	uint32_t pct;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_true(percentile_parse(good[i].text, &pct));
		assert_int_equal(pct, good[i].pct);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (percentile_parse(bad[i], &pct))
			fail_msg("'%s' was taken", bad[i]);
}

static void add(struct timeline *tl, uint32_t thread, uint64_t start, uint64_t blocked,
		uint64_t runnable, int flags)
{
	struct off o = {.thread = thread,
			.start_ns = start,
			.end_ns = start + blocked + runnable,
			.blocked_ns = blocked,
			.waker = TL_NONE,
			.flags = (uint8_t)flags,
			.cpu_out = (uint16_t)thread,
			.cpu_in = (uint16_t)thread,
			.cpu_wake = TL_NOCPU};
	assert_int_equal(vec_push(&tl->off, o), 0);
}

/* Thread 0: 1000 waits of 1..1000 µs; 1: idle ones; 2: a kernel thread; 3: doubtful ones. */
static void build(struct timeline *tl, struct stacks *st)
{
	assert_int_equal(timeline_init(tl, st), 0);
	for (int i = 0; i < 4; i++) {
		struct tl_thread t = {.pid = 100 + i / 2,
				      .tid = 100 + i,
				      .last_ns = 1ull << 40,
				      .flags = i == 2 ? THREAD_KERNEL : 0};
		assert_int_equal(vec_push(&tl->threads, t), 0);
	}
	for (uint64_t i = 1; i <= 1000; i++)
		add(tl, 0, i * 10000000, i * 1000, 0, 0);
	for (uint64_t i = 1; i <= 10; i++)
		add(tl, 1, i * 10000000, 5000000, i * 100000, OFF_IDLE);
	add(tl, 1, 200000000, 700, 0, OFF_IDLE); /* nothing but idle */
	add(tl, 2, 10000000, 900000000, 0, 0);
	add(tl, 3, 10000000, 90000000, 0, OFF_OPEN);
	add(tl, 3, 200000000, 500, 0, OFF_SUSPECT);
	assert_int_equal(timeline_finish(tl, NULL), 0);
}

static void idle_system_and_doubtful_ones_are_not_in_the_population(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline tl;
	struct episodes x;
	struct population all = {0};
	build(&tl, &st);
	assert_int_equal(episodes_by_wait(&tl, &all, &x, NULL), 0);
	assert_int_equal(x.clean.n, 1010); /* the late wakeups of the idle ones count */
	assert_int_equal(x.idle_hidden, 11);
	assert_int_equal(x.idle_hidden_ns, 50000700);
	assert_int_equal(x.system_hidden, 1);
	assert_int_equal(x.system_hidden_ns, 900000000);
	assert_int_equal(x.open, 1);
	assert_int_equal(x.suspect, 1);
	assert_int_equal(x.doubtful.n, 2);
	/* 1..1000 µs and 100, 200 … 1000 µs: rank ⌈.999 · 1010⌉ = 1009 */
	assert_int_equal(episodes_percentile(&x, PCT_999, 0), 1000000);
	assert_int_equal(episodes_percentile(&x, PCT_ALL, 0), 1000000);
	assert_int_equal(episodes_percentile(&x, PCT_ALL, 1), 90000000);
	episodes_release(&x);
	all.idle = all.system = 1;
	assert_int_equal(episodes_by_wait(&tl, &all, &x, NULL), 0);
	assert_int_equal(x.clean.n, 1012);
	assert_int_equal(x.idle_hidden + x.system_hidden, 0);
	episodes_release(&x);
	timeline_release(&tl);
	stacks_release(&st);
}

static void filters_define_the_population(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline tl;
	struct episodes x;
	static const int32_t tid = 100, pid = 101;
	static const uint32_t cpu = 1;
	build(&tl, &st);
	struct population one = {.tids = &tid, .ntids = 1};
	assert_int_equal(episodes_by_wait(&tl, &one, &x, NULL), 0);
	assert_int_equal(x.clean.n, 1000);
	assert_int_equal(episodes_percentile(&x, PCT_999, 0), 999000);
	assert_int_equal(episodes_percentile(&x, PCT_50, 0), 500000);
	episodes_release(&x);
	struct population process = {.pids = &pid, .npids = 1};
	assert_int_equal(episodes_by_wait(&tl, &process, &x, NULL), 0);
	assert_int_equal(x.clean.n, 0);
	assert_int_equal(x.doubtful.n, 2);
	assert_int_equal(episodes_percentile(&x, PCT_999, 0), 0);
	episodes_release(&x);
	struct population cpus = {.cpus = &cpu, .ncpus = 1};
	assert_int_equal(episodes_by_wait(&tl, &cpus, &x, NULL), 0);
	assert_int_equal(x.clean.n, 10);
	episodes_release(&x);
	/* cut by --time: open on both sides */
	struct population span = {
		.tids = &tid, .ntids = 1, .start_ns = 10000500, .stop_ns = 20001000};
	assert_int_equal(episodes_by_wait(&tl, &span, &x, NULL), 0);
	assert_int_equal(x.clean.n, 0);
	assert_int_equal(x.open, 2);
	assert_int_equal(x.doubtful.v[0].end_ns - x.doubtful.v[0].start_ns, 500);
	assert_int_equal(x.doubtful.v[1].end_ns - x.doubtful.v[1].start_ns, 1000);
	episodes_release(&x);
	timeline_release(&tl);
	stacks_release(&st);
}

static void the_tail_is_the_worst_first(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline tl;
	struct episodes x;
	struct tail t;
	static const int32_t tid = 100;
	struct population one = {.tids = &tid, .ntids = 1};
	build(&tl, &st);
	assert_int_equal(episodes_by_wait(&tl, &one, &x, NULL), 0);
	assert_int_equal(episodes_select(&x, &(struct selection){.pct = PCT_99}, &t, NULL), 0);
	assert_int_equal(t.threshold_ns, 990000);
	assert_int_equal(t.v.n, 11);
	assert_int_equal(t.v.v[0].end_ns - t.v.v[0].start_ns, 1000000);
	assert_int_equal(t.v.v[10].end_ns - t.v.v[10].start_ns, 990000);
	assert_false(t.cannot_say);
	tail_release(&t);
	assert_int_equal(episodes_select(&x, &(struct selection){.over_ns = 995500}, &t, NULL),
			 0);
	assert_int_equal(t.v.n, 5);
	tail_release(&t);
	assert_int_equal(episodes_select(&x, &(struct selection){.top = 3}, &t, NULL), 0);
	assert_int_equal(t.v.n, 3);
	tail_release(&t);
	episodes_release(&x);
	struct population all = {0};
	assert_int_equal(episodes_by_wait(&tl, &all, &x, NULL), 0);
	assert_int_equal(episodes_select(&x, &(struct selection){.over_ns = 5000000}, &t, NULL),
			 0);
	assert_int_equal(t.v.n, 0);
	assert_int_equal(t.doubtful, 1);
	assert_true(t.cannot_say); /* what is that long is cut by the edge */
	tail_release(&t);
	episodes_release(&x);
	timeline_release(&tl);
	stacks_release(&st);
}

static void exhaustion_is_an_error(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline tl;
	struct population all = {0};
	build(&tl, &st);
	for (long n = 0;; n++) {
		struct episodes x;
		struct tail t = {0};
		mem_fail_after(n);
		int r = episodes_by_wait(&tl, &all, &x, NULL);
		if (!r)
			r = episodes_select(&x, &(struct selection){.pct = PCT_50}, &t, NULL);
		mem_fail_after(-1);
		tail_release(&t);
		episodes_release(&x);
		if (!r)
			break;
		assert_int_equal(r, ERR_NOMEM);
		assert_true(n < 1000);
	}
	timeline_release(&tl);
	stacks_release(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_exact_where_doubles_are_not),
		cmocka_unit_test(percentages_are_read_exactly),
		cmocka_unit_test(idle_system_and_doubtful_ones_are_not_in_the_population),
		cmocka_unit_test(filters_define_the_population),
		cmocka_unit_test(the_tail_is_the_worst_first),
		cmocka_unit_test(exhaustion_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
