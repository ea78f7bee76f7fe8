/*
 * spans: hand-made events on hand-made timelines, and the span table they must give.
 *
 * A row reads: name thread>end_thread start-end run+blocked+runnable+unknown [preempted]
 * [^parent] [open] [suspect]. Times are ns; every test also proves that the parts sum up.
 */
#include "tests/lib/unit.h"

#include "base/text/buf.h"
#include "base/mem.h"
#include "libtime/sched/part_sums.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/spans/spans.h"

#include <time.h>

enum { A, B, C, NTHREADS };
enum { WORK, INNER, REQUEST, ONCE, IRQ };

struct rig {
	struct stacks stacks;
	struct timeline tl;
	struct spans *s;
	struct buf text;
};

/* Threads A, B, C live from 0 to 1000. */
static struct rig *rig_new(void)
{
	static const struct {
		const char *name;
		uint8_t by, once;
	} kinds[] = {{"work", SPAN_BY_THREAD, 0},
		     {"inner", SPAN_BY_THREAD, 0},
		     {"request", SPAN_BY_KEY, 0},
		     {"once", SPAN_BY_KEY, 1},
		     {"irq", SPAN_BY_CPU, 0}};
	static struct rig r;
	r = (struct rig){0};
	assert_int_equal(timeline_init(&r.tl, &r.stacks), 0);
	r.tl.flags = TL_HAS_SWITCH | TL_HAS_WAKING;
	for (int i = 0; i < NTHREADS; i++)
		assert_int_equal(vec_push(&r.tl.threads, ((struct tl_thread){.tid = 'A' + i,
									     .last_ns = 1000})),
				 0);
	assert_int_equal(spans_new(&r.tl, &r.s, NULL), 0);
	for (uint32_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct span_kind k = {.by = kinds[i].by, .once = kinds[i].once};
		uint32_t id;
		assert_int_equal(strtab_intern(&r.stacks.strings, kinds[i].name, &k.name), 0);
		assert_int_equal(spans_kind(r.s, &k, &id), 0);
		assert_int_equal(id, i);
	}
	return &r;
}

static void put(struct rig *r, uint64_t ns, uint32_t thread, uint32_t kind, int end,
		uint64_t key)
{
	struct span_event ev = {ns, key, kind, thread, (uint16_t)(ns % 2), (uint8_t)end};
	assert_int_equal(spans_event(r->s, &ev, NULL), 0);
}

static void begin(struct rig *r, uint64_t ns, uint32_t thread, uint32_t kind)
{
	put(r, ns, thread, kind, 0, 0);
}

static void end(struct rig *r, uint64_t ns, uint32_t thread, uint32_t kind)
{
	put(r, ns, thread, kind, 1, 0);
}

static void off(struct rig *r, uint32_t thread, uint64_t from, uint64_t blocked, uint64_t to,
		uint32_t waker, uint8_t flags)
{
	struct offcpu o = {.start_ns = from,
			   .end_ns = to,
			   .blocked_ns = blocked,
			   .thread = thread,
			   .waker = waker,
			   .cpu_out = 0,
			   .cpu_in = 0,
			   .cpu_wake = 0,
			   .flags = flags};
	assert_int_equal(bigvec_push(&r->tl.offcpu, o, NULL), 0);
}

static void expect(struct rig *r, const char *want)
{
	struct err e = {0};
	assert_int_equal(timeline_finish(&r->tl, &e), 0);
	assert_int_equal(spans_finish(r->s, 0, 1000, &e), 0);
	for (size_t i = 0; i < r->tl.spans.n; i++) {
		const struct tl_span *x = &r->tl.spans.v[i];
		assert_true(x->run_ns + x->blocked_ns + x->runnable_ns + x->unknown_ns ==
			    x->end_ns - x->start_ns);
		assert_true(x->preempted_ns <= x->runnable_ns);
		assert_true(x->parent == TL_NONE || x->parent < i);
		buf_fmt(&r->text, "%s %c>%c %d-%d %d+%d+%d+%d",
			strtab_get(&r->stacks.strings, x->name), 'A' + (char)x->thread,
			'A' + (char)x->end_thread, (int)x->start_ns, (int)x->end_ns,
			(int)x->run_ns, (int)x->blocked_ns, (int)x->runnable_ns,
			(int)x->unknown_ns);
		if (x->preempted_ns)
			buf_fmt(&r->text, " preempted %d", (int)x->preempted_ns);
		if (x->parent != TL_NONE)
			buf_fmt(&r->text, " ^%d", (int)x->parent);
		buf_str(&r->text, x->flags & OFF_OPEN ? " open" : "");
		buf_str(&r->text, x->flags & OFF_SUSPECT ? " suspect" : "");
		buf_char(&r->text, '\n');
	}
	assert_string_equal(buf_cstr(&r->text), want);
	buf_release(&r->text);
	spans_free(r->s);
	timeline_release(&r->tl);
	stacks_release(&r->stacks);
}

