/*
 * runs: chances against a count of all orders, figures against R's wilcox.test, false alarms and
 * found changes of made-up runs; conditions on them.
 */
#include "tests/lib/unit.h"

#include "libtime/tables/gate.h"

#include <math.h>

static uint64_t state;

static double chance(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((double)((state * 2685821657736338717u) >> 11) + 0.5) / 9007199254740992.0;
}

static void begin(struct runs *r, int side, size_t i)
{
	char name[32];
	snprintf(name, sizeof(name), "%s%zu.data", side == BEFORE ? "b" : "a", i);
	assert_int_equal(runs_begin(r, side, name), 0);
	r->v.v[r->v.n - 1].when_ns = r->v.n;
}

static void add(struct runs *r, unsigned kind, const char *name, double value)
{
	assert_int_equal(runs_add(r, kind, name, 0, FIGURE_NS, value), 0);
}

static struct figure *named(const struct runs *r, const char *name)
{
	for (size_t i = 0; i < r->figures.n; i++)
		if (!strcmp(r->figures.v[i].name, name))
			return &r->figures.v[i];
	return NULL;
}

/* The sum of ranks (U) of the bits, as of the runs after. */
static unsigned sum_of(unsigned bits, unsigned all)
{
	unsigned below = 0, sum = 0;
	for (unsigned i = 0; i < all; i++)
		if (bits >> i & 1)
			sum += below;
		else
			below++;
	return sum;
}

/* Runs in the order of the bits; against a count of all orders. */
static void check_order(unsigned bits, unsigned n, unsigned m)
{
	struct runs r = {.least_share = 0};
	double all = 0, few = 0, many = 0;
	for (int side = BEFORE; side <= AFTER; side++)
		for (unsigned i = 0; i < n + m; i++)
			if ((bits >> i & 1) == (side == AFTER)) {
				begin(&r, side, i);
				add(&r, FIGURE_WHOLE, "w", 100 + i);
			}
	assert_int_equal(runs_finish(&r), 0);
	for (unsigned other = 0; other < 1u << (n + m); other++) {
		if ((unsigned)__builtin_popcount(other) != m)
			continue;
		all++;
		few += sum_of(other, n + m) <= sum_of(bits, n + m);
		many += sum_of(other, n + m) >= sum_of(bits, n + m);
	}
	assert_true(fabs(named(&r, "w")->less - few / all) < 1e-12);
	assert_true(fabs(named(&r, "w")->more - many / all) < 1e-12);
	runs_release(&r);
}

static void test_chances(void **s)
{
	(void)s;
	static const unsigned sizes[][2] = {{1, 1}, {3, 3}, {4, 6}, {6, 3}, {2, 7}};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		unsigned n = sizes[i][0], m = sizes[i][1];
		for (unsigned bits = 0; bits < 1u << (n + m); bits += 1 + bits % 3)
			if ((unsigned)__builtin_popcount(bits) == m)
				check_order(bits, n, m);
	}
	assert_int_equal(runs_needed(1), 4);
	assert_int_equal(runs_needed(10), 6);
}

/* Beyond the sizes that are computed exactly: 41 and 41 runs, in turns. */
static void test_many(void **s)
{
	(void)s;
	struct runs r = {.least_share = 0};
	for (size_t i = 0; i < 82; i++) {
		begin(&r, i >= 41, i);
		add(&r, FIGURE_WHOLE, "w", 100 + (double)(i < 41 ? 2 * i : 2 * (i - 41) + 1));
		add(&r, FIGURE_WHOLE, "more", 100 + (double)(i % 41) + (i >= 41 ? 12 : 0));
	}
	assert_int_equal(runs_finish(&r), 0);
	assert_int_equal(named(&r, "w")->verdict, RUNS_CANNOT_SAY); /* least is 0 */
	assert_true(named(&r, "w")->chance > 0.5);
	assert_int_equal(named(&r, "more")->verdict, RUNS_MORE);
	assert_true(named(&r, "more")->low < 12 && named(&r, "more")->high > 12);
	runs_release(&r);
}

