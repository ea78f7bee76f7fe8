/* What a question is about: filters, clipping, and what is set apart of each wait. */
#include "tests/unit/libtime/tailrig.h"

enum { IDLE = OFF_IDLE, UNCLEAR = OFF_UNCLEAR | OFF_LOOP };

/* Thread 0: one wait of 1000 µs, blocked for 800 of them, its site's verdict in `flags`. */
static struct offcpu *one_wait(struct rig *r, uint8_t flags)
{
	rig_init(r, 10000);
	uint32_t t = thread(r, "worker", 101, 0);
	struct offcpu *o = off(r, t, 1000, 1800, 2000, CAUSE_COND, "worker;get_job;c:wait");
	o->flags = flags;
	finish(r);
	return r->tl.offcpu.v;
}

static void each_verdict_sets_its_part_apart(void **state)
{
	(void)state;
	static const struct {
		uint8_t flags, idle, ranked, no_unclear, apart, unclear;
	} t[] = {
		{0, 0, 1, 1, APART_NOT, 0},
		{IDLE, 0, 0, 0, APART_IDLE, 0},
		{IDLE, 0, 1, 1, APART_IDLE, 0},
		{IDLE, 1, 1, 1, APART_NOT, 0},
		{UNCLEAR, 0, 0, 0, APART_NOT, 1},
		{UNCLEAR, 0, 1, 0, APART_UNCLEAR, 0},
		{UNCLEAR, 0, 0, 1, APART_LEFT_OUT, 0},
		{UNCLEAR, 0, 1, 1, APART_LEFT_OUT, 0},
		{UNCLEAR, 1, 1, 1, APART_NOT, 1},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct rig r;
		struct wait w;
		struct population p = {.idle = t[i].idle,
				       .ranked = t[i].ranked,
				       .no_unclear = t[i].no_unclear};
		assert_int_equal(population_wait(&p, &r.tl, one_wait(&r, t[i].flags), &w), 1);
		assert_int_equal(w.apart, t[i].apart);
		assert_int_equal(w.unclear, t[i].unclear);
		/* whatever was set apart, the run-queue delay behind it stays */
		uint64_t apart = wait_split_off(&w);
		assert_int_equal(apart, t[i].apart == APART_NOT ? 0 : 800000);
		assert_int_equal(w.end - w.start, 1000000 - apart);
		assert_int_equal(w.runnable, 200000);
		rig_release(&r);
	}
}

static void time_cuts_both_parts(void **state)
{
	(void)state;
	static const struct {
		uint64_t start, stop, blocked, runnable;
		int open;
	} t[] = {
		{0, 0, 800000, 200000, 0},
		{1200000, 0, 600000, 200000, 1},
		{0, 1500000, 500000, 0, 1},
		{1900000, 1950000, 0, 50000, 1},
	};
	struct rig r;
	struct wait w;
	struct offcpu *o = one_wait(&r, 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct population p = {.start_ns = t[i].start, .stop_ns = t[i].stop};
		assert_int_equal(population_wait(&p, &r.tl, o, &w), 1);
		assert_int_equal(w.blocked, t[i].blocked);
		assert_int_equal(w.runnable, t[i].runnable);
		assert_int_equal(w.open, t[i].open);
	}
	struct population before = {.stop_ns = 1000000}, behind = {.start_ns = 2000000};
	assert_int_equal(population_wait(&before, &r.tl, o, &w), 0);
	assert_int_equal(population_wait(&behind, &r.tl, o, &w), 0);
	rig_release(&r);
}

/* Cut inside what is set apart, the rest was seen whole; cut inside the rest, it was not. */
static void what_is_left_is_open_only_where_it_was_cut(void **state)
{
	(void)state;
	struct rig r;
	struct wait w;
	struct offcpu *o = one_wait(&r, IDLE);
	struct population inside = {.start_ns = 1200000}, later = {.start_ns = 1900000};
	assert_int_equal(population_wait(&inside, &r.tl, o, &w), 1);
	assert_int_equal(wait_split_off(&w), 600000);
	assert_int_equal(w.open, 0);
	assert_int_equal(population_wait(&later, &r.tl, o, &w), 1);
	assert_int_equal(wait_split_off(&w), 0);
	assert_int_equal(w.open, 1);
	rig_release(&r);
}

