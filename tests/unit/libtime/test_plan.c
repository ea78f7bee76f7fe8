/* Lines of perf record: what a plan holds, and that it is known again in a recording. */
#include "libtime/record/calls.h"
#include "libtime/record/perf_args.h"
#include "tests/lib/unit.h"

#include <string.h>

static struct record_wish wish(enum record_mode mode, uint64_t ring)
{
	return (struct record_wish){.mode = mode,
				    .perf = "perf",
				    .output = "perf.data",
				    .event = "cpu-clock",
				    .frequency = PLAN_FREQ,
				    .cpus = 2,
				    .ring = ring,
				    .begin = mode == RECORD_REQUESTS ? "serve" : NULL,
				    .binary = "/bin/app"};
}

static struct record_plan plan(struct record_wish w)
{
	struct record_plan p;
	struct err e = {0};
	if (record_plan(&p, &w, &e))
		fail_msg("%s", e.msg);
	return p;
}

static int has(const struct words *w, const char *part)
{
	for (size_t i = 0; i < w->v.n; i++)
		if (strstr(w->v.v[i], part))
			return 1;
	return 0;
}

static void a_plan_about_waits_is_known_again(void **state)
{
	(void)state;
	static const enum record_mode modes[] = {RECORD_OFFCPU, RECORD_TAIL, RECORD_REQUESTS};
	for (size_t i = 0; i < 6; i++) {
		struct record_plan p = plan(wish(modes[i % 3], i < 3 ? 0 : PLAN_RING));
		assert_int_equal(i >= 3, has(&p.record, "8M"));
		const char *const *v = (const char *const *)p.record.v.v;
		assert_true(record_plan_is(v, p.record.v.n));
		for (size_t n = 0; n < 9; n++) /* cut before the first event */
			assert_false(record_plan_is(v, n));
		record_plan_release(&p);
	}
	struct record_plan cpu = plan(wish(RECORD_CPU, 0));
	assert_false(record_plan_is((const char *const *)cpu.record.v.v, cpu.record.v.n));
	record_plan_release(&cpu);
}

/* Frame pointers only where a trial found them enough, and copies if asked for. */
static void a_trial_decides_about_copies(void **state)
{
	(void)state;
	char all[] = "prev_pid == 7";
	struct chosen c = {.leaving = all, .woken = all, .copy = 3072};
	struct record_wish w = wish(RECORD_OFFCPU, 0);
	w.chosen = &c;
	for (int i = 0; i < 3; i++) {
		c.trial.fp = i > 0;
		w.stacks = i == 2 ? "dwarf:2048" : NULL;
		struct record_plan p = plan(w);
		assert_int_equal(i == 0, has(&p.record,
					     "sched_switch/call-graph=dwarf,stack-size=3072/"));
		assert_int_equal(i == 1, has(&p.record, "sched_switch/call-graph=fp/"));
		assert_int_equal(i == 2, has(&p.record,
					     "sched_switch/call-graph=dwarf,stack-size=2048/"));
		record_plan_release(&p);
	}
}

/* More waits a second than 20 MB hold: half the copy, down to 2048 bytes, then frame pointers. */
static void copies_have_a_budget(void **state)
{
	(void)state;
	char all[] = "prev_pid == 7";
	static const struct {
		uint64_t per_second;
		const char *term;
	} t[] = {{2259, "dwarf,stack-size=8192/"}, {2262, "dwarf,stack-size=4096/"},
		 {4214, "dwarf,stack-size=4096/"}, {4215, "dwarf,stack-size=2048/"},
		 {7412, "dwarf,stack-size=2048/"}, {7413, "fp/"}};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct chosen c = {.leaving = all, .woken = all, .copy = 8192};
		struct record_wish w = wish(RECORD_OFFCPU, 0);
		char term[64];
		w.chosen = &c;
		c.trial.per_second = t[i].per_second;
		snprintf(term, sizeof(term), "sched_switch/call-graph=%s", t[i].term);
		struct record_plan p = plan(w);
		assert_true(has(&p.record, term));
		record_plan_release(&p);
	}
}

