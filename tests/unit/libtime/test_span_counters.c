/* span_counters: readings at begins and ends, and what spans must have counted. */
#include "tests/lib/unit.h"

#include "libtime/sched/timeline_spans.h"
#include "libtime/spans/span_counters.h"

enum { NAME = 7, KIND = 1, THREAD = 0, BEGIN = 10, END = 11 };

struct rig {
	struct timeline tl;
	struct span_counters c;
	uint32_t spans;
};

static struct span_reading reading(uint32_t group, uint64_t value)
{
	struct span_reading r = {.group = group, .n = 1};
	r.name[0] = NAME;
	r.value[0] = value;
	return r;
}

/* A call between two readings. */
static void call(struct rig *r, struct span_reading begin, struct span_reading end)
{
	uint32_t id;
	assert_int_equal(span_counters_begin(&r->c, THREAD, KIND, &begin, &id), 0);
	assert_int_not_equal(id, 0);
	assert_int_equal(span_counters_end(&r->c, THREAD, KIND, r->spans++, &end, id), 0);
}

static void finish(struct rig *r)
{
	assert_int_equal(vec_push(&r->tl.threads, (struct tl_thread){0}), 0);
	for (uint32_t i = 0; i < r->spans; i++)
		assert_int_equal(vec_push(&r->tl.spans, (struct tl_span){0}), 0);
	assert_int_equal(span_counters_finish(&r->c, &r->tl), 0);
}

static void release(struct rig *r)
{
	span_counters_release(&r->c);
	timeline_release(&r->tl);
}

static void is(const struct rig *r, uint32_t span, uint64_t value, uint64_t error,
	       uint32_t flags)
{
	const struct tl_counter *c = timeline_counter(&r->tl, span, NAME);
	assert_non_null(c);
	assert_int_equal(c->value, value);
	assert_int_equal(c->error, error);
	assert_int_equal(c->flags, flags);
}

static void test_started_together(void **state)
{
	struct rig r = {.spans = 0};
	struct span_reading b = reading(BEGIN, 5), e = reading(END, 9);
	(void)state;
	b.from_zero = e.from_zero = 1;
	call(&r, b, e);
	finish(&r);
	is(&r, 0, 4, 0, 0);
	release(&r);
}

/* The end's counter was started 100 later: a call in which nothing moved says at least, a pause
 * in which nothing moved says at most. */
static void test_started_apart(void **state)
{
	struct rig r = {.spans = 0};
	(void)state;
	call(&r, reading(BEGIN, 200), reading(END, 100)); /* 0 */
	call(&r, reading(BEGIN, 210), reading(END, 115)); /* 5, after a pause of 10 */
	call(&r, reading(BEGIN, 215), reading(END, 118)); /* 3, after a pause of 0 */
	finish(&r);
	is(&r, 0, 0, 0, 0);
	is(&r, 1, 5, 0, 0);
	is(&r, 2, 3, 0, 0);
	release(&r);
}

/* No call without, no pause without: the truth lies between. 6 in each call, 2 in each pause;
 * the end's counter was started 100 later. */
static void test_bounds(void **state)
{
	struct rig r = {.spans = 0};
	(void)state;
	call(&r, reading(BEGIN, 200), reading(END, 106));
	call(&r, reading(BEGIN, 208), reading(END, 114));
	finish(&r);
	is(&r, 0, 0, 8, 0);
	is(&r, 1, 0, 8, 0);
	release(&r);
}

static void test_one_call_has_no_limit(void **state)
{
	struct rig r = {.spans = 0};
	(void)state;
	call(&r, reading(BEGIN, 200), reading(END, 206));
	finish(&r);
	is(&r, 0, 0, 0, COUNTER_AT_LEAST);
	release(&r);
}

/* One group at both ends is one set of counters. */
static void test_one_group(void **state)
{
	struct rig r = {.spans = 0};
	(void)state;
	call(&r, reading(BEGIN, 200), reading(BEGIN, 206));
	finish(&r);
	is(&r, 0, 6, 0, 0);
	release(&r);
}