/* x and y are those of the example of wilcox.test in R: W = 35, p = 0.2544 for both sides. */
static void test_figures(void **s)
{
	(void)s;
	static const double x[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
	static const double y[] = {1.15, 0.88, 0.90, 0.74, 1.21};
	struct runs r = {.least_share = 0};
	for (size_t i = 0; i < 5; i++) {
		begin(&r, BEFORE, i);
		add(&r, FIGURE_WHOLE, "w", y[i]);
	}
	for (size_t i = 0; i < 10; i++) {
		begin(&r, AFTER, i);
		add(&r, FIGURE_WHOLE, "w", x[i]);
	}
	assert_int_equal(runs_finish(&r), 0);
	const struct figure *f = named(&r, "w");
	assert_true(fabs(f->chance - 0.2544) < 5e-5);
	assert_true(fabs(f->more - 0.1272) < 5e-5);
	assert_true(fabs(f->before - 0.90) < 1e-9 && fabs(f->after - 1.415) < 1e-9);
	assert_true(fabs(f->difference - 0.515) < 1e-9);
	assert_true(fabs(f->low + 0.15) < 1e-9 && fabs(f->high - 0.76) < 1e-9);
	assert_int_equal(f->verdict, RUNS_CANNOT_SAY);
	assert_int_equal(r.order, RUNS_SPLIT);
	runs_release(&r);
}

/* Runs with two modes: the medians change by as much as there is, which no range of pairs has. */
static void test_range_has_the_change(void **s)
{
	(void)s;
	struct runs r = {.least_share = 0};
	for (size_t i = 0; i < 40; i++) {
		begin(&r, i >= 20, i);
		add(&r, FIGURE_WHOLE, "w", i % 20 < (i < 20 ? 9 : 11) ? 1 : 11);
	}
	assert_int_equal(runs_finish(&r), 0);
	const struct figure *f = named(&r, "w");
	assert_true(f->before == 11 && f->after == 1 && f->difference == -10);
	assert_true(f->low == -10 && f->high == 0);
	assert_int_equal(f->verdict, RUNS_CANNOT_SAY);
	runs_release(&r);
}

enum { ROWS = 12 };

/* n and n runs; every row varies by 3 %, and all of them with the run; row 0 is `grown` as
 * large. */
static void made_up(struct runs *r, size_t n, double grown)
{
	*r = (struct runs){.least_share = 0.02};
	for (size_t i = 0; i < 2 * n; i++) {
		double run = 1 + 0.02 * (chance() - 0.5);
		begin(r, i < n ? BEFORE : AFTER, i);
		for (int k = 0; k < ROWS; k++) {
			char name[16];
			snprintf(name, sizeof(name), "row%d", k);
			add(r, FIGURE_SELF, name,
			    100 * run * (1 + 0.06 * (chance() - 0.5)) *
				    (k == 0 && i >= n ? grown : 1));
		}
	}
	assert_int_equal(runs_finish(r), 0);
}

static void test_alarms(void **s)
{
	(void)s;
	enum { TRIALS = 300 };
	int alarms = 0, found = 0;
	state = 7;
	for (int i = 0; i < TRIALS; i++) {
		struct runs r;
		int any = 0;
		made_up(&r, 8, 1);
		for (size_t k = 0; k < r.figures.n; k++)
			any |= r.figures.v[k].chance <= RUNS_LEVEL;
		alarms += any;
		runs_release(&r);
		made_up(&r, 8, 1.3); /* 2.5 % of the total */
		found += named(&r, "row0")->verdict == RUNS_MORE;
		runs_release(&r);
	}
	assert_true(alarms <= TRIALS * 7 / 100); /* 5 % and its error */
	assert_int_equal(found, TRIALS);
}

/* With three runs each, nothing is claimed, however large; a clear "same" takes ranges. */
static void test_few(void **s)
{
	(void)s;
	struct runs r;
	state = 3;
	made_up(&r, 3, 5);
	assert_true(r.attainable > RUNS_LEVEL);
	for (size_t i = 0; i < r.figures.n; i++)
		assert_int_equal(r.figures.v[i].verdict, RUNS_CANNOT_SAY);
	assert_true(isinf(named(&r, "row0")->high));
	runs_release(&r);
	made_up(&r, 10, 1);
	for (size_t i = 0; i < r.figures.n; i++)
		assert_int_equal(r.figures.v[i].verdict, RUNS_SAME);
	runs_release(&r);
}

static void test_order(void **s)
{
	(void)s;
	struct runs r = {.least_share = 0.02};
	for (size_t i = 0; i < 16; i++) {
		begin(&r, i < 8 ? BEFORE : AFTER, i);
		r.v.v[i].when_ns = i < 8 ? 2 * i + 1 : 2 * (i - 8) + 2;
		add(&r, FIGURE_WHOLE, "w", (double)(100 + r.v.v[i].when_ns));
		add(&r, FIGURE_WHOLE, "even", 100 + (double)(i % 3));
	}
	assert_int_equal(runs_finish(&r), 0);
	assert_int_equal(r.order, RUNS_MIXED);
	assert_int_equal(runs_drift(&r, named(&r, "w")), 1);
	assert_int_equal(runs_drift(&r, named(&r, "even")), 0);
	runs_release(&r);
	r = (struct runs){.least_share = 0.02};
	for (size_t i = 0; i < 4; i++) {
		begin(&r, i < 2 ? BEFORE : AFTER, i);
		r.v.v[i].when_ns = 10 - i;
		add(&r, FIGURE_WHOLE, "w", 1);
	}
	assert_int_equal(runs_finish(&r), 0);
	assert_int_equal(r.order, RUNS_SWAPPED);
	runs_release(&r);
	r = (struct runs){.least_share = 0.02};
	for (size_t i = 0; i < 10; i++) { /* all but one of each side one after the other */
		static const uint64_t when[10] = {1, 2, 3, 4, 9, 5, 6, 7, 8, 10};
		begin(&r, i < 5 ? BEFORE : AFTER, i);
		r.v.v[i].when_ns = when[i];
		add(&r, FIGURE_WHOLE, "w", 1);
	}
	assert_int_equal(runs_finish(&r), 0);
	assert_int_equal(r.order, RUNS_MIXED);
	for (size_t i = 0; i < 10; i++)
		r.v.v[i].when_ns = i == 4 ? 6 : i == 5 ? 5 : i + 1; /* two are exchanged */
	assert_int_equal(runs_finish(&r), 0);
	assert_int_equal(r.order, RUNS_APART);
	runs_release(&r);
}

/* Versions in names do not tell sites apart. */
static void test_names(void **s)
{
	(void)s;
	struct runs r = {.least_share = 0};
	for (size_t i = 0; i < 8; i++) {
		begin(&r, i < 4 ? BEFORE : AFTER, i);
		add(&r, FIGURE_SITE,
		    i < 4 ? "app-1.2: sleep in work()" : "app-1.3: sleep in work()", 5);
	}
	assert_int_equal(runs_finish(&r), 0);
	assert_int_equal(r.figures.n, 1);
	assert_int_equal(r.figures.v[0].difference, 0);
	runs_release(&r);
}

static unsigned asked(const struct runs *r, const char *text)
{
	struct gate g;
	struct err e = {0};
	assert_int_equal(gate_parse(&g, text, &e), 0);
	assert_int_equal(gates_answer(&g, 1, r), 0);
	gate_release(&g);
	return g.answer;
}

static void test_gates(void **s)
{
	(void)s;
	struct runs r = {.least_share = 0.02};
	for (size_t i = 0; i < 12; i++) {
		int after = i >= 6;
		double x = (double)(i % 6);
		begin(&r, after, i);
		add(&r, FIGURE_SELF, "parse_head, app", (after ? 115 : 100) + x / 10);
		add(&r, FIGURE_SELF, "other, app", 200 + x);
		add(&r, FIGURE_SELF, "noisy, app", 100 + 20 * x);
		add(&r, FIGURE_SITE, "app: sleep in store()", after ? 80 : 100);
		add(&r, FIGURE_ROOT, "old: lock", 10);
		if (after)
			add(&r, FIGURE_ROOT, "fresh: lock", 10);
		if (i == 11)
			add(&r, FIGURE_CAUSE, "once", 10);
		assert_int_equal(runs_add(&r, FIGURE_SPAN_LENGTH, "check out", 99000, FIGURE_NS,
					  after ? 106 + x / 10 : 100 + x / 10),
				 0);
	}
	assert_int_equal(runs_finish(&r), 0);
	assert_int_equal(asked(&r, "function parse_* self more 10%"), GATE_YES);
	assert_int_equal(asked(&r, "function parse_* self more 20%"), GATE_NO);
	assert_int_equal(asked(&r, "function parse_* self less"), GATE_NO);
	assert_int_equal(asked(&r, "function other self more 5%"), GATE_NO);
	assert_int_equal(asked(&r, "function noisy self more 5%"), GATE_CANNOT_SAY);
	assert_int_equal(asked(&r, "function nobody self more 5%"), GATE_CANNOT_SAY);
	assert_int_equal(asked(&r, "span check out p99 more 5%"), GATE_YES);
	assert_int_equal(asked(&r, "site *store* less 10%"), GATE_YES);
	assert_int_equal(asked(&r, "new root"), GATE_YES);
	assert_int_equal(asked(&r, "new cause"), GATE_NO); /* in one run only */
	assert_int_equal(asked(&r, "new site"), GATE_NO);
	runs_release(&r);
}

static void test_bad_gates(void **s)
{
	(void)s;
	static const char *const bad[] = {"",
					  "new",
					  "new wait",
					  "new root 5%",
					  "function",
					  "function more",
					  "span x p99",
					  "wait more 5%",
					  "wait x p99 more",
					  "thing x more 5%",
					  "function x more -5%",
					  "function x more 5",
					  "span x p77 less 1%%"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct gate g;
		struct err e = {0};
		assert_int_equal(gate_parse(&g, bad[i], &e), ERR_USAGE);
		gate_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chances), cmocka_unit_test(test_many),
		cmocka_unit_test(test_figures), cmocka_unit_test(test_range_has_the_change),
		cmocka_unit_test(test_alarms),  cmocka_unit_test(test_few),
		cmocka_unit_test(test_order),   cmocka_unit_test(test_names),
		cmocka_unit_test(test_gates),   cmocka_unit_test(test_bad_gates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
