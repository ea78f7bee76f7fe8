/*
 * label_lanes: which value a label has on a thread at a moment.
 */
#include "tests/unit/libtime/tailrig.h"

#include "libtime/spans/label_lanes.h"

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
	uint32_t value = label_lanes_at(x, thread, ns, &end);
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
		cmocka_unit_test(the_innermost_span_that_has_it_says),
		cmocka_unit_test(a_span_handed_over_labels_both_threads_in_turn),
		cmocka_unit_test(windows_label_nothing_and_names_stand_in),
	};
	return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