static void nested_spans_have_parents(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	begin(r, 100, A, WORK);
	begin(r, 150, B, WORK);
	begin(r, 200, A, INNER);
	begin(r, 220, A, WORK); /* recursion */
	end(r, 230, A, WORK);
	end(r, 300, A, INNER);
	end(r, 400, B, WORK);
	end(r, 500, A, WORK);
	expect(r, "work A>A 100-500 400+0+0+0\n"
		  "work B>B 150-400 250+0+0+0\n"
		  "inner A>A 200-300 100+0+0+0 ^0\n"
		  "work A>A 220-230 10+0+0+0 ^2\n");
}

static void a_begin_that_perf_wrote_twice_is_one(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	begin(r, 100, A, WORK);
	begin(r, 100, A, WORK);
	end(r, 200, A, WORK);
	end(r, 200, A, WORK);
	begin(r, 300, A, WORK);
	end(r, 400, A, WORK);
	expect(r, "work A>A 100-200 100+0+0+0\n"
		  "work A>A 300-400 100+0+0+0\n");
}

static void overlapping_spans_of_two_kinds_end_on_their_own(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	begin(r, 100, A, WORK);
	begin(r, 200, A, INNER);
	end(r, 300, A, WORK);
	end(r, 400, A, INNER);
	expect(r, "work A>A 100-300 200+0+0+0\n"
		  "inner A>A 200-400 200+0+0+0 ^0\n");
}

static void parts_are_the_threads_states_clipped(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	off(r, A, 50, 60, 120, B, 0);                 /* blocked 50-110, runnable -120 */
	off(r, A, 200, 0, 230, TL_NONE, OFF_RUNNING); /* preempted */
	off(r, A, 300, 150, 480, B, OFF_SUSPECT);     /* blocked 300-450, runnable -480 */
	begin(r, 100, A, WORK);
	end(r, 460, A, WORK);
	/* blocked 10+150, runnable 10+30+10, run 80+70 */
	expect(r, "work A>A 100-460 150+160+50+0 preempted 30 suspect\n");
}

static void unknown_intervals_stay_unknown(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	off(r, A, 200, 0, 300, TL_NONE, 0);
	r->tl.offcpu.v[0].unknown = UNKNOWN_HOLE;
	r->tl.threads.v[B].first_ns = 500;
	begin(r, 100, A, WORK);
	end(r, 250, A, WORK);
	begin(r, 400, B, WORK);
	end(r, 600, B, WORK);
	expect(r, "work A>A 100-250 100+0+0+50\n"
		  "work B>B 400-600 100+0+0+100\n");
}

static void without_switches_nothing_is_known(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	r->tl.flags = 0;
	begin(r, 100, A, WORK);
	end(r, 250, A, WORK);
	expect(r, "work A>A 100-250 0+0+0+150\n");
}

static void open_ends_are_flagged(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	r->tl.threads.v[B].last_ns = 700;
	r->tl.threads.v[C].first_ns = 50;
	begin(r, 100, B, WORK);
	begin(r, 200, A, WORK);
	end(r, 300, C, WORK); /* its begin was before the recording */
	end(r, 350, C, WORK); /* and this one's was lost: no span */
	expect(r, "work C>C 50-300 250+0+0+0 open\n"
		  "work B>B 100-700 600+0+0+0 open\n"
		  "work A>A 200-1000 800+0+0+0 open\n");
}

static void parents_follow_when_spans_move(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	begin(r, 100, A, WORK);
	begin(r, 200, A, INNER);
	end(r, 250, B, WORK); /* open at its start, 0 */
	end(r, 300, A, INNER);
	end(r, 400, A, WORK);
	expect(r, "work B>B 0-250 250+0+0+0 open\n"
		  "work A>A 100-400 300+0+0+0\n"
		  "inner A>A 200-300 100+0+0+0 ^1\n");
}

