/*
 * label_lanes: which value a label has on a thread at a moment.
 */
#include "tests/unit/libtime/tailrig.h"

#include "libtime/join/bind.h"
#include "libtime/population/population.h"

static uint32_t span(struct rig *r, uint32_t thread, uint64_t from, uint64_t to)
{
	struct tl_span s = {.start_ns = from,
			    .end_ns = to,
			    .name = text(r, "request"),
			    .thread = thread,
			    .end_thread = thread,
			    .parent = TL_NONE,
			    .pid = -1};
	assert_int_equal(vec_push(&r->tl.spans, s), 0);
	return (uint32_t)r->tl.spans.n - 1;
}

static void label(struct rig *r, uint32_t span, const char *key, const char *value)
{
	struct tl_label l = {text(r, key), text(r, value), span};
	assert_int_equal(vec_push(&r->tl.labels, l), 0);
}

static const char *at(struct rig *r, const struct label_lanes *x, uint32_t thread, uint64_t ns,
		      uint64_t until)
{
	uint64_t end;
	uint32_t value = label_lanes_at(x, thread, 0, ns, &end);
	assert_int_equal(end, until);
	return value ? strtab_get(&r->stacks.strings, value) : "";
}

/* A rebinding at 2000: 1 ns before the old value, from then on the new one. */
static void a_label_changes_to_the_nanosecond(void **state)
{
	struct rig r;
	struct label_lanes x;
	(void)state;
	rig_init(&r, 100);
	uint32_t a = thread(&r, "a", 1, 0), b = thread(&r, "b", 2, 1);
	label(&r, span(&r, a, 1000, 2000), "query", "41");
	label(&r, span(&r, a, 2000, 3000), "query", "42");
	label(&r, span(&r, b, 1500, 2500), "query", "7");
	assert_int_equal(label_lanes_build(&r.tl, "query", &x), 1);
	assert_string_equal(at(&r, &x, a, 999, 1000), "");
	assert_string_equal(at(&r, &x, a, 1000, 2000), "41");
	assert_string_equal(at(&r, &x, a, 1999, 2000), "41");
	assert_string_equal(at(&r, &x, a, 2000, 3000), "42");
	assert_string_equal(at(&r, &x, a, 3000, UINT64_MAX), "");
	assert_string_equal(at(&r, &x, b, 2000, 2500), "7");
	assert_string_equal(at(&r, &x, 99, 2000, UINT64_MAX), "");
	label_lanes_release(&x);
	rig_release(&r);
}

/* The thread of an event sample, the only one. */
static uint32_t thread_at(struct rig *r, const struct label_lanes *x, int32_t tid, uint64_t ns)
{
	struct tl_event_sample s = {.tid = tid, .time_ns = ns};
	r->tl.event_samples.n = 0;
	assert_int_equal(bigvec_push(&r->tl.event_samples, s, NULL), 0);
	return label_lanes_thread(x, &r->tl, r->tl.event_samples.v);
}

/* A tid that two threads had, one after the other, and one that nobody had. */
static void a_tid_is_the_thread_that_had_it_then(void **state)
{
	struct rig r;
	struct label_lanes x;
	(void)state;
	rig_init(&r, 10000);
	uint32_t first = thread(&r, "a", 7, 0), other = thread(&r, "b", 5, 1),
		 second = thread(&r, "c", 7, 0);
	r.tl.threads.v[first].first_ns = 100;
	r.tl.threads.v[first].last_ns = 2000;
	r.tl.threads.v[second].first_ns = 3000;
	r.tl.threads.v[second].last_ns = 9000;
	label(&r, span(&r, first, 1000, 2000), "query", "41");
	assert_int_equal(label_lanes_build(&r.tl, "query", &x), 1);
	int32_t of_first = r.tl.threads.v[first].tid, of_other = r.tl.threads.v[other].tid;
	assert_int_equal(of_first, r.tl.threads.v[second].tid);
	assert_int_equal(thread_at(&r, &x, of_first, 99), TL_NONE);
	assert_int_equal(thread_at(&r, &x, of_first, 100), first);
	assert_int_equal(thread_at(&r, &x, of_first, 2000), first);
	assert_int_equal(thread_at(&r, &x, of_first, 2001), TL_NONE);
	assert_int_equal(thread_at(&r, &x, of_first, 3000), second);
	assert_int_equal(thread_at(&r, &x, of_other, 500), other);
	assert_int_equal(thread_at(&r, &x, of_first + 1000, 500), TL_NONE);
	label_lanes_release(&x);
	rig_release(&r);
}

