/*
 * tailgroups: what the worst episodes have in common, on hand-made timelines.
 */
#include "tests/unit/libtime/tailrig.h"

#include <time.h>

static void equal_roots_are_one_group_and_periods_are_seen(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 1000000);
	uint32_t w = thread(&r, "w", 101, 0);
	for (unsigned i = 0; i < 8; i++) {
		unsigned at = 1000 + i * 100000 + i % 2 * 300;
		off(&r, w, at, at + 5000 + i, at + 5000 + i, CAUSE_IO, "w;flush;c:fsync");
		off(&r, w, at + 20000, at + 20001, at + 20001, CAUSE_SLEEP, "w;c:nanosleep");
	}
	finish(&r);
	struct tail t = make(&r, top(8));
	assert_int_equal(t.groups.n, 1);
	assert_int_equal(t.groups.v[0].count, 8);
	assert_int_equal(t.groups.v[0].ns, (8 * 5000 + 28) * 1000);
	assert_int_equal(t.recurrence.occurrences, 8);
	assert_int_equal(t.recurrence.rate.fitting, 7);
	assert_in_range(t.recurrence.rate.ns, 99000000, 101000000);
	assert_int_equal(t.recurrence.pause.ns, 0);
	assert_int_equal(t.recurrence.together, 0);
	tail_release(&t);
	rig_release(&r);
}

/* The longest is another matter, although it waited in the same function for the same cause. */
static void waits_by_another_mechanism_are_another_group(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 1000000);
	uint32_t w = thread(&r, "w", 101, 0);
	for (unsigned i = 0; i < 6; i++) {
		unsigned at = 1000 + i * 100000;
		off(&r, w, at, at + 5000 + i, at + 5000 + i, CAUSE_IO,
		    i < 5 ? "w;save;[k]balance_dirty_pages;[k]io_schedule_timeout"
			  : "w;save;[k]folio_wait_bit;[k]io_schedule");
	}
	finish(&r);
	struct tail t = make(&r, top(6));
	assert_int_equal(t.groups.n, 2);
	assert_int_equal(t.groups.v[0].count, 5);
	assert_string_equal(t.rows.v[t.groups.v[0].row].root.mechanism->name, "dirty-pages");
	assert_null(t.rows.v[t.groups.v[1].row].root.mechanism);
	tail_release(&t);
	rig_release(&r);
}

/* Every 100 ms the flusher's lock, behind which the disk is; at other times other threads'. */
static void the_rhythm_of_one_offender_is_told_apart(void **state)
{
	static const unsigned other[] = {37, 184, 253, 333, 490, 522, 690, 740, 860, 955};
	struct rig r;
	(void)state;
	rig_init(&r, 1200000);
	uint32_t w = thread(&r, "w", 101, 0), flusher = thread(&r, "flusher", 102, 1),
		 misc = thread(&r, "misc", 103, 1);
	for (unsigned i = 0; i < 10; i++) {
		unsigned at = 10000 + i * 100000, then = other[i] * 1000;
		woken_by(off(&r, w, at, at + 5000, at + 5000, CAUSE_LOCK, "w;append"), flusher);
		woken_by(off(&r, w, then, then + 7000, then + 7000, CAUSE_COND, "w;ask"), misc);
		off(&r, flusher, at, at + 4900, at + 4900, CAUSE_IO, "flusher;flush;c:fsync");
	}
	finish(&r);
	struct tail_query q = top(20);
	q.episodes.of.comms = (const char *const[]){"w"};
	q.episodes.of.ncomms = 1;
	q.group_by = GROUP_HOLDER;
	struct tail t = make(&r, q);
	assert_false(recurrence_found(&t.recurrence));
	assert_int_equal(t.nrecurrences, 1);
	assert_string_equal(name(&r, t.recurrences[0].comm), "flusher");
	assert_int_equal(t.recurrences[0].count, 10);
	assert_in_range(t.recurrences[0].recurrence.rate.ns, 99000000, 101000000);
	assert_int_equal(t.groups.n, 2);
	assert_int_equal(t.rows.v[t.groups.v[0].row].holder.kind, HOLDER_WAKER);
	assert_int_equal(t.rows.v[t.groups.v[1].row].holder.kind, HOLDER_LOCK);
	assert_string_equal(function(&r, t.rows.v[t.groups.v[1].row].holder.function), "flush");
	tail_release(&t);
	rig_release(&r);
}

/* Preempted by the same thread, whose code no sample saw: the function it left the CPU in is
 * known for some. */
