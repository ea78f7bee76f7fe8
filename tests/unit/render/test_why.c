/* tail_answer: which unclear waits rank with work, and what the sentence says by general
 * evidence. */
#include "render/tail/tail_answer.h"
#include "render/tail/tail_json.h"
#include "render/tail/tail_words.h"
#include "tests/unit/libtime/tailrig.h"

enum { REST = 1, ASK = 2 };

static void add_sites(struct rig *r)
{
	uint32_t at = path(r, "main;loop"), frame = r->stacks.paths.v[at].frame;
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			vec_push(&r->tl.sites, ((struct tl_site){.verdict = SITE_UNCLEAR,
								 .frame = frame,
								 .reason = REASON_NOTHING})),
			0);
}

static void unclear(struct offcpu *o, uint32_t site)
{
	o->site = site;
	o->flags |= OFF_UNCLEAR;
}

static struct tail_query of_front(uint64_t top)
{
	static const char *const front = "front";
	struct tail_query q = {.pick = {.kind = PICK_TOP, .top = top}};
	q.episodes.of.comms = &front;
	q.episodes.of.ncomms = 1;
	q.episodes.of.ranked = 1;
	return q;
}

/* The answer, and the name of its first group. */
static void says_group(struct rig *r, struct tail_query q, const char *sentence,
		       const char *group)
{
	struct buf b = {0};
	finish(r);
	struct tail t = make(r, q);
	assert_int_equal(tail_answer(&b, &t, NULL), 0);
	assert_string_equal(buf_cstr(&b), sentence);
	buf_clear(&b);
	if (group) {
		describe_group(&b, &t, t.groups.v);
		assert_string_equal(buf_cstr(&b), group);
	}
	tail_release(&t);
	buf_release(&b);
	rig_release(r);
}

static void says(struct rig *r, struct tail_query q, const char *sentence)
{
	says_group(r, q, sentence, NULL);
}

/* front rests every ms; four times another wait, for `report`, is in between. */
static void the_wait_where_a_thread_rests_does_not_rank(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 100000);
	add_sites(&r);
	uint32_t front = thread(&r, "front", 1, 0), report = thread(&r, "report", 2, 1);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 1000 + 2000 * i;
		unclear(off(&r, front, at, at + 900, at + 900, CAUSE_COND, "main;loop"), REST);
		if (i % 10)
			continue;
		struct offcpu *o = off(&r, front, at + 950, at + 1900, at + 1900, CAUSE_COND,
				       "main;borrow");
		unclear(o, ASK);
		woken_by(o, report);
	}
	off(&r, report, 90000, 100000, 100000, CAUSE_SLEEP, "main;build");
	says(&r, of_front(4),
	     "4 of 4 worst waits of front: front waited in borrow() for a condition, which "
	     "report "
	     "signalled; it was running build().");
}

/* Without a habit nothing shows which of a thread's waits are for something. */
static void few_waits_show_no_habit(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 100000);
	add_sites(&r);
	uint32_t front = thread(&r, "front", 1, 0);
	unclear(off(&r, front, 1000, 50000, 50000, CAUSE_COND, "main;loop"), REST);
	unclear(off(&r, front, 60000, 70000, 70000, CAUSE_COND, "main;borrow"), ASK);
	says(&r, of_front(4), "");
}

static void a_stop_is_said_with_who_ended_it(void **state)
{
	static const struct {
		const char *stack, *sentence, *group;
	} stops[] = {
		{"main;work;[k]get_signal;[k]do_signal_stop;[k]schedule",
		 "The worst wait of front: front was stopped by a signal until pauser "
		 "resumed it; "
		 "pauser was asleep in nap().",
		 "pauser: resumed it, asleep in nap()"},
		{"main;work;[k]get_signal;[k]schedule",
		 "The worst wait of front: front was frozen with a cgroup until pauser "
		 "thawed it; "
		 "pauser was asleep in nap().",
		 "pauser: thawed it, asleep in nap()"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(stops) / sizeof(*stops); i++) {
		struct rig r;
		rig_init(&r, 10000);
		uint32_t front = thread(&r, "front", 1, 0), pauser = thread(&r, "pauser", 2, 1);
		woken_by(off(&r, front, 1000, 5000, 5000, CAUSE_STOPPED, stops[i].stack),
			 pauser);
		off(&r, pauser, 900, 4950, 4950, CAUSE_SLEEP, "main;nap");
		says_group(&r, of_front(1), stops[i].sentence, stops[i].group);
	}
}

static void a_lock_of_the_kernel_is_named_by_who_takes_it(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 10000);
	uint32_t front = thread(&r, "front", 1, 0), other = thread(&r, "other", 2, 1);
	woken_by(off(&r, front, 1000, 5000, 5000, CAUSE_LOCK,
		     "main;ask;[k]ext4_iget;[k]mutex_lock;[k]schedule"),
		 other);
	off(&r, other, 900, 4950, 4950, CAUSE_SLEEP, "main;nap");
	says(&r, of_front(1),
	     "The worst wait of front: other held the lock that front wanted in ask() (taken "
	     "in "
	     "ext4_iget()), asleep in nap().");
}