/* Tracepoints have period 1; what samples by frequency says so itself. */
static void waits_are_recorded_each_time(void **state)
{
	(void)state;
	struct record_plan p = plan(wish(RECORD_TAIL, 0));
	for (const struct plan_event *ev = plan_sched_events; ev->name; ev++)
		assert_true(has(&p.record, ev->name));
	assert_false(has(&p.record, "-F"));
	assert_true(has(&p.record, "cpu-clock/freq=199,name=cpu-clock,call-graph=dwarf,"));
	assert_true(has(&p.record, "sched:sched_switch/call-graph=dwarf,stack-size=4096/"));
	assert_true(has(&p.record, "sched:sched_waking/call-graph=fp/"));
	record_plan_release(&p);
}

static void stacks_are_those_asked_for(void **state)
{
	(void)state;
	static const struct {
		const char *asked, *term;
	} t[] = {{"fp", "sched_switch/call-graph=fp/"},
		 {"dwarf:1024", "sched_switch/call-graph=dwarf,stack-size=1024/"},
		 {"lbr", "sched_switch/call-graph=dwarf,stack-size=4096/"}};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct record_wish w = wish(RECORD_OFFCPU, 0);
		w.stacks = t[i].asked;
		struct record_plan p = plan(w);
		assert_true(has(&p.record, t[i].term));
		record_plan_release(&p);
	}
	struct record_wish none = wish(RECORD_OFFCPU, 0), bad = none;
	struct err e = {0};
	none.stacks = "none";
	struct record_plan p = plan(none);
	assert_false(has(&p.record, "call-graph"));
	record_plan_release(&p);
	bad.stacks = "dwarf:7";
	assert_int_equal(record_plan(&p, &bad, &e), ERR_USAGE);
}

/* 4 MB for each of few threads; 128 MB for many, until that is less than perf's own. */
static void rings_of_many_threads_are_smaller(void **state)
{
	static const struct {
		size_t threads;
		uint64_t bytes;
	} t[] = {{0, 4 << 20},  {1, 4 << 20},     {32, 4 << 20},    {33, 2 << 20},
		 {64, 2 << 20}, {200, 512 << 10}, {9000, 512 << 10}};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++)
		assert_int_equal(calls_ring(t[i].threads), t[i].bytes);
}

static void rings_have_sizes(void **state)
{
	static const struct {
		const char *value;
		uint64_t bytes;
		const char *text;
	} t[] = {{"8M", 8 << 20, "8M"},
		 {"2048", 8 << 20, "8M"},
		 {"3", 3 << 12, "12K"},
		 {"1G", 1 << 30, "1024M"},
		 {"99B", 99, "99B"},
		 {"0", 0, NULL},
		 {"0M", 0, NULL},
		 {"M", 0, NULL},
		 {"", 0, NULL},
		 {"-8", 0, NULL},
		 {"8MB", 0, NULL},
		 {"8m", 0, NULL},
		 {"99999999999G", UINT64_MAX, NULL},
		 {"99999999999999999999", UINT64_MAX, NULL}};
	char text[PERF_RING_TEXT];
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		assert_int_equal(perf_ring_bytes(t[i].value, 4096), t[i].bytes);
		if (t[i].text)
			assert_string_equal(perf_ring_text(text, t[i].bytes), t[i].text);
	}
	assert_int_equal(perf_ring_bytes("2", 65536), 2 << 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_about_waits_is_known_again),
		cmocka_unit_test(a_trial_decides_about_copies),
		cmocka_unit_test(copies_have_a_budget),
		cmocka_unit_test(waits_are_recorded_each_time),
		cmocka_unit_test(stacks_are_those_asked_for),
		cmocka_unit_test(rings_of_many_threads_are_smaller),
		cmocka_unit_test(rings_have_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
