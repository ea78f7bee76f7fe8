/* likely: where a thread rests. */
#include "libtime/population/likely.h"
#include "tests/unit/libtime/tailrig.h"

enum { A = 1, B, C, SITES };

/* Waits at three sites, of equal time in all: a has a shallower stack than b, b than c; c has
 * more than twice as many as a. */
static uint64_t waits_at(struct rig *r, uint32_t t, int site, uint64_t at)
{
	static const struct {
		unsigned n;
		uint64_t us;
		const char *stack;
	} is[SITES] = {[A] = {10, 306, "main;a"},
		       [B] = {18, 170, "main;b;rest"},
		       [C] = {30, 102, "main;c;wait;rest"}};
	for (unsigned i = 0; i < is[site].n; i++, at += 1000) {
		struct offcpu *o = off(r, t, at, at + is[site].us, at + is[site].us, CAUSE_COND,
				       is[site].stack);
		o->site = (uint32_t)site;
		o->flags |= OFF_UNCLEAR;
	}
	return at;
}

static void the_order_of_sites_does_not_decide(void **state)
{
	static const int orders[][3] = {{A, B, C}, {A, C, B}, {B, A, C},
					{B, C, A}, {C, A, B}, {C, B, A}};
	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct rig r;
		struct likely *x;
		uint64_t at = 1000;
		rig_init(&r, 100000);
		for (int k = 0; k < SITES; k++)
			assert_int_equal(vec_push(&r.tl.sites,
						  ((struct tl_site){.verdict = SITE_UNCLEAR})),
					 0);
		uint32_t t = thread(&r, "front", 1, 0);
		for (int k = 0; k < 3; k++)
			at = waits_at(&r, t, orders[i][k], at);
		finish(&r);
		roles(&r);
		assert_int_equal(likely_new(&r.tl, &x), 0);
		assert_true(likely_is_base(x, B));
		assert_false(likely_is_base(x, A) || likely_is_base(x, C));
		likely_free(x);
		rig_release(&r);
	}
}

/* Generated code without names: the thread rests in a sleep, so a wait for a condition is another
 * place, though a wait with the same cause may not be. */
static void another_cause_is_another_site(void **state)
{
	(void)state;
	for (int copies = 0; copies < 2; copies++) {
		struct rig r;
		struct likely *x;
		static const uint8_t causes[] = {CAUSE_UNKNOWN, CAUSE_POLL, CAUSE_COND,
						 CAUSE_POLL};
		rig_init(&r, 100000);
		struct tl_event ev = {.name = text(&r, "sched:sched_switch"),
				      .stacks = copies ? STACKS_DWARF : STACKS_FRAME_POINTERS};
		assert_int_equal(vec_push(&r.tl.events, ev), 0);
		for (int k = 0; k < SITES; k++)
			assert_int_equal(vec_push(&r.tl.sites,
						  ((struct tl_site){.verdict = SITE_UNCLEAR,
								    .reason = REASON_NO_FRAME,
								    .cause = causes[k]})),
					 0);
		uint32_t t = thread(&r, "front", 1, 0);
		uint64_t at = waits_at(&r, t, A, 1000);
		for (uint32_t site = B; site < SITES; site++, at += 1000) {
			struct offcpu *o =
				off(&r, t, at, at + 500, at + 500, causes[site], "main");
			o->site = site;
			o->flags |= OFF_UNCLEAR;
		}
		finish(&r);
		roles(&r);
		assert_int_equal(likely_new(&r.tl, &x), 0);
		for (size_t i = 0; i < r.tl.offcpu.n; i++)
			assert_int_equal(likely_waited_for(x, &r.tl.offcpu.v[i]),
					 copies && r.tl.offcpu.v[i].site == B);
		likely_free(x);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_sites_does_not_decide),
		cmocka_unit_test(another_cause_is_another_site),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