/* Three roots, one holder. */
static void one_holder_is_said_whatever_it_did(void **state)
{
	static const char *const did[] = {"main;nap", "main;nap", "main;flush", "main;sort"};
	struct rig r;
	(void)state;
	rig_init(&r, 100000);
	uint32_t front = thread(&r, "front", 1, 0), other = thread(&r, "other", 2, 1);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t at = 1000 + 20000 * i;
		woken_by(off(&r, front, at, at + 5000, at + 5000, CAUSE_LOCK,
			     "main;ask;c:lll_lock_wait"),
			 other);
		off(&r, other, at - 100, at + 4950, at + 4950, CAUSE_SLEEP, did[i]);
	}
	says(&r, of_front(4),
	     "4 of 4 worst waits of front: other held the lock that front wanted in ask(), in "
	     "2 of "
	     "them asleep in nap().");
}

/* Four times front waits for a lock that one of two threads let go, which waited for it itself
 * until shortly before; once nobody is known to have ended that. */
static void the_last_holder_is_that_of_as_many_as_it_says(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 100000);
	uint32_t front = thread(&r, "front", 1, 0),
		 by[] = {thread(&r, "render", 2, 1), thread(&r, "render", 3, 1)};
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t at = 1000 + 20000 * i;
		struct offcpu *o = off(&r, front, at, at + 5000, at + 5000, CAUSE_LOCK,
				       "main;ask;c:lll_lock_wait");
		if (i < 3)
			woken_by(o, by[i % 2]);
		off(&r, by[i % 2], at - 100, at + 4900, at + 4900, CAUSE_LOCK,
		    "main;ask;c:lll_lock_wait");
	}
	says(&r, of_front(4),
	     "4 of 4 worst waits of front: waiting for a lock in ask(), which one of 2 threads "
	     "named render let go last in 3 of them.");
}

/* Neither lock has a name. */
static void locks_of_two_places_are_not_one(void **state)
{
	static const char *const stacks[] = {"main;ask;c:lll_lock_wait",
					     "main;tell;c:lll_lock_wait"};
	static const char *const did[] = {"main;nap", "main;flush"};
	struct rig r;
	(void)state;
	rig_init(&r, 100000);
	uint32_t front = thread(&r, "front", 1, 0), other = thread(&r, "other", 2, 1);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t at = 1000 + 20000 * i, ns = i < 3 ? 5000 : 4000;
		woken_by(off(&r, front, at, at + ns, at + ns, CAUSE_LOCK, stacks[i / 3]),
			 other);
		off(&r, other, at - 100, at + ns - 50, at + ns - 50, CAUSE_SLEEP, did[i / 3]);
	}
	says(&r, of_front(4),
	     "3 of 4 worst waits of front: other held the lock that front wanted in ask(), "
	     "asleep in nap().");
}

/* Forty cycles; in ten, which take 15 ms of CPU time, a thread of that name has no CPU for
 * `lacks` µs. */
static void add_cycles(struct rig *r, const char *name, uint64_t lacks)
{
	rig_init(r, 300000);
	add_sites(r);
	uint32_t front = thread(r, "front", 1, 0), other = thread(r, name, 2, 1);
	uint64_t at = 1000;
	for (int i = 0; i < 40; i++) {
		unclear(off(r, front, at, at + 900, at + 1000, CAUSE_SLEEP, "main;loop"), REST);
		if (i % 4 == 0 && lacks)
			off(r, other, at + 1000, at + 1000, at + 1000 + lacks, CAUSE_PREEMPT,
			    "main;flush")
				->flags = OFF_RUNNING;
		at += i % 4 ? 2000 : 16000;
	}
}

/* A sample of front each ms of the slow cycles: of each ten the first `n` in `stack`, the
 * others in parse; in the last cycle all there. */
