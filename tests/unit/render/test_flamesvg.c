/* The picture: colours, units, what is said about a frame; and that it never dies of memory. */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "render/flame/flame_svg.h"
#include "render/text/weight.h"

#include <stdlib.h>

static uint32_t named(struct flame *f, const char *name)
{
	uint32_t id;
	assert_int_equal(flame_frame_named(f, name, strlen(name), &id), 0);
	return id;
}

static void add(struct flame *f, uint64_t v0, uint64_t v1, const char *a, const char *b)
{
	uint32_t frames[2] = {named(f, a), b ? named(f, b) : 0};
	assert_int_equal(flame_add(f, frames, b ? 2 : 1, v0, v1, NULL), 0);
}

/* The picture as a string to free. */
static char *draw(struct flame *f, const struct flame_svg_options *o,
		  struct flame_svg_stats *st)
{
	char *text = NULL;
	size_t n = 0;
	struct err e = {0};
	FILE *out = open_memstream(&text, &n);
	assert_non_null(out);
	int rc = flame_svg_write(f, o, out, st, &e);
	fclose(out);
	if (rc) {
		free(text);
		return NULL;
	}
	return text;
}

static void says(const char *svg, const char *what)
{
	if (!strstr(svg, what))
		fail_msg("not in the picture: %s", what);
}

