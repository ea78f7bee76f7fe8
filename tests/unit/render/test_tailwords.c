/* tailwords: what is said of roots on hand-made timelines. */
#include "render/tail/tail_words.h"
#include "base/text/buf.h"
#include "render/tail/site_words.h"
#include "render/tail/told_text.h"
#include "tests/unit/libtime/tailrig.h"

#include <string.h>

/* A lock's holder is pushed off CPU 0 by another thread while `w` waits for the lock;
 * priorities as the kernel's. */
static void say_root(int16_t waiter, int16_t holder, int hogged, struct buf *out)
{
	struct rig r;
	struct explanation x = {0};
	struct err e = {0};
	rig_init(&r, 100000);
	uint32_t w = thread(&r, "w", 101, 1), h = thread(&r, "h", 102, 0),
		 hog = thread(&r, "hog", 103, TL_NOCPU);
	struct offcpu *o =
		off(&r, w, 10000, 50000, 50010, CAUSE_LOCK, "w;ask;c:pthread_mutex_lock");
	woken_by(o, h);
	o->prio_in = waiter;
	o->cpu_out = o->cpu_in = 1;
	o = off(&r, h, 11000, 11000, 48000, CAUSE_PREEMPT, "h;compact");
	o->flags = OFF_RUNNING;
	o->prio_in = holder;
	off(&r, hog, 0, hogged ? 11000 : 48000, hogged ? 11000 : 48000, CAUSE_SLEEP,
	    "hog;c:usleep");
	off(&r, hog, 48000, 99000, 99000, CAUSE_SLEEP, "hog;c:usleep");
	finish(&r);
	struct tail_query q = top(1);
	q.episodes.of.comms = (const char *const[]){"w"};
	q.episodes.of.ncomms = 1;
	struct tail t = make(&r, q);
	assert_int_equal(explain(t.explainer, &t.episodes.v.v[t.rows.v[0].episode], &x, &e), 0);
	buf_clear(out);
	describe_root(out, explainer_evidence(t.explainer), &x);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

static void a_priority_inversion_is_called_by_its_name(void **state)
{
	struct buf b = {0};
	(void)state;
	say_root(79, 139, 0, &b); /* nobody is seen to have had the CPU */
	assert_string_equal(
		buf_cstr(&b),
		"thread h/102 (nice 19) held the lock for 40.0 ms: 37.0 ms waiting "
		"for a CPU (who used it was not recorded), 3.0 ms running unsampled "
		"code; priority inversion: w/101 (real-time priority 20) waited "
		"for a lock held by h/102 (nice 19), which had no CPU");
	say_root(79, 139, 1, &b);
	assert_string_equal(buf_cstr(&b),
			    "thread hog/103 had CPU 0 for 37.0 ms: 37.0 ms running hog(); "
			    "the other 3.0 ms: h/102 3.0 ms running unsampled code; "
			    "priority inversion: w/101 (real-time priority 20) waited for a "
			    "lock held by h/102 (nice 19), which had no CPU");
	say_root(120, 120, 0, &b);
	assert_string_equal(buf_cstr(&b),
			    "thread h/102 held the lock for 40.0 ms: 37.0 ms waiting for a "
			    "CPU (who used it was not recorded), 3.0 ms running unsampled "
			    "code");
	say_root(139, 120, 1, &b);
	assert_null(strstr(buf_cstr(&b), "inversion"));
	buf_release(&b);
}

/* jb, which front waited 40 ms for, did work for `ns` that a thread gave it, or an interrupt.
 */
static void say_behind(uint64_t ns, int interrupt, struct buf *out)
{
	struct rig r;
	struct explanation x = {0};
	rig_init(&r, 100000);
	uint32_t front = thread(&r, "front", 101, 1), jb = thread(&r, "jb", 102, 0),
		 bulk = thread(&r, "bulk", 103, 0);
	woken_by(off(&r, front, 10000, 50000, 50000, CAUSE_COND, "w;ask;c:cond"), jb);
	struct tail t = explain_one(&r, "front", &x);
	assert_int_equal(explanation_root(&x)->thread, jb);
	x.chain.v[x.chain.n - 1].behind =
		(struct behind){.ns = ns, .thread = interrupt ? TL_NONE : bulk};
	buf_clear(out);
	describe_root(out, explainer_evidence(t.explainer), &x);
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
}

static void who_gave_little_work_is_not_behind_it(void **state)
{
	struct buf b = {0};
	(void)state;
	say_behind(40000000, 0, &b);
	assert_non_null(strstr(buf_cstr(&b), "; bulk/103 gave it that work"));
	say_behind(12000000, 0, &b);
	assert_non_null(strstr(buf_cstr(&b), "; bulk/103 gave it work for 12.0 ms"));
	say_behind(12000000, 1, &b);
	assert_non_null(strstr(buf_cstr(&b),
			       "; an interrupt or timer gave it work for 12.0 ms, "
			       "for whom is not recorded"));
	say_behind(1000000, 0, &b);
	assert_null(strstr(buf_cstr(&b), "gave it"));
	say_behind(1000000, 1, &b);
	assert_null(strstr(buf_cstr(&b), "gave it"));
	buf_release(&b);
}

/* A sentence does not drown in arguments of templates; data have the whole name. */
static void long_names_lose_their_template_arguments(void **state)
{
	struct rig r;
	struct explanation x = {0};
	struct buf b = {0};
	(void)state;
	rig_init(&r, 100000);
	uint32_t front = thread(&r, "front", 101, 1);
	const char *stack =
		"w;Book<Order, std::less<Order>, std::allocator<Order> >::match(Order const&);"
		"c:cond";
	struct offcpu *o = off(&r, front, 10000, 50000, 50000, CAUSE_COND, stack);
	uint32_t path = o->path;
	struct tail t = explain_one(&r, "front", &x);
	describe_stack(&b, &r.tl, path, 1);
	assert_string_equal(buf_cstr(&b), "Book<…>::match(Order const&) < ... [cond]");
	explanation_release(&x);
	tail_release(&t);
	rig_release(&r);
	buf_release(&b);
}

static void keep_line(void *ctx, const char *line)
{
	buf_str(ctx, line);
}

static void says(const struct timeline *tl, const char *want)
{
	struct buf b = {0};
	describe_missing(tl, MISSING_SAMPLES, keep_line, &b);
	assert_string_equal(buf_cstr(&b), want);
	buf_release(&b);
}

/* What to record depends on whether samples were recorded at all. */
static void unsampled_code_asks_for_samples_or_for_more(void **state)
{
	struct rig r;
	struct tl_sample s = {.time_ns = 1000};
	(void)state;
	rig_init(&r, 1000);
	says(&r.tl, "no CPU samples were recorded; -e cpu-clock/freq=1999/ shows what ran");
	assert_int_equal(bigvec_push(&r.tl.samples, s, NULL), 0);
	says(&r.tl,
	     "no sample fell where the root cause ran; with more samples (perfkit record "
	     "-F 1999) one may");
	rig_release(&r);
}

/* Which process has the stacks is counted; nothing is said where all or none have any. */
static void the_process_with_stacks_is_named(void **state)
{
	struct rig r;
	struct buf b = {0};
	struct tl_event ev = {.tracepoint = 1};
	(void)state;
	rig_init(&r, 100000);
	uint32_t own = thread(&r, "own", 100, 0), other = thread(&r, "other", 7, 1);
	r.tl.threads.v[other].pid = 7;
	for (uint64_t i = 0; i < 9; i++)
		off(&r, own, 1000 * i, 1000 * i + 100, 1000 * i + 200, CAUSE_SLEEP, "own;nap");
	off(&r, other, 500, 600, 700, CAUSE_SLEEP, "other;nap");
	ev.name = text(&r, "sched:sched_switch");
	assert_int_equal(vec_push(&r.tl.events, ev), 0);
	assert_int_equal(describe_chosen(&b, &r.tl), 0);
	ev.stacks = STACKS_DWARF;
	assert_int_equal(vec_push(&r.tl.events, ev), 0);
	assert_int_equal(describe_chosen(&b, &r.tl), 1);
	assert_string_equal(buf_cstr(&b),
			    "only chosen threads were recorded with stacks, those of "
			    "process 100 (own); add --pid 100 to ask about it");
	buf_clear(&b);
	off(&r, other, 800, 850, 900, CAUSE_SLEEP, "other;nap"); /* 9 of 11 */
	assert_int_equal(describe_chosen(&b, &r.tl), 1);
	assert_string_equal(buf_cstr(&b),
			    "only chosen threads were recorded with stacks: ask about them "
			    "with --comm or --pid");
	buf_release(&b);
	rig_release(&r);
}

static void a_long_name_keeps_its_own(void **state)
{
	static const struct {
		const char *name, *words;
	} rows[] = {
		{"spin_lock", "spin_lock()"},
		{"OrderBook::insert(Order const&)", "OrderBook::insert(Order const&)"},
		{"exchange::engine::matching::OrderBook<Order, std::less<Order> >::insert",
		 "matching::OrderBook<…>::insert()"},
		{"a_function_of_c_whose_name_is_longer_than_that",
		 "a_function_of_c_whose_name_is_longer_than_that()"},
		{"<alloc::collections::btree::map::IntoIter<u64, T> as "
		 "core::ops::drop::Drop>::drop",
		 "drop()"},
		{"an\033other", "an␛other()"},
		{"", "[unknown]"},
	};
	struct buf b = {0};
	struct rig r;
	(void)state;
	rig_init(&r, 1000);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct frame f = {.name = text(&r, rows[i].name)};
		uint32_t id;
		assert_int_equal(stacks_frame(&r.stacks, &f, &id), 0);
		buf_clear(&b);
		struct told x = {.failed = 0};
		TELL(&x, SLOW_IN, arg_frame("function", TOLD_SHORT, id));
		told_text(&b, &r.tl, &x, 0, 1, BRIEF_NOT);
		assert_string_equal(buf_cstr(&b) + 1, rows[i].words);
		told_release(&x);
	}
	buf_release(&b);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_priority_inversion_is_called_by_its_name),
		cmocka_unit_test(who_gave_little_work_is_not_behind_it),
		cmocka_unit_test(long_names_lose_their_template_arguments),
		cmocka_unit_test(a_long_name_keeps_its_own),
		cmocka_unit_test(the_process_with_stacks_is_named),
		cmocka_unit_test(unsampled_code_asks_for_samples_or_for_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
