/* schedskew: two CPUs whose clocks differ are found out by what threads do on both. */
#include "tests/lib/unit.h"

#include "libtime/sched/sched.h"

#include <stdlib.h>

struct rig {
	struct stacks stacks;
	struct timeline tl;
	struct sched *s;
	uint64_t end;
};

struct stamped {
	double us;
	uint16_t cpu;
	int prev, next, waking; /* waking: `prev` wakes `next` */
};

static void begin(struct rig *r)
{
	*r = (struct rig){0};
	assert_int_equal(timeline_init(&r->tl, &r->stacks), 0);
	r->tl.flags = TL_HAS_SWITCH | TL_HAS_WAKING;
	assert_int_equal(sched_new(&r->tl, &r->s, NULL), 0);
}

static void put(struct rig *r, const struct stamped *x, uint8_t kind)
{
	struct sched_event ev = {.kind = kind,
				 .time_ns = (uint64_t)(x->us * 1000 + .5),
				 .cpu = x->cpu,
				 .tid = x->prev,
				 .pid = x->prev,
				 .prev_tid = x->prev,
				 .next_tid = x->next,
				 .target_tid = x->next,
				 .target_pid = -1,
				 .next_prio = 120,
				 .from_cpu = TL_NOCPU,
				 .to_cpu = TL_NOCPU,
				 .context = WAKER_TASK,
				 .state_class = x->prev ? STATE_BLOCKED : STATE_RUNNING};
	assert_int_equal(sched_event(r->s, &ev, NULL), 0);
	r->end = ev.time_ns;
}

static int by_us(const void *a, const void *b)
{
	const struct stamped *x = a, *y = b;
	return (x->us > y->us) - (x->us < y->us);
}

enum { TURNS = 20, PER_TURN = 5 };

/* Thread 7 runs 99 us on one CPU and then on the other; while it is on CPU 0 it wakes 8, which
 * sleeps on CPU 1 when it is not running. All that CPU 1 stamps is `ahead` us late. */
static struct rig *two_clocks(double ahead)
{
	static struct stamped v[TURNS * PER_TURN];
	static struct rig rig, *r = &rig;
	for (int i = 0; i < TURNS; i++) {
		uint16_t cpu = i % 2;
		double t = 5000 + 100 * i;
		struct stamped *x = &v[i * PER_TURN];
		x[0] = (struct stamped){t, cpu, 0, 7, 0};
		x[1] = (struct stamped){t + 99, cpu, 7, 0, 0};
		x[2] = (struct stamped){t + 20, cpu, cpu ? 0 : 7, cpu ? 0 : 8, !cpu};
		x[3] = (struct stamped){t + 22, !cpu, 0, cpu ? 0 : 8, 0};
		x[4] = (struct stamped){t + 90, !cpu, cpu ? 0 : 8, 0, 0};
	}
	for (int i = 0; i < TURNS * PER_TURN; i++)
		v[i].us += v[i].cpu ? ahead : 0;
	begin(r);
	qsort(v, TURNS * PER_TURN, sizeof(*v), by_us);
	for (int i = 0; i < TURNS * PER_TURN; i++)
		if (v[i].waking)
			put(r, &v[i], SCHED_WAKING);
		else if (v[i].prev != v[i].next)
			put(r, &v[i], SCHED_SWITCH);
	struct err e = {0};
	assert_int_equal(sched_finish(r->s, r->end, NULL), 0);
	if (timeline_check(&r->tl, &e))
		fail_msg("%g us: %s", ahead, e.msg);
	return r;
}

static void rig_free(struct rig *r)
{
	sched_free(r->s);
	timeline_release(&r->tl);
	stacks_release(&r->stacks);
}

/* Waits of a known state: those that look impossible are suspect by themselves. */
static uint64_t known_suspects(const struct timeline *tl)
{
	uint64_t n = 0;
	for (size_t i = 0; i < tl->offcpu.n; i++)
		n += (tl->offcpu.v[i].flags & OFF_SUSPECT) && !tl->offcpu.v[i].unknown;
	return n;
}

static void clocks_that_differ_are_found_and_never_by_more(void **state)
{
	static const double ahead[] = {0, 4, -4, 30, -30, 60, -60, 1030, -1030};
	(void)state;
	for (size_t i = 0; i < sizeof(ahead) / sizeof(*ahead); i++) {
		double us = ahead[i] < 0 ? -ahead[i] : ahead[i];
		struct rig *r = two_clocks(ahead[i]);
		const struct tl_disorder *d = &r->tl.disorder;
		assert_true((double)d->skew_ns <= us * 1000);
		if (us <= 4)
			assert_int_equal(d->skew_ns, 0);
		else
			assert_true(d->skew_ns >= 10000);
		if (us == 30) { /* 2 us from waking to in, 1 us from out to in */
			assert_true(d->skew_ns >= 28000);
			assert_int_equal(d->skew_cpus[0], 0);
			assert_int_equal(d->skew_cpus[1], 1);
			assert_true(known_suspects(&r->tl) >= TURNS / 2 - 1);
		} else if (us <= 4) {
			assert_int_equal(known_suspects(&r->tl), 0);
		}
		rig_free(r);
	}
}

/* Thread 7 sleeps on CPU 0 and is woken late by CPU 1, or by turns by CPU 1 to `wakers`, again and
 * again, before it leaves its CPU; the waking that brought it there is missing. If `fast`, threads
 * that wake each other across the CPUs show that their clocks are in step. */
static void late_wakers(struct rig *r, int fast, int wakers)
{
	begin(r);
	for (int i = 0; i < TURNS; i++) {
		double t = 5000 + 1000 * i;
		uint16_t by = (uint16_t)(1 + i % wakers);
		struct stamped v[] = {
			{t, 0, 0, 7, 0},        {t + 40, by, 9, 7, 1},   {t + 70, 0, 7, 0, 0},
			{t + 200, 0, 0, 10, 0}, {t + 210, 0, 10, 9, 1},  {t + 214, 1, 0, 9, 0},
			{t + 220, 1, 9, 11, 1}, {t + 224, 0, 10, 11, 0}, {t + 230, 1, 9, 0, 0},
			{t + 240, 0, 11, 0, 0},
		};
		for (size_t k = 0; k < sizeof(v) / sizeof(*v); k++)
			if (fast || k < 3)
				put(r, &v[k], v[k].waking ? SCHED_WAKING : SCHED_SWITCH);
	}
	assert_int_equal(sched_finish(r->s, r->end, NULL), 0);
}

static void wakeups_in_time_contradict_wakers_that_race(void **state)
{
	(void)state;
	for (int fast = 0; fast < 2; fast++)
		for (int wakers = 1; wakers < 3; wakers++) {
			struct rig rig;
			int proved = !fast && wakers > 1;
			late_wakers(&rig, fast, wakers);
			assert_int_equal(rig.tl.disorder.skew_ns, proved ? 30000 : 0);
			assert_int_equal(rig.tl.disorder.skewed, proved ? TURNS - 1 : 0);
			if (!fast && !proved)
				assert_int_equal(known_suspects(&rig.tl), 0);
			rig_free(&rig);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_that_differ_are_found_and_never_by_more),
		cmocka_unit_test(wakeups_in_time_contradict_wakers_that_race),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