static void add_cycle_samples(struct rig *r, const char *stack, uint64_t n)
{
	for (uint64_t i = 0; i < 10; i++)
		for (uint64_t k = 0; k < 10; k++) {
			struct tl_sample s = {.time_ns = (2500 + 22000 * i + 1000 * k) * 1000,
					      .thread = 0,
					      .cpu = 0};
			s.path = path(r, k < n && i < 9 ? stack : "main;parse");
			assert_int_equal(bigvec_push(&r->tl.samples, s, NULL), 0);
		}
}

static void slow_says(struct rig *r, const char *sentence, const char *json)
{
	struct tail_query q = of_front(0);
	q.pick = (struct episode_pick){
		.kind = PICK_PERCENTILE, .millipercent = 99900, .least = PICK_LEAST};
	struct buf b = {0};
	finish(r);
	struct tail t = make(r, q);
	assert_int_equal(tail_answer(&b, &t, NULL), 0);
	if (strncmp(buf_cstr(&b), sentence, strlen(sentence)))
		fail_msg("%s", buf_cstr(&b));
	buf_clear(&b);
	assert_int_equal(tailjson_write(&b, &t, 0, 1, NULL), 0);
	const char *slow = strstr(buf_cstr(&b), "\"slow_cycles\"");
	assert_non_null(slow);
	if (strncmp(slow, json, strlen(json)))
		fail_msg("%.400s", slow);
	tail_release(&t);
	buf_release(&b);
	rig_release(r);
}

static void slow_time_that_ran_is_said_first(void **state)
{
	struct rig r;
	(void)state;
	add_cycles(&r, "holder", 15000);
	slow_says(&r,
		  "10 of 10 slowest cycles of front were 99 % running, while holder had no "
		  "CPU. ",
		  "\"slow_cycles\":{\"count\":10,\"alike\":10,\"comm\":\"front\",\"ns\":"
		  "151000000,\"run_ns\":150000000,\"function\":null,\"samples\":0,"
		  "\"in_function\":0,\"mechanism\":null,\"without_cpu\":{\"tid\":2,\"comm\":"
		  "\"holder\",\"ns\":"
		  "150000000}}");
}

/* The shares are those of the cycles that ran the function. */
static void slow_time_is_of_the_cycles_that_it_counts(void **state)
{
	struct rig r;
	(void)state;
	add_cycles(&r, "holder", 12000);
	add_cycle_samples(&r, "main;spin", 8);
	slow_says(&r,
		  "9 of 10 slowest cycles of front were 99 % running, 80 % of samples in "
		  "spin(), while "
		  "holder had no CPU for 80 % of it. ",
		  "\"slow_cycles\":{\"count\":10,\"alike\":9,\"comm\":\"front\",\"ns\":"
		  "135900000,\"run_ns\":135000000,\"function\":\"spin\",\"samples\":90,"
		  "\"in_function\":72,\"mechanism\":null,\"without_cpu\":{\"tid\":2,\"comm\":"
		  "\"holder\","
		  "\"ns\":108000000}}");
}

static void a_thread_of_the_same_name_without_a_cpu_is_another(void **state)
{
	struct rig r;
	(void)state;
	add_cycles(&r, "front", 14000);
	slow_says(&r,
		  "10 of 10 slowest cycles of front were 99 % running, while another thread "
		  "named front had no CPU for 93 % of it. ",
		  "\"slow_cycles\":{");
}

/* It lacked a CPU for less than half of the time. */
static void a_thread_without_a_cpu_for_a_while_explains_nothing(void **state)
{
	struct rig r;
	(void)state;
	add_cycles(&r, "holder", 7000);
	slow_says(&r, "10 of 10 slowest cycles of front were 99 % running. ",
		  "\"slow_cycles\":{");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wait_where_a_thread_rests_does_not_rank),
		cmocka_unit_test(few_waits_show_no_habit),
		cmocka_unit_test(a_stop_is_said_with_who_ended_it),
		cmocka_unit_test(a_lock_of_the_kernel_is_named_by_who_takes_it),
		cmocka_unit_test(one_holder_is_said_whatever_it_did),
		cmocka_unit_test(the_last_holder_is_that_of_as_many_as_it_says),
		cmocka_unit_test(locks_of_two_places_are_not_one),
		cmocka_unit_test(slow_time_that_ran_is_said_first),
		cmocka_unit_test(slow_time_is_of_the_cycles_that_it_counts),
		cmocka_unit_test(a_thread_of_the_same_name_without_a_cpu_is_another),
		cmocka_unit_test(a_thread_without_a_cpu_for_a_while_explains_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
