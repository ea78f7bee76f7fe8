/* tail_answer: what the host counted over the whole recording, where it may explain the answer.
 */
#include "render/tail/tail_answer.h"
#include "tests/unit/libtime/tailrig.h"

static void fact(struct rig *r, const char *kind, const char *subject, const char *key,
		 const char *before, const char *after)
{
	struct tl_fact f = {text(r, kind), text(r, subject), text(r, key), text(r, before),
			    text(r, after)};
	assert_int_equal(vec_push(&r->tl.facts, f), 0);
}

/* In the 5 s between the snapshots. */
static void facts(struct rig *r)
{
	fact(r, "host", "clock", "monotonic_ms", "5000", "10000");
	fact(r, "cpu", "0", "steal_ms", "1000", "1600");
	fact(r, "cpu", "1", "steal_ms", "1000", "1010");
	fact(r, "pressure", "memory", "some", "0", "400000");
	fact(r, "pressure", "io", "some", "1000000", "1090000");
	fact(r, "pressure", "cpu", "some", "0", "0");
	fact(r, "node", "0", "cpus", "1,2-7", "1,2-7");
	fact(r, "node", "2", "cpus", "0,8-9", "0,8-9");
}

/* The first sentence and those behind it, for the only wait of `front`. */
static void said(struct rig *r, struct buf *out)
{
	finish(r);
	struct tail t = make(r, top(1));
	buf_clear(out);
	assert_int_equal(tail_answer(out, &t, NULL), 0);
	tail_release(&t);
	rig_release(r);
}

static void the_hypervisor_took_what_a_thread_wanted(void **state)
{
	static const char *const sentences[] = {
		"The worst wait of front: waiting for an idle CPU to wake up in load(). Over "
		"the whole recording, by /proc/stat, the hypervisor took 12 % of CPU 0.",
		"The worst wait of front: waiting for an idle CPU to wake up in load()."};
	struct buf b = {0};
	(void)state;
	for (uint16_t cpu = 0; cpu < 2; cpu++) {
		struct rig r;
		rig_init(&r, 5000);
		uint32_t front = thread(&r, "front", 1, cpu);
		struct offcpu *o = off(&r, front, 1000, 1001, 1900, CAUSE_IO, "front;load");
		o->cpu_out = o->cpu_in = cpu;
		facts(&r);
		said(&r, &b);
		assert_string_equal(buf_cstr(&b), sentences[cpu]);
	}
	buf_release(&b);
}

static void pressure_is_told_of_waits_for_it(void **state)
{
	static const struct {
		const char *stack, *sentence;
	} cases[] = {
		{"front;load;[k]io_schedule",
		 "The worst wait of front: waiting for a device in load(). Over the whole "
		 "recording, by /proc/pressure, tasks waited for I/O 1.8 % of the time."},
		{"front;fill;[k]try_to_free_mem_cgroup_pages;[k]io_schedule",
		 "The worst wait of front: reclaiming memory, its cgroup is at its limit in "
		 "fill(). Over the whole recording, by /proc/pressure, tasks waited for "
		 "memory 8.0 % of the time."},
		{"front;fill;[k]do_numa_page;[k]migrate_misplaced_folio",
		 "The worst wait of front: moving a page to its NUMA node in fill(). CPU 0 is "
		 "in node 2, one of 2. Over the whole recording, by /proc/pressure, tasks "
		 "waited for I/O 1.8 % of the time."},
	};
	struct buf b = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		rig_init(&r, 5000);
		uint32_t front = thread(&r, "front", 1, 0);
		off(&r, front, 1000, 1900, 1900, CAUSE_IO, cases[i].stack);
		facts(&r);
		said(&r, &b);
		assert_string_equal(buf_cstr(&b), cases[i].sentence);
	}
	buf_release(&b);
}

/* Of a lock nothing that the host counts says anything; without a context nothing is known. */
static void nothing_is_said_where_it_explains_nothing(void **state)
{
	struct buf b = {0};
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct rig r;
		rig_init(&r, 5000);
		uint32_t front = thread(&r, "front", 1, 0);
		off(&r, front, 1000, 1900, 1900, known ? CAUSE_LOCK : CAUSE_IO, "front;take");
		if (known)
			facts(&r);
		said(&r, &b);
		assert_null(strstr(buf_cstr(&b), "Over"));
	}
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hypervisor_took_what_a_thread_wanted),
		cmocka_unit_test(pressure_is_told_of_waits_for_it),
		cmocka_unit_test(nothing_is_said_where_it_explains_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