static void weights_are_shown_in_human_units(void **state)
{
	(void)state;
	static const struct {
		double ticks, scale, factor;
		const char *unit, *want;
	} cases[] = {
		{1234567, 1, 1, "samples", "1,234,567 samples"},
		{999, 1, 1, "samples", "999 samples"},
		{1, 1, 1, "samples", "1 sample"},
		{1, 1, 1, "cache-misses", "1 cache-misses"},
		{-1234, 1, 1, "samples", "-1,234 samples"},
		{2500000, 1000000, 2, "samples", "5 samples"},
		{999, 1, 1, "ns", "999 ns"},
		{1500, 1, 1, "ns", "1.5 us"},
		{1500, 1, 1, "us", "1.5 ms"},
		{12345, 1, 1, "ms", "12.3 s"},
		{7200, 1, 1, "s", "7200 s"},
		{0, 1, 1, "us", "0 ns"},
		{1536, 1, 1, "bytes", "1.50 KiB"},
		{5, 1, 1, "bytes", "5 bytes"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf b = {0};
		weight_text(&b, cases[i].ticks, cases[i].scale, cases[i].factor, cases[i].unit);
		assert_string_equal(buf_cstr(&b), cases[i].want);
		buf_release(&b);
	}
}

static void a_frame_tells_file_line_and_share(void **state)
{
	(void)state;
	struct flame f;
	struct flame_svg_options o;
	flame_init(&f);
	struct flame_frame fr = {.line = 42, .kind = FLAME_KERNEL};
	uint32_t id;
	strtab_intern(&f.strings, "read<x>", &fr.name);
	strtab_intern(&f.strings, "/lib/libc.so.6", &fr.dso);
	strtab_intern(&f.strings, "io/read.c", &fr.src);
	assert_int_equal(flame_frame(&f, &fr, &id), 0);
	assert_int_equal(flame_add(&f, &id, 1, 1, 0, NULL), 0);
	add(&f, 3, 0, "other", NULL);
	assert_int_equal(flame_finish(&f, NULL), 0);
	flame_svg_defaults(&o);
	char *svg = draw(&f, &o, NULL);
	says(svg, "<title>read&lt;x&gt; (1 sample, "
		  "25.00%)&#10;/lib/libc.so.6&#10;io/read.c:42</title>");
	free(svg);
	flame_release(&f);
}

static void lines_of_one_function_are_one_frame(void **state)
{
	(void)state;
	struct flame f;
	struct flame_svg_options o;
	uint32_t src, name, ids[4];
	flame_init(&f);
	strtab_intern(&f.strings, "loop", &name);
	strtab_intern(&f.strings, "a.c", &src);
	static const uint32_t lines[] = {20, 12, 0, 17};
	for (int i = 0; i < 4; i++) {
		struct flame_frame fr = {.name = name, .src = src, .line = lines[i]};
		assert_int_equal(flame_frame(&f, &fr, &ids[i]), 0);
		assert_int_equal(ids[i], ids[0]);
	}
	struct flame_frame other = {.name = name, .src = src, .kind = FLAME_INLINED};
	uint32_t id;
	assert_int_equal(flame_frame(&f, &other, &id), 0);
	assert_int_not_equal(id, ids[0]);
	assert_int_equal(flame_add(&f, ids, 1, 1, 0, NULL), 0);
	assert_int_equal(flame_finish(&f, NULL), 0);
	flame_svg_defaults(&o);
	char *svg = draw(&f, &o, NULL);
	says(svg, "&#10;a.c:12\xe2\x80\x93"
		  "20</title>");
	free(svg);
	flame_release(&f);
}

/* Threads name frames, so that they come in no order of their own. */
static void the_file_of_a_function_is_the_same_in_any_order(void **state)
{
	(void)state;
	static const struct {
		const char *src;
		uint32_t line;
	} seen[] = {{"b.c", 7}, {"a.c", 30}, {"", 0}, {"a.c", 0}, {"a.c", 21}};
	enum { N = sizeof(seen) / sizeof(seen[0]) };
	for (int from = 0; from < 2 * N; from++) {
		struct flame f;
		struct flame_svg_options o;
		uint32_t id;
		flame_init(&f);
		for (int i = 0; i < N; i++) {
			struct flame_frame fr = {0};
			int at = from < N ? (from + i) % N : (from + N - i) % N;
			strtab_intern(&f.strings, "loop", &fr.name);
			strtab_intern(&f.strings, seen[at].src, &fr.src);
			fr.line = seen[at].line;
			assert_int_equal(flame_frame(&f, &fr, &id), 0);
		}
		assert_int_equal(flame_add(&f, &id, 1, 1, 0, NULL), 0);
		assert_int_equal(flame_finish(&f, NULL), 0);
		flame_svg_defaults(&o);
		char *svg = draw(&f, &o, NULL);
		says(svg, "&#10;a.c:21\xe2\x80\x93"
			  "30</title>");
		free(svg);
		flame_release(&f);
	}
}

static void a_wall_graph_tells_the_waiting_part(void **state)
{
	(void)state;
	struct flame f;
	struct flame_svg_options o;
	flame_init(&f);
	add(&f, 30, 0, "main", "run");
	add(&f, 10, 10, "main", "wait");
	assert_int_equal(flame_finish(&f, NULL), 0);
	flame_svg_defaults(&o);
	o.mode = FLAME_WALL;
	o.countname = "ms";
	char *svg = draw(&f, &o, NULL);
	says(svg, "main (40.0 ms, 100%; waiting 25.00%)");
	says(svg, "wait (10.0 ms, 25.00%; waiting 100%)");
	says(svg, ">running<");
	free(svg);
	flame_release(&f);
}

static void cold_and_hot_differ(void **state)
{
	(void)state;
	assert_int_equal(palette_heat(0xf5934e, 0), 0xf5934e);
	uint32_t cold = palette_heat(0xf5934e, 1);
	assert_true((cold & 0xff) > (cold >> 16)); /* more blue than red */
	assert_int_equal(palette_heat(0xf5934e, 7), cold);
	assert_true(palette_delta(1) >> 16 > (palette_delta(1) & 0xff));
	assert_true(palette_delta(-1) >> 16 < (palette_delta(-1) & 0xff));
	assert_int_equal(palette_delta(0), palette_delta(-0.0));
	assert_int_equal(palette_cause("[io]", 4), palette_cause("io", 2));
	assert_int_not_equal(palette_cause("io", 2), palette_cause("lock", 4));
	/* of one hue, and told apart by a pattern */
	assert_int_equal(palette_cause("futex", 5), palette_cause("lock", 4));
	assert_int_not_equal(palette_cause_pattern("futex", 5),
			     palette_cause_pattern("lock", 4));
}

static void colours_depend_on_names_not_on_neighbours(void **state)
{
	(void)state;
	struct flame a, b;
	flame_init(&a);
	flame_init(&b);
	named(&b, "first");
	uint32_t in_a = named(&a, "work"), in_b = named(&b, "work"), k = named(&b, "work_[k]");
	for (int id = 0; id < PALETTES; id++) {
		struct palette p = {.id = (enum palette_id)id};
		assert_int_equal(palette_color(&p, &a, in_a), palette_color(&p, &b, in_b));
		p.variation = PALETTE_HASH;
		assert_int_equal(palette_color(&p, &a, in_a), palette_color(&p, &b, in_b));
	}
	struct palette kind = {.id = PALETTE_KIND};
	assert_int_not_equal(palette_color(&kind, &b, in_b), palette_color(&kind, &b, k));
	flame_release(&a);
	flame_release(&b);
}

static void black_labels_are_readable_on_every_palette(void **state)
{
	(void)state;
	struct flame f;
	flame_init(&f);
	char name[32];
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "f%d%s", i, i % 3 ? "" : i % 2 ? "_[k]" : "_[j]");
		named(&f, name);
	}
	for (int id = 0; id < PALETTES; id++)
		for (uint32_t i = 0; i < f.frames.n; i++) {
			struct palette p = {.id = (enum palette_id)id};
			uint32_t c = palette_color(&p, &f, i);
			/* relative luminance, gamma 2.2 taken as 2: contrast with black >= 4.5
			 */
			double r = (c >> 16) / 255.0, g = (c >> 8 & 255) / 255.0,
			       b = (c & 255) / 255.0;
			double l = 0.2126 * r * r + 0.7152 * g * g + 0.0722 * b * b;
			if ((l + 0.05) / 0.05 < 4.5)
				fail_msg("palette %d: #%06x is too dark", id, c);
		}
	flame_release(&f);
}