static void unseen_code_is_one_group_named_as_most_of_it(void **state)
{
	(void)state;
	for (int named = 0; named <= 5; named++) {
		struct rig r;
		rig_init(&r, 10000);
		uint32_t victim = thread(&r, "victim", 1, 0),
			 hog = thread(&r, "hog", 2, TL_NOCPU);
		for (int i = 0; i < 5; i++) {
			uint64_t at = 1000 * (uint64_t)(i + 1);
			off(&r, victim, at, at, at + 100, CAUSE_PREEMPT, "main;work")->flags =
				OFF_RUNNING;
			off(&r, hog, i ? at - 900 : 0, i ? at - 900 : 0, at, CAUSE_SLEEP,
			    i && i - 1 < named ? "main;spin;[k]schedule" : "[k]schedule");
		}
		off(&r, hog, 5100, 9000, 9000, CAUSE_SLEEP,
		    4 < named ? "main;spin;[k]schedule" : "[k]schedule");
		finish(&r);
		struct tail_query q = top(5);
		q.episodes.of.comms = (const char *const[]){"victim"};
		q.episodes.of.ncomms = 1;
		struct tail t = make(&r, q);
		assert_int_equal(t.groups.n, 1);
		assert_int_equal(t.groups.v[0].count, 5);
		assert_int_equal(t.groups.v[0].unnamed, named < 3);
		if (named >= 3)
			assert_string_equal(
				function(&r, t.rows.v[t.groups.v[0].row].root.function),
				"spin");
		tail_release(&t);
		rig_release(&r);
	}
}

/* A sample at that time, of CPU time. */
static void sample(struct rig *r, uint32_t t, uint64_t at, const char *stack)
{
	struct tl_sample s = {.time_ns = at * 1000,
			      .period = 1000000,
			      .thread = t,
			      .comm = r->tl.threads.v[t].comm,
			      .path = path(r, stack)};
	assert_int_equal(bigvec_push(&r->tl.samples, s, NULL), 0);
}

/* One offender runs rebuild(), which calls burn(), which calls now(): what samples meet is
 * chance. */
static void code_and_what_it_calls_is_one_group(void **state)
{
	static const char *const met[][4] = {
		{"main;loop;rebuild;burn;now", "main;loop;rebuild;burn;now",
		 "main;loop;rebuild;burn;now", "main;loop;rebuild;burn;now"},
		{"main;loop;rebuild;burn", "main;loop;rebuild;burn;now",
		 "main;loop;rebuild;burn", "main;loop;rebuild;burn;now"},
		{"main;loop;rebuild;burn", "main;loop;rebuild;check", "main;loop;rebuild;check",
		 "main;loop;rebuild;burn;now"},
		{"main;loop;rebuild;c:qsort;c:msort;compare",
		 "main;loop;rebuild;c:qsort;c:msort;compare",
		 "main;loop;rebuild;c:qsort;c:msort;compare",
		 "main;loop;rebuild;c:qsort;c:msort;compare"},
		{"main;loop;report", "main;loop;report", "main;loop;report",
		 "main;loop;report"},
	};
	static const char *const function_of[] = {"now", "burn", "rebuild", "compare",
						  "report"};
	enum { EACH = sizeof(met) / sizeof(*met) };
	struct rig r;
	(void)state;
	rig_init(&r, 100000);
	uint32_t w = thread(&r, "w", 101, 0), other = thread(&r, "other", 102, 1);
	for (unsigned i = 0; i < EACH; i++) {
		uint64_t at = 10000 + i * 10000;
		woken_by(off(&r, w, at, at + 4000 - i, at + 4000 - i, CAUSE_LOCK, "w;ask"),
			 other);
		for (unsigned k = 0; k < 4; k++)
			sample(&r, other, at + 500 + k * 1000, met[i][k]);
		off(&r, other, at + 5000, at + 9000, at + 9000, CAUSE_SLEEP,
		    "main;loop;c:usleep");
	}
	finish(&r);
	struct tail_query q = top(EACH);
	q.episodes.of.comms = (const char *const[]){"w"};
	q.episodes.of.ncomms = 1;
	struct tail t = make(&r, q);
	assert_int_equal(t.rows.n, EACH);
	for (unsigned i = 0; i < EACH; i++)
		assert_string_equal(function(&r, t.rows.v[i].root.function), function_of[i]);
	assert_int_equal(t.groups.n, 2);
	assert_int_equal(t.groups.v[0].count, 4);
	assert_string_equal(function(&r, t.rows.v[t.groups.v[0].row].root.function), "rebuild");
	assert_string_equal(function(&r, t.rows.v[t.groups.v[1].row].root.function), "report");
	tail_release(&t);
	rig_release(&r);
}

