/* Colours that mean different things can be told apart, also by the colour-blind: CIE 1976, after
 * Machado et al. (2009) for protanopes and deuteranopes. */
#include "tests/lib/unit.h"

#include "render/flame/palette.h"

#include <math.h>
#include <string.h>

enum { LEAST = 15, SIGHTS = 3, LIGHT_GROUND = 0xfbfbf9, DARK_GROUND = 0x1b1d21 };

static const char *const sights[SIGHTS] = {"full", "protan", "deutan"};
static const double seen_by[SIGHTS][3][3] = {
	{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{0.152286, 1.052583, -0.204868},
	 {0.114503, 0.786281, 0.099216},
	 {-0.003882, -0.048116, 1.051998}},
	{{0.367322, 0.860646, -0.227968},
	 {0.280085, 0.672501, 0.047413},
	 {-0.011820, 0.042940, 0.968881}},
};

static double linear(uint32_t c)
{
	double x = (double)c / 255;
	return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static double cube_root(double t)
{
	return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static void to_lab(uint32_t rgb, int sight, double lab[3])
{
	double in[3] = {linear(rgb >> 16 & 255), linear(rgb >> 8 & 255), linear(rgb & 255)};
	double v[3];
	for (int i = 0; i < 3; i++) {
		const double *m = seen_by[sight][i];
		v[i] = fmin(1, fmax(0, m[0] * in[0] + m[1] * in[1] + m[2] * in[2]));
	}
	double x = 0.4124564 * v[0] + 0.3575761 * v[1] + 0.1804375 * v[2];
	double y = 0.2126729 * v[0] + 0.7151522 * v[1] + 0.0721750 * v[2];
	double z = 0.0193339 * v[0] + 0.1191920 * v[1] + 0.9503041 * v[2];
	x = cube_root(x / 0.95047), y = cube_root(y), z = cube_root(z / 1.08883);
	lab[0] = 116 * y - 16, lab[1] = 500 * (x - y), lab[2] = 200 * (y - z);
}

static double apart(uint32_t a, uint32_t b, int sight)
{
	double p[3], q[3];
	to_lab(a, sight, p);
	to_lab(b, sight, q);
	return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
		    (p[2] - q[2]) * (p[2] - q[2]));
}

/* 1 where two colours are one, or far enough from each other. */
static int told_apart(const char *a, uint32_t x, const char *b, uint32_t y)
{
	int ok = 1;
	for (int sight = 0; sight < SIGHTS; sight++)
		if (x != y && apart(x, y, sight) < LEAST) {
			print_message("%s %06x and %s %06x: %.1f apart for %s sight\n", a, x, b,
				      y, apart(x, y, sight), sights[sight]);
			ok = 0;
		}
	return ok;
}

static void the_distance_is_that_of_the_standard(void **state)
{
	(void)state;
	assert_float_equal(apart(0xffffff, 0x000000, 0), 100, 0.01);
	assert_float_equal(apart(0xff0000, 0x00ff00, 0), 170.57, 0.1);
}

static void meanings_are_told_apart(void **state)
{
	(void)state;
	struct palette_meaning a = {0}, b = {0};
	size_t n = palette_meaning(0, &a);
	int ok = 1;
	for (size_t i = 0; i < n; i++) {
		palette_meaning(i, &a);
		for (size_t k = i + 1; k < n; k++) {
			palette_meaning(k, &b);
			ok &= told_apart(a.name, a.light, b.name, b.light);
			ok &= told_apart(a.name, a.dark, b.name, b.dark);
		}
		ok &= told_apart(a.name, a.light, "the ground", LIGHT_GROUND);
		ok &= told_apart(a.name, a.dark, "the dark ground", DARK_GROUND);
		assert_int_equal(a.light, palette_cause(a.name, strlen(a.name)));
	}
	assert_true(ok);
}

/* What no rule knows is the grey of the unknown, and no lock's. */
static void no_known_cause_is_grey(void **state)
{
	(void)state;
	uint32_t lock = palette_cause("[lock]", 6), none = palette_cause("[?]", 3);
	assert_int_equal(none, palette_cause("unknown", 7));
	assert_true(told_apart("lock", lock, "no known cause", none));
}

/* The keys of each legend, and a difference that grew, shrank or did neither. */
static void keys_of_a_legend_are_told_apart(void **state)
{
	(void)state;
	enum { MOST = 16 };
	struct palette_key keys[MOST] = {{palette_delta(1), "grew"},
					 {palette_delta(0), "the same"},
					 {palette_delta(-1), "shrank"}};
	int ok = 1;
	size_t n = 3, seen = 0;
	for (int id = -1; id < PALETTES; id++) {
		n = id < 0 ? n : palette_legend((enum palette_id)id, UINT32_MAX, keys, MOST);
		seen += n;
		for (size_t i = 0; i < n; i++)
			for (size_t k = i + 1; k < n; k++)
				ok &= told_apart(keys[i].text, keys[i].rgb, keys[k].text,
						 keys[k].rgb);
	}
	assert_true(seen > 20);
	assert_true(ok);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_distance_is_that_of_the_standard),
		cmocka_unit_test(meanings_are_told_apart),
		cmocka_unit_test(no_known_cause_is_grey),
		cmocka_unit_test(keys_of_a_legend_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
