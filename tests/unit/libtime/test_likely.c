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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_sites_does_not_decide),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