static double make_and_release(struct rig *r, struct tail_query q, size_t groups)
{
	clock_t before = clock();
	struct tail t = make(r, q);
	assert_int_equal(t.groups.n, groups);
	tail_release(&t);
	return (double)(clock() - before) / CLOCKS_PER_SEC;
}

enum { AT_MOST = 20 /* s; what walks through all of them for each takes twice that */ };

/* As many threads, each held up by one of its own that nobody saw at work. */
static void groups_of_unseen_code_do_not_take_the_square_of_time(void **state)
{
	enum { MANY = 80000 };
	struct rig r;
	char comm[16];
	(void)state;
	rig_init(&r, 1000000);
	for (int i = 0; i < MANY; i++)
		thread(&r, "w", i + 1, 0);
	for (int i = 0; i < MANY; i++) {
		snprintf(comm, sizeof(comm), "c%d", i);
		uint32_t by = thread(&r, comm, MANY + i + 1, 1);
		woken_by(off(&r, (uint32_t)i, 1000, 2000, 2000, CAUSE_COND, ""), by);
	}
	finish(&r);
	assert_true(make_and_release(&r, top(MANY), MANY) < AT_MOST);
	rig_release(&r);
}

/* A thread that never rested, and waited at as many places. */
static void parts_of_an_episode_do_not_take_the_square_of_time(void **state)
{
	enum { MANY = 300000 };
	struct rig r;
	char stack[32];
	(void)state;
	rig_init(&r, 10 * MANY);
	uint32_t w = thread(&r, "w", 1, 0);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(stack, sizeof(stack), "main;f%u", i);
		off(&r, w, 10 * i + 1, 10 * i + 5, 10 * i + 5, CAUSE_IO, stack);
	}
	struct tl_span s = {
		.end_ns = 10000ull * MANY, .name = text(&r, "all"), .parent = TL_NONE};
	assert_int_equal(vec_push(&r.tl.spans, s), 0);
	finish(&r);
	struct tail_query q = top(1);
	q.episodes.kind = EPISODE_SPAN;
	q.episodes.span = s.name;
	assert_true(make_and_release(&r, q, 1) < AT_MOST);
	rig_release(&r);
}

static void lock_mark(struct rig *r, uint32_t t, uint64_t us, const char *fields)
{
	struct tl_mark m = {.time_ns = us * 1000,
			    .name = text(r, "probe:lock_wait"),
			    .text = text(r, fields),
			    .thread = t};
	assert_int_equal(vec_push(&r->tl.marks, m), 0);
}

/* Many that wait for a lock, which two others have in turns. */
static void owners_of_a_lock_do_not_take_the_square_of_time(void **state)
{
	enum { MANY = 16000 };
	struct rig r;
	(void)state;
	rig_init(&r, 1000000);
	for (uint32_t i = 0; i < MANY; i++) {
		thread(&r, "w", (int)i + 1000, 0);
		lock_mark(&r, i, 999, "mutex=0x10 owner=99");
	}
	uint32_t a = thread(&r, "a", 98, 0);
	thread(&r, "b", 99, 1);
	for (uint32_t i = 0; i < MANY; i++)
		woken_by(off(&r, i, 1000, 90000, 90000, CAUSE_LOCK, "w;take"), a);
	for (unsigned i = 0; i < 300; i++)
		lock_mark(&r, a, 2000 + i,
			  i % 2 ? "mutex=0x10 owner=99" : "mutex=0x10 owner=98");
	finish(&r);
	assert_true(make_and_release(&r, top(MANY), 1) < AT_MOST);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_roots_are_one_group_and_periods_are_seen),
		cmocka_unit_test(waits_by_another_mechanism_are_another_group),
		cmocka_unit_test(the_rhythm_of_one_offender_is_told_apart),
		cmocka_unit_test(unseen_code_is_one_group_named_as_most_of_it),
		cmocka_unit_test(code_and_what_it_calls_is_one_group),
		cmocka_unit_test(groups_of_unseen_code_do_not_take_the_square_of_time),
		cmocka_unit_test(parts_of_an_episode_do_not_take_the_square_of_time),
		cmocka_unit_test(owners_of_a_lock_do_not_take_the_square_of_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
