/* Samples of a timeline: which are selected, their sums, and how they lie in a flame chart. */
#include "libtime/population/sample_chart.h"
#include "tests/unit/libtime/tailrig.h"

static uint32_t event(struct rig *r, const char *name, uint8_t tracepoint)
{
	struct tl_event e = {.name = text(r, name), .tracepoint = tracepoint};
	assert_int_equal(vec_push(&r->tl.events, e), 0);
	return (uint32_t)r->tl.events.n - 1;
}

static void sample(struct rig *r, uint32_t ev, uint32_t thread, uint64_t us, const char *stack)
{
	struct tl_sample s = {.time_ns = us * 1000,
			      .period = 1000000,
			      .thread = thread,
			      .comm = r->tl.threads.v[thread].comm,
			      .path = path(r, stack),
			      .event = (uint16_t)ev,
			      .cpu = (uint16_t)(us / 1000 % 2)};
	assert_int_equal(bigvec_push(&r->tl.samples, s, NULL), 0);
}

/* Two threads, two events: a clock of 1 ms and cycles. */
static void two_threads(struct rig *r)
{
	rig_init(r, 20000);
	uint32_t a = thread(r, "front", 101, 0), b = thread(r, "back", 102, 1);
	uint32_t clock = event(r, "cpu-clock", 0), cycles = event(r, "cycles", 0);
	sample(r, clock, a, 1000, "main;serve");
	sample(r, clock, b, 1500, "main;flush");
	sample(r, clock, a, 2000, "main;serve");
	sample(r, cycles, a, 2500, "main;serve");
	sample(r, clock, b, 6000, "main;flush");
	sample(r, clock, a, 9000, "main;parse");
	finish(r);
}

static int any(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx, (void)a, (void)b;
	return 1;
}

static int same(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return a == b;
}

static void equal_stacks_are_one_row(void **state)
{
	(void)state;
	struct rig r;
	struct sample_sums s;
	two_threads(&r);
	assert_int_equal(sample_sums_collect(&s, &r.tl, &(struct sample_selection){0}, 0, NULL),
			 0);
	assert_int_equal(s.rows.n, 4);
	assert_int_equal(s.rows.v[0].samples, 2);
	assert_int_equal(s.rows.v[0].weight, 2000000);
	assert_int_equal(s.rows.v[0].tid, -1);
	assert_int_equal(event_times_has(&s.times, 0), 1);
	assert_int_equal(event_times_start(&s.times, 1, same, NULL), 2500000);
	assert_true(event_times_seconds(&s.times, 0, any, NULL) == 0.008);
	assert_true(event_times_seconds(&s.times, 1, same, NULL) == 0);
	sample_sums_release(&s);
	/* by CPU: the two of serve() ran on two */
	assert_int_equal(
		sample_sums_collect(&s, &r.tl, &(struct sample_selection){0}, BY_CPU, NULL), 0);
	assert_int_equal(s.rows.n, 6);
	sample_sums_release(&s);
	rig_release(&r);
}

static void filters_choose_threads_time_and_events(void **state)
{
	(void)state;
	struct rig r;
	struct sample_sums s;
	const int32_t tid = 101;
	const uint8_t cycles[] = {0, 1};
	two_threads(&r);
	struct sample_selection by_tid = {.of = {.tids = &tid, .ntids = 1}};
	struct sample_selection in_time = {.of = {.start_ns = 1500000, .stop_ns = 6000000}};
	struct sample_selection of_event = {.events = cycles};
	const struct {
		const struct sample_selection *s;
		uint64_t samples;
	} t[] = {{&by_tid, 4}, {&in_time, 4}, {&of_event, 1}};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		uint64_t n = 0;
		assert_int_equal(sample_sums_collect(&s, &r.tl, t[i].s, BY_TID, NULL), 0);
		for (size_t k = 0; k < s.rows.n; k++)
			n += s.rows.v[k].samples;
		assert_int_equal(n, t[i].samples);
		sample_sums_release(&s);
	}
	rig_release(&r);
}

/* front: 1000, 2000, 9000 us, back: 1500, 6000; the period of 1 ms is what is usual. */
static void a_chart_leaves_gaps_where_no_sample_was(void **state)
{
	(void)state;
	static const struct {
		uint32_t sample;
		uint64_t away_us, us;
	} want[] = {{0, 0, 1000}, {2, 0, 1000}, {5, 6000, 1000}, {1, 0, 1500}, {4, 3500, 1000}};
	struct rig r;
	struct sample_chart c;
	two_threads(&r);
	assert_int_equal(
		sample_chart_make(&c, &r.tl, &(struct sample_selection){0}, 0, 0, NULL), 0);
	assert_int_equal(c.span_ns, 9000000);
	assert_int_equal(c.left_out, 1);
	assert_int_equal(c.first_ns, 1000000);
	assert_int_equal(c.sampled_ns, 8000000);
	assert_int_equal(c.v.n, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < c.v.n; i++) {
		assert_int_equal(c.v.v[i].sample, want[i].sample);
		assert_int_equal(c.v.v[i].away_ns, want[i].away_us * 1000);
		assert_int_equal(c.v.v[i].ns, want[i].us * 1000);
	}
	sample_chart_release(&c);
	rig_release(&r);
}

/* The halves of a hybrid CPU's event are one; a clock is measured in time. */
static void events_are_known_by_their_names(void **state)
{
	(void)state;
	assert_true(event_names_match("cpu_core/cycles/", "cpu_atom/cycles/"));
	assert_true(
		event_names_match("armv8_cortex_a53/cycles/u", "armv8_cortex_a72/cycles/u"));
	assert_false(event_names_match("cpu_core/cycles/P", "cpu_atom/cycles/"));
	assert_false(event_names_match("cpu_core/cycles/", "cpu_atom/instructions/"));
	assert_false(event_names_match("cpu_core/cycles/", "cycles")); /* both count all */
	assert_true(event_is_chosen("cpu_atom/cycles/P", "cpu_core/cycles/P", "cycles"));
	assert_false(
		event_is_chosen("cpu_atom/cycles/P", "cpu_core/cycles/P", "cpu_core/cycles/P"));
	assert_string_equal(event_name_unit("cpu-clock:u", 0), "ns");
	assert_string_equal(event_name_unit("offcpu-time", 0), "ns");
	assert_string_equal(event_name_unit("cycles", 0), "events");
	assert_string_equal(event_name_unit("sched:sched_switch", 1), "samples");
}

/* CPU time first, the scheduler's tracepoints last. */
static void the_default_event_samples_cpu_time(void **state)
{
	(void)state;
	static const char *const clocks[] = {
		"cycles:P",     "cpu_atom/cycles/P", "cpu-clock:u",     "ref-cycles",
		"cpu-cycles:u", "task-clock",        "cycles/freq=99/u"};
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		assert_int_equal(event_default_rank(clocks[i], 0), 0);
	assert_int_equal(event_default_rank("instructions", 0), 1);
	assert_int_equal(event_default_rank("cycles-of-doubt", 0), 1);
	assert_int_equal(event_default_rank("block:block_rq_issue", 1), 1);
	assert_int_equal(event_default_rank("probe_app:cycles", 1), 1);
	assert_int_equal(event_default_rank("sched:sched_switch", 1), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_one_row),
		cmocka_unit_test(filters_choose_threads_time_and_events),
		cmocka_unit_test(a_chart_leaves_gaps_where_no_sample_was),
		cmocka_unit_test(events_are_known_by_their_names),
		cmocka_unit_test(the_default_event_samples_cpu_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