static void palettes_and_backgrounds_are_found_by_name(void **state)
{
	(void)state;
	enum palette_id id;
	struct err e = {0};
	uint32_t rgb[2];
	assert_int_equal(palette_find("chain", &id, &e), 0);
	assert_int_equal(id, PALETTE_CHAIN);
	assert_int_equal(palette_find("puce", &id, &e), ERR_NOTFOUND);
	assert_non_null(strstr(e.msg, "hot mem io"));
	assert_int_equal(palette_background("#a0B1c2", PALETTE_HOT, rgb, &e), 0);
	assert_int_equal(rgb[1], 0xa0b1c2);
	assert_int_equal(palette_background("#12345g", PALETTE_HOT, rgb, &e), ERR_NOTFOUND);
}

static void a_map_keeps_colours(void **state)
{
	(void)state;
	struct palette_map m = {0};
	struct buf b = {0};
	assert_int_equal(palette_map_put(&m, "b->rgb(x", 8, 0x010203), 0);
	assert_int_equal(palette_map_put(&m, "a", 1, 0xffffff), 0);
	assert_int_equal(palette_map_put(&m, "a", 1, 0x0a0b0c), 0);
	assert_int_equal(palette_map_print(&m, &b), 0);
	assert_string_equal(buf_cstr(&b), "a->rgb(10,11,12)\nb->rgb(x->rgb(1,2,3)\n");
	struct flame f;
	flame_init(&f);
	struct palette p = {.id = PALETTE_HOT, .map = &m};
	assert_int_equal(palette_color(&p, &f, named(&f, "a")), 0x0a0b0c);
	flame_release(&f);
	buf_release(&b);
	palette_map_release(&m);
}

static void nothing_to_draw_is_said(void **state)
{
	(void)state;
	struct flame f;
	struct flame_svg_options o;
	flame_init(&f);
	assert_int_equal(flame_finish(&f, NULL), 0);
	flame_svg_defaults(&o);
	char *svg = draw(&f, &o, NULL);
	says(svg, "no stack has any weight");
	free(svg);
	flame_release(&f);
}

static void more_nodes_than_allowed_are_summed_up(void **state)
{
	(void)state;
	struct flame f;
	struct flame_svg_options o;
	struct flame_svg_stats st;
	flame_init(&f);
	char name[32];
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		add(&f, (uint64_t)(i < 10 ? 1000 : 1), 0, "main", name);
	}
	assert_int_equal(flame_finish(&f, NULL), 0);
	flame_svg_defaults(&o);
	o.max_nodes = 100;
	char *svg = draw(&f, &o, &st);
	assert_int_equal(st.nodes_carried, 2 + 10 + 1); /* all, main, the ten, the mark */
	says(svg, "[smaller frames]");
	free(svg);
	flame_release(&f);
}

static void running_out_of_memory_is_an_error(void **state)
{
	(void)state;
	for (long n = 0; n < 400; n++) {
		struct flame f;
		struct flame_svg_options o;
		char name[32];
		flame_init(&f);
		for (int i = 0; i < 50; i++) {
			snprintf(name, sizeof(name), "f%d", i);
			add(&f, (uint64_t)i, (uint64_t)i / 2, "main", name);
		}
		assert_int_equal(flame_finish(&f, NULL), 0);
		flame_svg_defaults(&o);
		o.mode = n % 2 ? FLAME_DIFF : FLAME_PLAIN;
		o.palette.id = PALETTE_DSO;
		mem_fail_after(n);
		char *svg = draw(&f, &o, NULL);
		mem_fail_after(-1);
		if (svg)
			says(svg, "</svg>");
		free(svg);
		flame_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_shown_in_human_units),
		cmocka_unit_test(a_frame_tells_file_line_and_share),
		cmocka_unit_test(lines_of_one_function_are_one_frame),
		cmocka_unit_test(the_file_of_a_function_is_the_same_in_any_order),
		cmocka_unit_test(a_wall_graph_tells_the_waiting_part),
		cmocka_unit_test(cold_and_hot_differ),
		cmocka_unit_test(colours_depend_on_names_not_on_neighbours),
		cmocka_unit_test(black_labels_are_readable_on_every_palette),
		cmocka_unit_test(palettes_and_backgrounds_are_found_by_name),
		cmocka_unit_test(a_map_keeps_colours),
		cmocka_unit_test(nothing_to_draw_is_said),
		cmocka_unit_test(more_nodes_than_allowed_are_summed_up),
		cmocka_unit_test(running_out_of_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