static void filters_choose_threads_and_cpus(void **state)
{
	(void)state;
	struct rig r;
	struct wait w;
	struct offcpu *o = one_wait(&r, 0);
	const char *names[] = {"other", "worker"};
	const int32_t tid = 101, pid = 7;
	const uint32_t cpu = 1;
	struct population by_name = {.comms = names, .ncomms = 2};
	struct population by_tid = {.tids = &tid, .ntids = 1};
	struct population by_pid = {.pids = &pid, .npids = 1};
	struct population by_cpu = {.cpus = &cpu, .ncpus = 1};
	assert_int_equal(population_has_thread(&by_name, &r.tl, 0, o->comm), 1);
	assert_int_equal(population_has_thread(&by_tid, &r.tl, 0, o->comm), 1);
	assert_int_equal(population_has_thread(&by_pid, &r.tl, 0, o->comm), 0);
	by_name.ncomms = 1;
	assert_int_equal(population_has_thread(&by_name, &r.tl, 0, o->comm), 0);
	assert_int_equal(population_wait(&by_cpu, &r.tl, o, &w), 0);
	o->cpu_in = 1;
	assert_int_equal(population_wait(&by_cpu, &r.tl, o, &w), 1);
	r.tl.threads.v[0].flags |= THREAD_SYSTEM;
	assert_int_equal(population_hides_thread(&by_tid, &r.tl, 0), 1);
	by_tid.system = 1;
	assert_int_equal(population_hides_thread(&by_tid, &r.tl, 0), 0);
	rig_release(&r);
}

/* main joins the others for all of its life; ranked, that is no latency. */
static void waits_of_a_whole_life_are_set_apart_from_rankings(void **state)
{
	(void)state;
	struct rig r;
	struct wait w;
	rig_init(&r, 10000);
	uint32_t t = thread(&r, "main", 100, 0);
	off(&r, t, 100, 9900, 9900, CAUSE_JOIN, "main;c:pthread_join");
	finish(&r);
	struct population ranked = {.ranked = 1}, summed = {0};
	assert_int_equal(population_wait(&ranked, &r.tl, r.tl.offcpu.v, &w), 1);
	assert_int_equal(w.apart, APART_LIFE);
	assert_int_equal(population_wait(&summed, &r.tl, r.tl.offcpu.v, &w), 1);
	assert_int_equal(w.apart, APART_NOT);
	/* a lock held as long is no such wait: it may be the hang that one looks for */
	r.tl.offcpu.v[0].cause = CAUSE_LOCK;
	assert_int_equal(population_wait(&ranked, &r.tl, r.tl.offcpu.v, &w), 1);
	assert_int_equal(w.apart, APART_NOT);
	rig_release(&r);
}

static void sums_are_by_site_longest_first(void **state)
{
	(void)state;
	struct rig r;
	struct set_apart x = {.system = 0};
	struct site_sums *s = &x.by[APART_IDLE];
	rig_init(&r, 1000);
	/* the sites 1 and 3 differ by what called wait() */
	uint32_t wait = text(&r, "wait"), role = text(&r, "role"), a = path(&r, "a;wait@1"),
		 b = path(&r, "b;wait@2");
	a = r.stacks.paths.v[a].frame;
	b = r.stacks.paths.v[b].frame;
	const struct tl_site sites[] = {{.frame = 0},
					{.role = role, .frame = a},
					{.role = wait, .frame = a},
					{.role = role, .frame = b}};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(vec_push(&r.tl.sites, sites[i]), 0);
	static const struct {
		uint32_t site;
		uint64_t ns;
		int open;
	} t[] = {{1, 50, 0}, {2, 10, 0}, {2, 70, 1}, {1, 60, 0}, {3, 20, 0}, {2, 30, 0}};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct offcpu o = {.site = t[i].site, .path = (uint32_t)i};
		assert_int_equal(site_sums_add(s, &r.tl, &o, t[i].ns, t[i].open), 0);
	}
	assert_int_equal(set_apart_finish(&x), 0);
	assert_int_equal(s->count, 6);
	assert_int_equal(s->ns, 240);
	assert_int_equal(s->max_ns, 70);
	assert_int_equal(s->v.n, 2);
	assert_int_equal(s->v.v[0].site, 2);
	assert_int_equal(s->v.v[0].open, 1);
	assert_int_equal(s->v.v[0].path, 2);
	assert_int_equal(s->v.v[0].p50_ns, 30);
	assert_int_equal(s->v.v[1].p50_ns, 50);
	assert_int_equal(s->v.v[1].ns, 130);
	set_apart_release(&x);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_verdict_sets_its_part_apart),
		cmocka_unit_test(time_cuts_both_parts),
		cmocka_unit_test(what_is_left_is_open_only_where_it_was_cut),
		cmocka_unit_test(filters_choose_threads_and_cpus),
		cmocka_unit_test(waits_of_a_whole_life_are_set_apart_from_rankings),
		cmocka_unit_test(sums_are_by_site_longest_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