static void a_key_goes_from_thread_to_thread(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	off(r, B, 0, 150, 170, A, 0); /* A wakes B at 150 */
	off(r, A, 180, 500, 690, TL_NONE, 0);
	put(r, 100, A, REQUEST, 0, 7);
	put(r, 120, A, REQUEST, 0, 8); /* nobody ends it */
	put(r, 300, B, REQUEST, 1, 7);
	/* A ran 50, B waited 20 for a CPU and ran 130 */
	expect(r, "request A>B 100-300 180+0+20+0\n"
		  "request A>A 120-1000 370+500+10+0 open\n");
}

static void a_key_spans_first_begin_to_last_end(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	put(r, 100, A, REQUEST, 0, 7);
	put(r, 150, A, REQUEST, 1, 7);
	put(r, 200, B, REQUEST, 0, 7);
	put(r, 250, B, REQUEST, 1, 7);
	put(r, 300, C, REQUEST, 0, 7);
	put(r, 400, C, REQUEST, 1, 7);
	put(r, 450, A, REQUEST, 1, 7); /* a late one still counts */
	put(r, 500, A, REQUEST, 0, 7); /* the key is used again */
	put(r, 600, B, REQUEST, 1, 7);
	expect(r, "request A>A 100-450 350+0+0+0\n"
		  "request A>B 500-600 100+0+0+0\n");
}

static void once_each_end_closes(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	put(r, 100, A, ONCE, 0, 7);
	put(r, 150, B, ONCE, 1, 7);
	put(r, 160, B, ONCE, 1, 7);
	put(r, 200, C, ONCE, 0, 7);
	put(r, 250, TL_NONE, ONCE, 1, 7); /* an interrupt during idle */
	expect(r, "once A>B 100-150 50+0+0+0\n"
		  "once C>C 200-250 50+0+0+0\n");
}

static void the_idle_task_has_no_spans(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	put(r, 100, TL_NONE, IRQ, 0, 0);
	put(r, 110, TL_NONE, IRQ, 1, 0);
	put(r, 200, B, IRQ, 0, 0);
	put(r, 210, B, IRQ, 1, 0);
	put(r, 300, TL_NONE, REQUEST, 0, 1);
	put(r, 310, TL_NONE, REQUEST, 1, 1);
	expect(r, "irq B>B 200-210 10+0+0+0\n");
}

static void lost_ends_cost_depth_not_memory(void **state)
{
	struct rig *r = rig_new();
	(void)state;
	for (uint64_t i = 0; i < 600; i++)
		begin(r, i, A, WORK);
	for (uint64_t i = 600; i < 900; i++)
		end(r, i, A, WORK);
	assert_int_equal(timeline_finish(&r->tl, NULL), 0);
	assert_int_equal(spans_finish(r->s, 0, 1000, NULL), 0);
	size_t open = 0;
	for (size_t i = 0; i < r->tl.spans.n; i++)
		open += (r->tl.spans.v[i].flags & OFF_OPEN) != 0;
	assert_int_equal(r->tl.spans.n, 600);
	assert_int_equal(open, 600 - 256);
	spans_free(r->s);
	timeline_release(&r->tl);
	stacks_release(&r->stacks);
}

static void running_out_of_memory_is_an_error(void **state)
{
	(void)state;
	for (long n = 0;; n++) {
		struct rig *r = rig_new();
		int rc = 0;
		mem_fail_after(n);
		for (uint64_t i = 0; !rc && i < 64; i++) {
			struct span_event ev = {i, i, (uint32_t)(i % 5), A, 0, i % 7 == 6};
			rc = spans_event(r->s, &ev, NULL);
		}
		mem_fail_after(-1);
		assert_true(rc == 0 || rc == ERR_NOMEM);
		spans_free(r->s);
		timeline_release(&r->tl);
		stacks_release(&r->stacks);
		if (!rc)
			break;
		assert_true(n < 1000);
	}
}

