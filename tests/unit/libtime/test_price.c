/* libtime: what a planned recording costs, from counts that perf stat printed. */
#include "libtime/record/price.h"
#include "tests/lib/unit.h"

#include <string.h>

static const struct record_wish offcpu = {.mode = RECORD_OFFCPU,
					  .perf = "perf",
					  .output = "perf.data",
					  .event = "cpu-clock",
					  .frequency = PLAN_FREQ,
					  .cpus = 2};

static void make(struct price *p, struct record_plan *plan, const struct record_wish *w)
{
	struct err e = {0};
	*p = (struct price){.measured = 0};
	if (record_plan(plan, w, &e) || price_plan(p, plan, w))
		fail_msg("%s", e.msg);
}

static void rates_come_from_counts(void **state)
{
	struct price p;
	struct record_plan plan;
	struct words w = {0};
	struct buf line = {0}, b = {0};
	char text[] = "1000,,sched:sched_switch,1,2\n<not counted>,,sched:sched_waking,0\n"
		      "400,,sched:sched_wakeup,1\njunk\n";
	(void)state;
	make(&p, &plan, &offcpu);
	assert_false(price_is_known(&p));
	assert_true(price_countable(&p, &w));
	words_line(&line, &w);
	assert_non_null(strstr(buf_cstr(&line), "-e sched:sched_switch -e sched:sched_waking"));
	price_from_stat(&p, text);
	assert_true(price_is_known(&p));
	/* a switch: fixed part, callchain, registers and 4096 bytes; a wakeup: the fixed part
	 */
	price_text(&b, &p, &offcpu);
	assert_non_null(strstr(buf_cstr(&b), "# sched:sched_switch 1000/s, "));
	assert_non_null(strstr(buf_cstr(&b), "# estimate: 1400 events/s, 4.6 MB/s, "));
	assert_null(strstr(buf_cstr(&b), "# cheaper"));
	buf_release(&b);
	buf_release(&line);
	words_release(&w);
	price_release(&p);
	record_plan_release(&plan);
}

static void what_is_too_much_is_said(void **state)
{
	struct price p;
	struct record_plan plan;
	struct buf b = {0};
	char text[] = "100000,,sched:sched_switch,1\n";
	(void)state;
	make(&p, &plan, &offcpu);
	price_from_stat(&p, text);
	price_text(&b, &p, &offcpu);
	assert_non_null(strstr(buf_cstr(&b), "# records will be lost: "));
	assert_non_null(strstr(buf_cstr(&b), "(-p, --comm, --cgroup)"));
	assert_non_null(strstr(buf_cstr(&b), "# cheaper: --stacks fp, 26.2 MB/s"));
	buf_release(&b);
	price_release(&p);
	record_plan_release(&plan);
}

/* What is sampled by frequency is not counted: its rate is the one asked for. */
static void samples_have_the_rate_asked_for(void **state)
{
	struct price p;
	struct record_plan plan;
	struct record_wish cpu = offcpu;
	struct words w = {0};
	struct buf b = {0};
	(void)state;
	cpu.mode = RECORD_CPU;
	cpu.frequency = 100;
	make(&p, &plan, &cpu);
	assert_true(price_is_known(&p));
	assert_false(price_countable(&p, &w));
	price_text(&b, &p, &cpu);
	assert_non_null(strstr(buf_cstr(&b), "at most 200/s"));
	assert_non_null(strstr(buf_cstr(&b), "# estimate: 200 events/s, "));
	buf_release(&b);
	words_release(&w);
	price_release(&p);
	record_plan_release(&plan);
}

/* 1,000 switches and 500 wakeups a second, of which the switches have 4096 bytes of stack:
 * 1000 · (112 + 150 + 160 + 4096) + 500 · (112 + 150) bytes. */
static void stacks_are_given_up_until_it_fits(void **state)
{
	static const struct {
		double allowed;
		int stacks;
		double bytes;
	} rows[] = {
		{0, 4096, 4649000},   {4649000, 4096, 4649000},     {4648999, 2048, 2601000},
		{2600999, 0, 393000}, {392999, GRAPH_NONE, 168000}, {167999, GRAPH_BAD, 168000},
	};
	struct price p;
	struct record_plan plan;
	double bytes, ns;
	char text[] = "1000,,sched:sched_switch,1\n500,,sched:sched_waking,1\n";
	(void)state;
	make(&p, &plan, &offcpu);
	price_from_stat(&p, text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct price_budget b = {.bytes = rows[i].allowed};
		assert_int_equal(price_fit(&p, &b, &bytes, &ns), rows[i].stacks);
		assert_int_equal((uint64_t)bytes, (uint64_t)rows[i].bytes);
	}
	/* CPU time of frame pointers: 1500 · (700 + 1100) ns */
	assert_int_equal(price_fit(&p, &(struct price_budget){.cpu_ns = 2700000}, &bytes, &ns),
			 GRAPH_FP);
	assert_int_equal((uint64_t)ns, 2700000);
	assert_int_equal(price_fit(&p, &(struct price_budget){.cpu_ns = 2699999}, &bytes, &ns),
			 GRAPH_NONE);
	price_release(&p);
	record_plan_release(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_come_from_counts),
		cmocka_unit_test(what_is_too_much_is_said),
		cmocka_unit_test(samples_have_the_rate_asked_for),
		cmocka_unit_test(stacks_are_given_up_until_it_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