static void test_multiplexed(void **state)
{
	struct rig r = {.spans = 0};
	struct span_reading b = reading(BEGIN, 10), e = reading(BEGIN, 20);
	(void)state;
	b.enabled_ns = b.running_ns = 1000;
	e.enabled_ns = 2000;
	e.running_ns = 1250;
	call(&r, b, e);
	finish(&r);
	is(&r, 0, 40, 0, COUNTER_SCALED);
	release(&r);
}

/* A counter of the thread on each CPU: another one tells nothing; the same one, at least. */
static void test_cpus(void **state)
{
	struct rig r = {.spans = 0};
	struct span_reading b = reading(BEGIN, 10), e = reading(END, 12);
	(void)state;
	b.from_zero = e.from_zero = 1;
	b.place = e.place = READING_CPU;
	call(&r, b, e);
	e.instance = 1;
	call(&r, b, e);
	finish(&r);
	is(&r, 0, 2, 0, COUNTER_AT_LEAST);
	assert_null(timeline_counter(&r.tl, 1, NAME));
	release(&r);
}

/* Recursion: inner calls are parts of outer ones. */
static void test_nested(void **state)
{
	struct rig r = {.spans = 2};
	struct span_reading b = reading(BEGIN, 10), b2 = reading(BEGIN, 13),
			    e2 = reading(END, 17), e = reading(END, 20);
	uint32_t outer, inner;
	(void)state;
	b.from_zero = b2.from_zero = e.from_zero = e2.from_zero = 1;
	assert_int_equal(span_counters_begin(&r.c, THREAD, KIND, &b, &outer), 0);
	assert_int_equal(span_counters_begin(&r.c, THREAD, KIND, &b2, &inner), 0);
	assert_int_equal(span_counters_end(&r.c, THREAD, KIND, 1, &e2, inner), 0);
	assert_int_equal(span_counters_end(&r.c, THREAD, KIND, 0, &e, outer), 0);
	assert_int_equal(r.c.kept.n, 0);
	finish(&r);
	is(&r, 0, 10, 0, 0);
	is(&r, 1, 4, 0, 0);
	release(&r);
}

/* Groups that took turns on the CPU's registers ran at different times: what one stood at says
 * nothing of the other. */
static void test_took_turns(void **state)
{
	struct rig r = {.spans = 0};
	struct span_reading b = reading(BEGIN, 1000), e = reading(END, 1500);
	(void)state;
	b.from_zero = e.from_zero = 1;
	b.enabled_ns = e.enabled_ns = 100;
	b.running_ns = 90;
	e.running_ns = 80;
	call(&r, b, e);
	e.enabled_ns = 50; /* started later */
	call(&r, b, e);
	call(&r, reading(BEGIN, 200), reading(END, 100)); /* these are not spoilt by it */
	call(&r, reading(BEGIN, 210), reading(END, 115));
	finish(&r);
	is(&r, 0, 0, 0, COUNTER_AT_LEAST | COUNTER_SCALED);
	is(&r, 1, 0, 0, COUNTER_AT_LEAST | COUNTER_SCALED);
	is(&r, 2, 0, 10, 0);
	is(&r, 3, 5, 10, 0);
	release(&r);
}

/* Of a damaged file: nothing overflows. */
static void test_absurd_values(void **state)
{
	struct rig r = {.spans = 0};
	struct span_reading b = reading(BEGIN, 0), e = reading(BEGIN, UINT64_MAX / 4);
	(void)state;
	e.enabled_ns = 1000;
	e.running_ns = 1;
	call(&r, b, e);
	call(&r, reading(BEGIN, INT64_MAX), reading(END, 0));
	call(&r, reading(BEGIN, UINT64_MAX), reading(END, INT64_MAX));
	finish(&r);
	is(&r, 0, UINT64_MAX / 4, 0, COUNTER_AT_LEAST | COUNTER_SCALED);
	release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_started_together),
		cmocka_unit_test(test_started_apart),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_one_call_has_no_limit),
		cmocka_unit_test(test_one_group),
		cmocka_unit_test(test_multiplexed),
		cmocka_unit_test(test_took_turns),
		cmocka_unit_test(test_absurd_values),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_nested),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