/* Intervals of both kinds, whole threads of them, side by side. */
static void many_offs(struct rig *r, uint32_t n)
{
	for (uint32_t thread = A; thread <= B; thread++) {
		for (uint32_t i = 0; i < n; i++) {
			uint64_t at = 10ull * i + thread;
			off(r, thread, at, i % 5, at + 5 + i % 3, TL_NONE,
			    i % 7   ? 0
			    : i % 2 ? OFF_RUNNING
				    : OFF_SUSPECT);
			struct offcpu *o = &r->tl.offcpu.v[r->tl.offcpu.n - 1];
			o->unknown = i % 11 ? KNOWN : UNKNOWN_HOLE;
			o->blocked_ns = o->unknown ? 0 : o->blocked_ns;
		}
		r->tl.threads.v[thread].last_ns = 10ull * n + 10;
	}
	assert_int_equal(timeline_finish(&r->tl, NULL), 0);
}

static void rig_free(struct rig *r)
{
	spans_free(r->s);
	timeline_release(&r->tl);
	stacks_release(&r->stacks);
	buf_release(&r->text);
}

/* One nanosecond after the other. */
static struct tl_sums slow_parts(const struct timeline *tl, uint32_t thread, uint64_t from,
				 uint64_t to)
{
	struct tl_sums s = {0};
	const struct tl_thread *t = &tl->threads.v[thread];
	for (uint64_t ns = from; ns < to; ns++) {
		const struct offcpu *o = NULL;
		for (uint32_t i = 0; i < t->offcpu_n && !o; i++) {
			const struct offcpu *x = &tl->offcpu.v[t->offcpu_first + i];
			o = x->start_ns <= ns && ns < x->end_ns ? x : NULL;
		}
		if (ns >= t->last_ns || (o && o->unknown))
			s.unknown++;
		else if (!o)
			s.run++;
		else if (ns < o->start_ns + o->blocked_ns)
			s.blocked++;
		else
			s.runnable++, s.preempted += (o->flags & OFF_RUNNING) != 0;
	}
	return s;
}

static void parts_of_any_stretch_are_those_of_its_intervals(void **state)
{
	struct rig *r = rig_new();
	struct part_sums parts;
	unsigned random = 1;
	(void)state;
	many_offs(r, 300);
	assert_int_equal(part_sums_init(&parts, &r->tl), 0);
	for (int i = 0; i < 400; i++) {
		random = random * 1103515245 + 12345;
		uint64_t from = random >> 8 & 4095, to = from + (random >> 20);
		struct tl_sums s = {0}, want = slow_parts(&r->tl, i % 2, from, to);
		part_sums_add(&parts, i % 2, from, to, &s);
		assert_int_equal(s.run, want.run);
		assert_int_equal(s.blocked, want.blocked);
		assert_int_equal(s.runnable, want.runnable);
		assert_int_equal(s.preempted, want.preempted);
		assert_int_equal(s.unknown, want.unknown);
	}
	part_sums_release(&parts);
	rig_free(r);
}

/* Where functions leave by another way than their return, each of their spans goes on to the
 * end: what lies in one is not to be walked through for each. */
static void spans_without_ends_do_not_take_the_square_of_time(void **state)
{
	enum { MANY = 200000 };
	struct rig *r = rig_new();
	(void)state;
	many_offs(r, MANY);
	for (uint64_t i = 0; i < MANY; i++)
		begin(r, 10 * i + 8, A, WORK);
	clock_t before = clock();
	assert_int_equal(spans_finish(r->s, 0, 10ull * MANY, NULL), 0);
	assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 20);
	rig_free(r);
}

/* From the start as far as the span inside lets it, then from the end; never all of it. */
static void the_time_of_probes_is_no_part_of_a_span(void **state)
{
	struct rig *r = rig_new();
	uint32_t work, inner;
	(void)state;
	assert_true(strtab_find(&r->stacks.strings, "work", &work));
	assert_true(strtab_find(&r->stacks.strings, "inner", &inner));
	assert_int_equal(spans_probe_cost(r->s, work, 30, NULL), 0);
	assert_int_equal(spans_probe_cost(r->s, inner, 12, NULL), 0);
	begin(r, 100, A, WORK);
	begin(r, 110, A, INNER);
	end(r, 150, A, INNER);
	end(r, 200, A, WORK);
	begin(r, 300, A, WORK);
	end(r, 320, A, WORK);
	begin(r, 400, B, REQUEST); /* of another name */
	end(r, 500, B, REQUEST);
	begin(r, 600, A, WORK); /* never ends */
	expect(r, "work A>A 122-192 70+0+0+0\n"
		  "inner A>A 122-150 28+0+0+0 ^0\n"
		  "work A>A 319-320 1+0+0+0\n"
		  "request B>B 400-500 100+0+0+0\n"
		  "work A>A 600-1000 400+0+0+0 open\n");
}

