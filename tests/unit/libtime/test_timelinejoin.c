/* timelines side by side: numbers move on, nothing is compared across, sums add up. */
#include "tests/lib/torture.h"

#include "libtime/sched/sched.h"
#include "libtime/sched/timeline_join.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

static uint32_t name(struct stacks *s, const char *text)
{
	uint32_t id;
	assert_int_equal(strtab_intern(&s->strings, text, &id), 0);
	return id;
}

/* Thread 11 sleeps from 1100 to 1300 + `more` on CPU 0 and is woken by 12 on CPU 1; a sample.
 */
static void build(struct timeline *tl, struct stacks *st, const char *host, const char *state,
		  uint64_t more)
{
	struct sched *s;
	uint8_t sleep;
	uint64_t t = 1000;
	assert_int_equal(timeline_init(tl, st), 0);
	assert_int_equal(timeline_state(tl, state, &sleep), 0);
	tl->flags = TL_HAS_SWITCH | TL_HAS_WAKING;
	tl->rec = (struct tl_recording){.host = name(st, host),
					.clock = name(st, "CLOCK_MONOTONIC"),
					.origin_ns = t,
					.end_ns = t + 1000 + more,
					.ncpus = 2};
	assert_int_equal(sched_new(tl, &s, NULL), 0);
	struct sched_event ev = {.kind = SCHED_SWITCH,
				 .time_ns = t,
				 .next_tid = 11,
				 .pid = -1,
				 .tid = -1,
				 .target_tid = -1,
				 .target_pid = -1};
	assert_int_equal(sched_event(s, &ev, NULL), 0);
	ev.time_ns = t;
	ev.cpu = 1;
	ev.next_tid = 12;
	assert_int_equal(sched_event(s, &ev, NULL), 0);
	ev = (struct sched_event){.kind = SCHED_SWITCH,
				  .time_ns = t + 100,
				  .prev_tid = 11,
				  .tid = 11,
				  .pid = 11,
				  .state = sleep,
				  .state_class = STATE_BLOCKED};
	assert_int_equal(sched_event(s, &ev, NULL), 0);
	ev = (struct sched_event){.kind = SCHED_WAKING,
				  .time_ns = t + 200,
				  .cpu = 1,
				  .tid = 12,
				  .pid = 12,
				  .target_tid = 11,
				  .target_pid = -1,
				  .context = WAKER_TASK};
	assert_int_equal(sched_event(s, &ev, NULL), 0);
	ev = (struct sched_event){
		.kind = SCHED_SWITCH, .time_ns = t + 300 + more, .next_tid = 11};
	assert_int_equal(sched_event(s, &ev, NULL), 0);
	assert_int_equal(sched_finish(s, tl->rec.end_ns, NULL), 0);
	sched_free(s);
	struct tl_event event = {.name = name(st, "cpu-clock")};
	struct tl_sample x = {.time_ns = t + 50, .thread = 0, .cpu = 1, .period = 7};
	assert_int_equal(vec_push(&tl->events, event), 0);
	assert_int_equal(bigvec_push(&tl->samples, x, NULL), 0);
	if (!tl->finished)
		assert_int_equal(timeline_finish(tl, NULL), 0);
}

static uint32_t thread_of(const struct timeline *tl, uint32_t from, int32_t tid)
{
	for (uint32_t i = from; i < tl->threads.n; i++)
		if (tl->threads.v[i].tid == tid)
			return i;
	fail_msg("no thread %d", tid);
	return 0;
}

