/*
 * gap_parts: what had a CPU in a gap, and what nobody had.
 */
#include "tests/unit/libtime/tailrig.h"

#include "libtime/explain/gap_parts.h"

static void interrupt(struct rig *r, const char *name, uint16_t cpu, uint64_t from, uint64_t to)
{
	struct tl_interrupt x = {from * 1000, to * 1000, text(r, name), TL_NONE, cpu};
	assert_int_equal(vec_push(&r->tl.interrupts, x), 0);
}

/* "other 2000; timer 500; ? 100" */
static const char *parts(struct rig *r, struct tl_gap g)
{
	static char out[256];
	struct gap_finder *f;
	struct gap_parts w = {.start_ns = 0};
	uint64_t sum = 0;
	size_t n = 0;
	assert_int_equal(gap_finder_new(&f, &r->tl, NULL), 0);
	assert_int_equal(gap_explain(f, &g, &w, NULL), 0);
	for (size_t i = 0; i < w.v.n; i++) {
		const struct gap_part *p = &w.v.v[i];
		const char *name =
			p->by == GAP_THREAD
				? strtab_get(&r->stacks.strings, r->tl.threads.v[p->what].comm)
			: p->by == GAP_INTERRUPT ? strtab_get(&r->stacks.strings, p->what)
						 : gap_part_kind_name(p->by);
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s %llu", i ? "; " : "",
				      name, (unsigned long long)p->ns);
		sum += p->ns;
	}
	assert_int_equal(sum, g.lost_ns);
	gap_finder_free(f);
	gap_parts_release(&w);
	return out;
}

static struct tl_gap gap(uint32_t spinner, uint16_t cpu, uint64_t from, uint64_t to)
{
	return (struct tl_gap){from * 1000, to * 1000, (to - from) * 1000, spinner, cpu, 0};
}

/* The spinner has CPU 0 but for [100, 200), which `other` has, and sleeps in [500, 600). */
static uint32_t scene(struct rig *r)
{
	rig_init(r, 1000);
	uint32_t spinner = thread(r, "spinner", 1, 0), other = thread(r, "other", 2, 1);
	r->tl.threads.v[spinner].first_cpu = 0;
	r->tl.threads.v[other].first_cpu = TL_NOCPU;
	off(r, spinner, 100, 100, 200, CAUSE_PREEMPT, "main");
	off(r, spinner, 500, 600, 600, CAUSE_SLEEP, "main");
	off(r, other, 0, 99, 100, CAUSE_SLEEP, "main");
	off(r, other, 200, 1000, 1000, CAUSE_SLEEP, "main");
	return spinner;
}

static void each_part_is_whose_it_was(void **state)
{
	struct rig r;
	(void)state;
	uint32_t spinner = scene(&r);
	interrupt(&r, "timer", 0, 120, 130);
	interrupt(&r, "softirq", 0, 124, 128); /* inside of the timer's */
	interrupt(&r, "timer", 0, 300, 310);
	interrupt(&r, "elsewhere", 1, 300, 340);
	finish(&r);
	assert_string_equal(parts(&r, gap(spinner, 0, 98, 202)),
			    "other 90000; timer 6000; softirq 4000; unexplained 4000");
	assert_string_equal(parts(&r, gap(spinner, 0, 298, 312)),
			    "timer 10000; unexplained 4000");
	assert_string_equal(parts(&r, gap(spinner, 0, 305, 308)), "timer 3000");
	assert_string_equal(parts(&r, gap(spinner, 0, 490, 610)),
			    "spinner not running 100000; unexplained 20000");
	rig_release(&r);
}

/* Whatever is next to it, what nothing took is nobody's. */
static void a_neighbour_is_not_blamed(void **state)
{
	struct rig r;
	(void)state;
	uint32_t spinner = scene(&r);
	interrupt(&r, "timer", 0, 390, 400);
	interrupt(&r, "timer", 0, 450, 460);
	finish(&r);
	assert_string_equal(parts(&r, gap(spinner, 0, 400, 450)), "unexplained 50000");
	assert_string_equal(parts(&r, gap(spinner, 0, 201, 260)), "unexplained 59000");
	assert_string_equal(parts(&r, gap(spinner, 7, 201, 260)), "records missing 59000");
	rig_release(&r);
}

static void a_gap_is_placed_where_one_stretch_alone_fits(void **state)
{
	struct rig r;
	(void)state;
	uint32_t spinner = scene(&r);
	struct tl_gap g = gap(spinner, 0, 50, 400);
	interrupt(&r, "timer", 0, 300, 310);
	interrupt(&r, "timer", 0, 350, 360);
	finish(&r);
	g.lost_ns = 104000; /* the other thread's 100, but no timer's 10 */
	assert_string_equal(parts(&r, g), "other 100000; unexplained 4000");
	g.lost_ns = 10500; /* two timers might be it */
	assert_string_equal(parts(&r, g), "not placed 10500");
	g.lost_ns = 50000; /* nothing is so long */
	assert_string_equal(parts(&r, g), "not placed 50000");
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_is_whose_it_was),
		cmocka_unit_test(a_neighbour_is_not_blamed),
		cmocka_unit_test(a_gap_is_placed_where_one_stretch_alone_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