static void read_at(struct rig *r, uint64_t ns, int end, uint64_t clock, uint64_t faults)
{
	struct span_reading x = {.group = 1, .from_zero = 1, .n = 2, .value = {clock, faults}};
	struct span_event ev = {
		.time_ns = ns, .kind = WORK, .thread = A, .end = (uint8_t)end, .reading = &x};
	assert_int_equal(strtab_intern(&r->stacks.strings, "task-clock", &x.name[0]), 0);
	assert_int_equal(strtab_intern(&r->stacks.strings, "page-faults", &x.name[1]), 0);
	assert_int_equal(spans_event(r->s, &ev, NULL), 0);
}

/* No more than the span lost, and of clocks only. */
static void the_time_of_probes_is_not_in_clocks(void **state)
{
	struct rig *r = rig_new();
	uint32_t work;
	(void)state;
	assert_true(strtab_find(&r->stacks.strings, "work", &work));
	assert_int_equal(spans_probe_cost(r->s, work, 30, NULL), 0);
	read_at(r, 100, 0, 1000, 5);
	read_at(r, 200, 1, 1101, 45);
	read_at(r, 300, 0, 1200, 45);
	read_at(r, 320, 1, 1215, 45);
	assert_int_equal(timeline_finish(&r->tl, NULL), 0);
	assert_int_equal(spans_finish(r->s, 0, 1000, NULL), 0);
	for (size_t i = 0; i < r->tl.counters.n; i++)
		buf_fmt(&r->text, "%u %s %d\n", r->tl.counters.v[i].span,
			strtab_get(&r->stacks.strings, r->tl.counters.v[i].event),
			(int)r->tl.counters.v[i].value);
	assert_string_equal(buf_cstr(&r->text), "0 task-clock 71\n0 page-faults 40\n"
						"0 probe-cost 30\n1 task-clock 0\n"
						"1 page-faults 0\n1 probe-cost 19\n");
	rig_free(r);
}

/* A recording of many functions has a cost for each. */
static void costs_are_not_looked_through_for_each_span(void **state)
{
	enum { MANY = 200000 };
	struct rig *r = rig_new();
	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(spans_probe_cost(r->s, 1000 + i, 1, NULL), 0);
	for (uint64_t i = 0; i < MANY; i++) {
		begin(r, 10 * i, A, WORK);
		end(r, 10 * i + 8, A, WORK);
	}
	clock_t before = clock();
	assert_int_equal(timeline_finish(&r->tl, NULL), 0);
	assert_int_equal(spans_finish(r->s, 0, 10ull * MANY, NULL), 0);
	assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 5);
	assert_int_equal(r->tl.counters.n, 0);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_are_not_looked_through_for_each_span),
		cmocka_unit_test(the_time_of_probes_is_no_part_of_a_span),
		cmocka_unit_test(the_time_of_probes_is_not_in_clocks),
		cmocka_unit_test(nested_spans_have_parents),
		cmocka_unit_test(a_begin_that_perf_wrote_twice_is_one),
		cmocka_unit_test(overlapping_spans_of_two_kinds_end_on_their_own),
		cmocka_unit_test(parts_are_the_threads_states_clipped),
		cmocka_unit_test(unknown_intervals_stay_unknown),
		cmocka_unit_test(without_switches_nothing_is_known),
		cmocka_unit_test(open_ends_are_flagged),
		cmocka_unit_test(parents_follow_when_spans_move),
		cmocka_unit_test(a_key_goes_from_thread_to_thread),
		cmocka_unit_test(a_key_spans_first_begin_to_last_end),
		cmocka_unit_test(once_each_end_closes),
		cmocka_unit_test(the_idle_task_has_no_spans),
		cmocka_unit_test(lost_ends_cost_depth_not_memory),
		cmocka_unit_test(running_out_of_memory_is_an_error),
		cmocka_unit_test(parts_of_any_stretch_are_those_of_its_intervals),
		cmocka_unit_test(spans_without_ends_do_not_take_the_square_of_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
