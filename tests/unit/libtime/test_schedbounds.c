/* sched: what is still known of an interval where a switch is missing (sched_internal.h, Bounds). */
#include "tests/unit/libtime/schedrig.h"

/* The idle task's switches are not recorded: 1 is woken at 1010 and writes a record at 1013. */
static void a_missing_switch_out_of_idle_has_small_bounds(void **state)
{
	(void)state;
	for (int late = 0; late < 2; late++) {
		struct rig *r = rig_new(FULL);
		sw(r, 0, 0, 0, "R", 1);
		sw(r, 10, 0, 1, "S", 0);
		waking(r, 1010, 1, 0, 1);
		wakeup(r, 1010, 1, 0, 1);
		wake(r, SCHED_OTHER, late ? 1510 : 1013, 0, 1, -1, 0);
		sw(r, 1520, 0, 1, "S", 0);
		expect(r, late ? "1 10-1010 S 1000+0 suspect <-0 task\n"
				 "1 1010-1510  0+0 ?hole suspect rest\n"
				 "1 1520-1520 S 0+0 open\n"
			       : "1 10-1013 S 1000+3 slack 3000 <-0 task\n"
				 "1 1520-1520 S 0+0 open\n");
		assert_int_equal(r->tl.losses.n, 1); /* it is missing all the same */
		done(r);
	}
}

/* A machine of two CPUs and five threads that sleep, are woken and run; `percent` of the switches
 * out of idle are not recorded. The intervals in order, by thread and start. */
struct machine {
	uint64_t now_us, seed;
	int on[2], ready[8], asleep[8], nready, nasleep;
};

static unsigned turn(struct machine *m, unsigned below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(m->seed >> 33) % below;
}

static int take(int *list, int *n, int i)
{
	int tid = list[i];
	list[i] = list[--*n];
	return tid;
}

static void run_machine(struct rig *r, uint64_t seed, unsigned percent)
{
	struct machine m = {.seed = seed, .asleep = {11, 12, 13, 14, 15}, .nasleep = 5};
	uint64_t forget = seed ^ 0x5bd1e995;
	for (int tid = 11; tid < 16; tid++)
		sw(r, 0, 2, tid, "S", 0);
	sw(r, 1, 0, 9, "S", 0);
	sw(r, 1, 1, 9, "S", 0);
	for (int step = 0; step < 400; step++) {
		uint16_t cpu = (uint16_t)turn(&m, 2);
		m.now_us += 2 + turn(&m, turn(&m, 4) ? 8 : 3000);
		if (m.nasleep && turn(&m, 2)) {
			int tid =
				take(m.asleep, &m.nasleep, (int)turn(&m, (unsigned)m.nasleep));
			waking(r, (double)m.now_us, cpu, m.on[cpu], tid);
			wakeup(r, (double)m.now_us, cpu, m.on[cpu], tid);
			m.ready[m.nready++] = tid;
		} else if (m.nready && !m.on[cpu]) {
			m.on[cpu] = take(m.ready, &m.nready, (int)turn(&m, (unsigned)m.nready));
			forget = forget * 6364136223846793005u + 1442695040888963407u;
			if ((forget >> 33) % 100 >= percent)
				sw(r, (double)m.now_us, cpu, 0, "R", m.on[cpu]);
		} else if (m.on[cpu] && turn(&m, 3)) {
			wake(r, SCHED_OTHER, (double)m.now_us, cpu, m.on[cpu], -1, 0);
		} else if (m.on[cpu]) {
			int sleeps = !m.nready || (int)turn(&m, 2);
			int next = m.nready && turn(&m, 2) ? take(m.ready, &m.nready, 0) : 0;
			sw(r, (double)m.now_us, cpu, m.on[cpu], sleeps ? "S" : "R", next);
			if (sleeps)
				m.asleep[m.nasleep++] = m.on[cpu];
			else
				m.ready[m.nready++] = m.on[cpu];
			m.on[cpu] = next;
		}
	}
	struct err e = {0};
	assert_int_equal(sched_finish(r->s, r->end, &e), 0);
	if (timeline_check(&r->tl, &e))
		fail_msg("%s", e.msg);
}

struct known {
	struct offcpu o;
	uint64_t rest_ns;
	int tid;
};

/* The intervals that say something for certain: how many. */
static size_t known_of(const struct rig *r, struct known *v)
{
	size_t n = 0;
	for (size_t i = 0; i < r->tl.offcpu.n; i++) {
		const struct offcpu *o = &r->tl.offcpu.v[i];
		if (!(o->flags & (OFF_SUSPECT | OFF_OPEN)))
			v[n++] = (struct known){*o, offcpu_rest_ns(&r->tl, o),
						r->tl.threads.v[o->thread].tid};
	}
	return n;
}

static const struct offcpu *same_wait(const struct known *v, size_t n, const struct known *k)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].tid == k->tid && v[i].o.start_ns == k->o.start_ns)
			return &v[i].o;
	fail_msg("%d has no interval from %llu", k->tid, (unsigned long long)k->o.start_ns);
	return NULL;
}

/* What is said for certain is true: the true end within the bounds, the blocked part exact. */
static void the_truth_is_within_the_bounds(void **state)
{
	(void)state;
	static const unsigned percents[] = {1, 10, 50, 100};
	static struct known whole[1000], said[1000];
	size_t bounded = 0, all = 0;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct rig *r = rig_new(FULL);
		run_machine(r, seed, 0);
		size_t nwhole = known_of(r, whole);
		done(r);
		r = rig_new(FULL);
		run_machine(r, seed, percents[seed % 4]);
		size_t nsaid = known_of(r, said);
		done(r);
		for (size_t i = 0; i < nsaid; i++) {
			const struct offcpu *o = &said[i].o,
					    *t = same_wait(whole, nwhole, &said[i]);
			assert_int_equal(o->blocked_ns, t->blocked_ns);
			assert_true(t->end_ns <= o->end_ns + said[i].rest_ns &&
				    t->end_ns + o->slack_ns >= o->end_ns);
			bounded += o->slack_ns || said[i].rest_ns;
		}
		all += nsaid;
	}
	assert_true(bounded > 200 && all > 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_switch_out_of_idle_has_small_bounds),
		cmocka_unit_test(the_truth_is_within_the_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