/* The same tid on two hosts at the same time of their clocks. */
static void a_tid_of_another_host_is_another_thread(void **state)
{
	struct rig r;
	struct label_lanes x;
	(void)state;
	rig_init(&r, 10000);
	uint32_t mine = thread(&r, "a", 7, 0), theirs = thread(&r, "a", 7, 1);
	label(&r, span(&r, mine, 1000, 2000), "query", "41");
	label(&r, span(&r, theirs, 1000, 2000), "query", "7");
	for (uint32_t i = 0; i < 2; i++) {
		struct tl_part part = {.thread_first = i, .event_sample_first = 2 * i};
		assert_int_equal(vec_push(&r.tl.parts, part), 0);
	}
	for (int i = 0; i < 4; i++) {
		struct tl_event_sample s = {.tid = r.tl.threads.v[mine].tid, .time_ns = 1500};
		assert_int_equal(bigvec_push(&r.tl.event_samples, s, NULL), 0);
	}
	assert_int_equal(label_lanes_build(&r.tl, "query", &x), 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(label_lanes_thread(&x, &r.tl, &r.tl.event_samples.v[i]),
				 i < 2 ? mine : theirs);
	label_lanes_release(&x);
	rig_release(&r);
}

/* --- trampolines -------------------------------------------------------------------------- */

static const char *below(struct rig *r, const struct label_lanes *x, uint32_t thread,
			 uint32_t path, uint64_t ns, uint64_t until)
{
	uint64_t end;
	uint32_t value = label_lanes_at(x, thread, path, ns, &end);
	assert_int_equal(end, until);
	return value ? strtab_get(&r->stacks.strings, value) : "";
}

static void bind(struct rig *r, struct side *s, uint32_t trampoline, uint64_t ns,
		 const char *key, const char *value)
{
	struct side_binding b = {ns, trampoline, text(r, key), text(r, value)};
	assert_int_equal(vec_push(&s->bindings, b), 0);
}

static void name_trampoline(struct rig *r, struct side *s, const char *symbol, int32_t pid)
{
	struct side_trampoline t = {text(r, symbol), pid};
	assert_int_equal(vec_push(&s->trampolines, t), 0);
}

/* Two histories, one within the other on the stacks; out of order in the file. */
static void a_trampoline_bears_what_it_stood_for_then(void **state)
{
	struct rig r;
	struct side s = {.strings = NULL};
	struct side_clock_map same = {.offset_ns = 0};
	struct side_bound bound;
	struct label_lanes x;
	(void)state;
	rig_init(&r, 100);
	s.strings = &r.stacks.strings;
	uint32_t a = thread(&r, "a", 1, 0), b = thread(&r, "b", 2, 1);
	r.tl.threads.v[a].pid = 10, r.tl.threads.v[b].pid = 20;
	uint32_t plain = path(&r, "main;work");
	uint32_t outer = path(&r, "main;void my::trampoline<1>(void (*)(void*), void*);work");
	uint32_t inner =
		path(&r, "main;void my::trampoline<1>(void (*)(void*), void*);"
			 "void my::trampoline<2>(void (*)(void*), void*);work;[k]wait");
	uint32_t other = path(&r, "main;xtrampoline<1>(int);work");
	name_trampoline(&r, &s, "trampoline<1>", 10);
	name_trampoline(&r, &s, "my::trampoline<2>", -1);
	name_trampoline(&r, &s, "trampoline<3>", 10);
	name_trampoline(&r, &s, "trampoline<1>", 30);
	bind(&r, &s, 0, 2000, "query", "42");
	bind(&r, &s, 1, 1500, "table", "users");
	bind(&r, &s, 0, 1000, "query", "41");
	bind(&r, &s, 1, 1800, "query", "inner");
	bind(&r, &s, 0, 3000, "user", "ann");
	assert_int_equal(side_bind(&r.tl, NULL, &s, &same, &bound, NULL), 0);
	assert_int_equal(bound.bindings, 5);
	assert_int_equal(bound.unseen, 1);
	assert_int_equal(bound.unmatched, 1);
	assert_int_equal(label_lanes_build(&r.tl, "query", &x), 1);
	assert_string_equal(below(&r, &x, a, outer, 999, 1000), "");
	assert_string_equal(below(&r, &x, a, outer, 1000, 2000), "41");
	assert_string_equal(below(&r, &x, a, outer, 1999, 2000), "41");
	assert_string_equal(below(&r, &x, a, outer, 2000, 3000), "42");
	assert_string_equal(below(&r, &x, a, outer, 3000, UINT64_MAX), "");
	assert_string_equal(below(&r, &x, a, plain, 2000, UINT64_MAX), "");
	assert_string_equal(below(&r, &x, a, other, 2000, UINT64_MAX), "");
	assert_string_equal(below(&r, &x, a, inner, 1499, 1500), "41");
	assert_string_equal(below(&r, &x, a, inner, 1799, 1800),
			    "41"); /* table says no query */
	assert_string_equal(below(&r, &x, a, inner, 1800, UINT64_MAX), "inner");
	assert_string_equal(below(&r, &x, b, outer, 2000, UINT64_MAX), ""); /* of pid 10 */
	assert_string_equal(below(&r, &x, b, inner, 2000, UINT64_MAX), "inner");
	label_lanes_release(&x);
	assert_int_equal(label_lanes_build(&r.tl, "table", &x), 1);
	assert_string_equal(below(&r, &x, a, inner, 1500, 1800), "users");
	label_lanes_release(&x);
	side_release(&s);
	rig_release(&r);
}

/* The first file names a trampoline that was never bound: the second file's bindings are not
 * its.
 */
static void two_files_have_histories_of_their_own(void **state)
{
	struct rig r;
	struct side_clock_map same = {.offset_ns = 0};
	struct side_bound bound;
	struct label_lanes x;
	(void)state;
	rig_init(&r, 100);
	struct side one = {.strings = &r.stacks.strings}, two = one;
	uint32_t a = thread(&r, "a", 1, 0);
	uint32_t first = path(&r, "main;trampoline<1>;work");
	uint32_t unbound = path(&r, "main;trampoline<2>;work");
	uint32_t second = path(&r, "main;trampoline<3>;work");
	name_trampoline(&r, &one, "trampoline<1>", -1);
	name_trampoline(&r, &one, "trampoline<2>", -1);
	bind(&r, &one, 0, 1000, "query", "1");
	name_trampoline(&r, &two, "trampoline<3>", -1);
	bind(&r, &two, 0, 1000, "query", "3");
	assert_int_equal(side_bind(&r.tl, NULL, &one, &same, &bound, NULL), 0);
	assert_int_equal(side_bind(&r.tl, NULL, &two, &same, &bound, NULL), 0);
	assert_int_equal(label_lanes_build(&r.tl, "query", &x), 1);
	assert_string_equal(below(&r, &x, a, first, 2000, UINT64_MAX), "1");
	assert_string_equal(below(&r, &x, a, unbound, 2000, UINT64_MAX), "");
	assert_string_equal(below(&r, &x, a, second, 2000, UINT64_MAX), "3");
	label_lanes_release(&x);
	side_release(&one);
	side_release(&two);
	rig_release(&r);
}

static void the_innermost_span_that_has_it_says(void **state)
{
	struct rig r;
	struct label_lanes x;
	(void)state;
	rig_init(&r, 100);
	uint32_t t = thread(&r, "t", 1, 0);
	label(&r, span(&r, t, 1000, 9000), "route", "/pay");
	span(&r, t, 2000, 3000); /* without the label */
	label(&r, span(&r, t, 4000, 6000), "route", "/card");
	label(&r, span(&r, t, 5000, 7000), "route",
	      "/late"); /* ends behind the one around it */
	assert_int_equal(label_lanes_build(&r.tl, "route", &x), 1);
	assert_string_equal(at(&r, &x, t, 2500, 4000), "/pay");
	assert_string_equal(at(&r, &x, t, 4999, 5000), "/card");
	assert_string_equal(at(&r, &x, t, 5000, 7000), "/late");
	assert_string_equal(at(&r, &x, t, 6500, 7000), "/late");
	assert_string_equal(at(&r, &x, t, 7000, 9000), "/pay");
	label_lanes_release(&x);
	rig_release(&r);
}

static uint32_t value(struct rig *r, const char *s)
{
	uint32_t id = TL_NONE;
	strtab_find(&r->stacks.strings, s, &id);
	return id;
}

/* A wait [900, 5000) below three requests, the first two of one route. */
static void a_population_has_what_bears_the_label(void **state)
{
	struct rig r;
	struct label_lanes x;
	struct population part;
	struct wait w;
	(void)state;
	rig_init(&r, 100);
	uint32_t t = thread(&r, "t", 1, 0);
	label(&r, span(&r, t, 1000, 2000), "route", "/pay");
	label(&r, span(&r, t, 2000, 3000), "route", "/pay");
	label(&r, span(&r, t, 3500, 4500), "route", "/list");
	uint32_t inner = span(&r, t, 3600, 3700), outer = span(&r, t, 3400, 3800);
	struct offcpu o = {.start_ns = 900, .end_ns = 5000, .blocked_ns = 3000, .thread = t};
	assert_int_equal(label_lanes_build(&r.tl, "route", &x), 1);
	struct population pay = {.label = &x, .label_value = value(&r, "/pay"), .idle = 1};
	struct population list = {.label = &x, .label_value = value(&r, "/list"), .idle = 1};
	uint64_t at = 900;
	assert_int_equal(population_part(&pay, t, 0, &at, 5000, &part), 1);
	assert_int_equal(population_wait(&part, &r.tl, &o, &w), 1);
	assert_int_equal(w.start, 1000);
	assert_int_equal(w.end, 3000);
	assert_int_equal(w.blocked, 2000);
	assert_int_equal(w.open, 0);
	assert_int_equal(population_part(&pay, t, 0, &at, 5000, &part), 0);
	at = 900;
	assert_int_equal(population_part(&list, t, 0, &at, 5000, &part), 1);
	assert_int_equal(population_wait(&part, &r.tl, &o, &w), 1);
	assert_int_equal(w.blocked, 400); /* up to the wakeup at 3900 */
	assert_int_equal(w.runnable, 600);
	assert_int_equal(population_part(&list, t, 0, &at, 5000, &part), 0);
	assert_int_equal(population_has_label(&pay, t, 0, 999), 0);
	assert_int_equal(population_has_label(&pay, t, 0, 1000), 1);
	assert_int_equal(population_has_label(&pay, t, 0, 2999), 1);
	assert_int_equal(population_has_label(&pay, t, 0, 3000), 0);
	assert_int_equal(population_has_span(&list, &r.tl, inner), 1);
	assert_int_equal(population_has_span(&list, &r.tl, outer), 0);
	assert_int_equal(population_has_span(&pay, &r.tl, 1), 1);
	label_lanes_release(&x);
	rig_release(&r);
}

static void a_span_handed_over_labels_both_threads_in_turn(void **state)
{
	struct rig r;
	struct label_lanes x;
	(void)state;
	rig_init(&r, 100);
	uint32_t a = thread(&r, "a", 1, 0), b = thread(&r, "b", 2, 1);
	uint32_t s = span(&r, a, 1000, 5000);
	r.tl.spans.v[s].end_thread = b;
	r.tl.spans.v[s].handed_ns = 3000;
	label(&r, s, "id", "9");
	assert_int_equal(label_lanes_build(&r.tl, "id", &x), 1);
	assert_string_equal(at(&r, &x, a, 2999, 3000), "9");
	assert_string_equal(at(&r, &x, a, 3000, UINT64_MAX), "");
	assert_string_equal(at(&r, &x, b, 2999, 3000), "");
	assert_string_equal(at(&r, &x, b, 3000, 5000), "9");
	label_lanes_release(&x);
	rig_release(&r);
}

static void windows_label_nothing_and_names_stand_in(void **state)
{
	struct rig r;
	struct label_lanes x;
	(void)state;
	rig_init(&r, 100);
	uint32_t t = thread(&r, "t", 1, 0);
	label(&r, span(&r, TL_NONE, 1000, 2000), "k", "v");
	uint32_t s = span(&r, t, 1000, 2000);
	label(&r, s, "k", "v");
	r.tl.spans.v[s].flags = SPAN_OVERLAPPED;
	span(&r, t, 4000, 5000);
	assert_int_equal(label_lanes_build(&r.tl, "k", &x), 1);
	assert_string_equal(at(&r, &x, t, 1500, UINT64_MAX), "");
	label_lanes_release(&x);
	assert_int_equal(label_lanes_build(&r.tl, "span", &x), 1);
	assert_string_equal(at(&r, &x, t, 4500, 5000), "request");
	label_lanes_release(&x);
	assert_int_equal(label_lanes_build(&r.tl, "nothing", &x), 0);
	label_lanes_release(&x);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_label_changes_to_the_nanosecond),
		cmocka_unit_test(a_tid_is_the_thread_that_had_it_then),
		cmocka_unit_test(a_tid_of_another_host_is_another_thread),
		cmocka_unit_test(a_trampoline_bears_what_it_stood_for_then),
		cmocka_unit_test(two_files_have_histories_of_their_own),
		cmocka_unit_test(the_innermost_span_that_has_it_says),
		cmocka_unit_test(a_population_has_what_bears_the_label),
		cmocka_unit_test(a_span_handed_over_labels_both_threads_in_turn),
		cmocka_unit_test(windows_label_nothing_and_names_stand_in),
	};
	return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