static void numbers_move_on_and_sums_add_up(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline all, more;
	struct err e = {0};
	struct tl_sums sums;
	build(&all, &st, "web1", "S", 0);
	build(&more, &st, "web2", "D", 500);
	size_t threads = all.threads.n, offs = all.offcpu.n;
	assert_int_equal(timeline_join(&all, &more, &e), 0);
	assert_int_equal(timeline_label_parts(&all, &e), 0);
	assert_int_equal(timeline_check(&all, &e), 0);

	assert_int_equal(all.threads.n, threads + more.threads.n);
	assert_int_equal(all.offcpu.n, offs + more.offcpu.n);
	uint32_t a = thread_of(&all, 0, 11), b = thread_of(&all, (uint32_t)threads, 11);
	timeline_thread_sums(&all, a, &sums);
	assert_int_equal(sums.runnable, 100);
	timeline_thread_sums(&all, b, &sums);
	assert_int_equal(sums.runnable, 600);
	const struct offcpu *o = &all.offcpu.v[all.threads.v[b].offcpu_first];
	assert_int_equal(all.threads.v[o->waker].tid, 12);
	assert_true(o->waker >= threads);
	assert_string_equal(strtab_get(&st.strings, all.states[o->state]), "D");
	assert_int_equal(o->cpu_in, 2);
	assert_int_equal(timeline_cpu(&all, o->cpu_in), 0);
	assert_int_equal(timeline_cpu(&all, o->cpu_wake), 1);
	assert_int_equal(timeline_cpu(&all, TL_NOCPU), TL_NOCPU);

	/* one event, two samples, each of its own host */
	assert_int_equal(all.events.n, 1);
	assert_int_equal(all.samples.v[1].event, 0);
	assert_int_equal(all.samples.v[1].cpu, 3);
	assert_int_equal(all.parts.v[1].sample_first, 1);

	assert_int_equal(timeline_recorded_ns(&all), 1000 + 1500);
	assert_int_equal(timeline_one_clock(&all), 0);
	assert_int_equal(all.rec.host, 0);
	assert_string_equal(strtab_get(&st.strings, timeline_part_of(&all, a)->label), "web1");
	assert_string_equal(strtab_get(&st.strings, timeline_part_of(&all, b)->label), "web2");
	timeline_release(&more);
	timeline_release(&all);
	stacks_release(&st);
}

static void one_host_recorded_thrice_is_numbered(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline all, more;
	struct err e = {0};
	build(&all, &st, "box", "S", 0);
	for (int i = 2; i <= 3; i++) {
		build(&more, &st, "box", "S", 0);
		more.flags &= ~(uint32_t)TL_HAS_WAKING;
		assert_int_equal(timeline_join(&all, &more, &e), 0);
		all.parts.v[all.parts.n - 1].id = i;
		timeline_release(&more);
	}
	all.parts.v[0].id = 1;
	assert_int_equal(timeline_label_parts(&all, &e), 0);
	assert_string_equal(strtab_get(&st.strings, all.parts.v[2].label), "3:box");
	assert_int_equal(timeline_one_clock(&all), 1);
	assert_int_not_equal(all.rec.host, 0);
	assert_int_equal(all.rec.ncpus, 6);
	assert_true(timeline_flags_of(&all, 0) & TL_HAS_WAKING);
	assert_false(timeline_flags_of(&all, (uint32_t)all.threads.n - 1) & TL_HAS_WAKING);
	timeline_release(&all);
	stacks_release(&st);
}

static void a_single_recording_has_no_parts(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline tl;
	build(&tl, &st, "box", "S", 0);
	assert_null(timeline_part_of(&tl, 0));
	assert_ptr_equal(timeline_recording_of(&tl, 0), &tl.rec);
	assert_int_equal(timeline_cpu(&tl, 1), 1);
	assert_int_equal(timeline_recorded_ns(&tl), 1000);
	assert_int_equal(timeline_one_clock(&tl), 1);
	timeline_release(&tl);
	stacks_release(&st);
}

static void more_cpus_than_numbers_are_refused(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline all, more;
	struct err e = {0};
	build(&all, &st, "a", "S", 0);
	build(&more, &st, "b", "S", 0);
	more.rec.ncpus = 65534;
	assert_int_equal(timeline_join(&all, &more, &e), ERR_LIMIT);
	timeline_release(&more);
	timeline_release(&all);
	stacks_release(&st);
}

static void without_memory_joining_is_an_error(void **state)
{
	(void)state;
	for (int once = 0; once < 2; once++) {
		struct torture t = {.once = once};
		while (!t.whole) {
			struct stacks st = {0};
			struct timeline all, more;
			build(&all, &st, "box", "S", 0);
			build(&more, &st, "box", "D", 0);
			torture_on(&t);
			int r = 0;
			for (int i = 0; i < 9 && !r;
			     i++) /* tables grow from their ninth row on */
				r = timeline_join(&all, &more, NULL);
			if (!r)
				r = timeline_label_parts(&all, NULL);
			torture_off(&t, r);
			if (!r)
				assert_int_equal(timeline_check(&all, NULL), 0);
			timeline_release(&more);
			timeline_release(&all);
			stacks_release(&st);
		}
		assert_true(t.failed > 10 && t.failed == t.runs - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_move_on_and_sums_add_up),
		cmocka_unit_test(one_host_recorded_thrice_is_numbered),
		cmocka_unit_test(a_single_recording_has_no_parts),
		cmocka_unit_test(more_cpus_than_numbers_are_refused),
		cmocka_unit_test(without_memory_joining_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
