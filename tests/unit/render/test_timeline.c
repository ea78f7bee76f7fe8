/* The timeline's geometry against figures worked out by hand; the picture's safety. */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "render/timeline/timeline_svg.h"

#include <math.h>
#include <stdlib.h>

struct world {
	struct stacks stacks;
	struct timeline tl;
};

static uint32_t text(struct world *w, const char *s)
{
	uint32_t id;
	assert_int_equal(strtab_intern(&w->stacks.strings, s, &id), 0);
	return id;
}

static uint32_t thread(struct world *w, const char *name, int pid, int tid, uint64_t first,
		       uint64_t last)
{
	struct tl_thread t = {.comm = text(w, name),
			      .pid = pid,
			      .tid = tid,
			      .first_ns = first,
			      .last_ns = last};
	assert_int_equal(vec_push(&w->tl.threads, t), 0);
	return (uint32_t)w->tl.threads.n - 1;
}

static void off(struct world *w, uint32_t t, uint64_t start, uint64_t woken, uint64_t end,
		enum cause cause, int flags, uint32_t waker)
{
	struct offcpu o = {.thread = t,
			   .start_ns = start,
			   .end_ns = end,
			   .blocked_ns = woken - start,
			   .cause = (uint8_t)cause,
			   .flags = (uint8_t)flags,
			   .waker = waker,
			   .waker_context = waker == TL_NONE ? WAKER_NONE : WAKER_TASK};
	assert_int_equal(bigvec_push(&w->tl.offcpu, o, NULL), 0);
}

/*
 * Threads over 0..1000 ns, r runnable, p preempted, i idle:
 *
 *	main    run 0-100, lock 100-400, r 400-500, run 500-1000       woken by helper
 *	helper  idle 0-200 (i), run 200-600, p 600-700, run 700-1000
 *	late    born at 800, runs to 900
 *	sleeper idle all the time
 */
static void begin(struct world *w)
{
	*w = (struct world){0};
	assert_int_equal(timeline_init(&w->tl, &w->stacks), 0);
	w->tl.rec = (struct tl_recording){.origin_ns = 0, .end_ns = 1000, .ncpus = 2};
	thread(w, "main", 10, 10, 0, 1000);
	thread(w, "helper", 10, 11, 0, 1000);
	thread(w, "late", 20, 20, 800, 900);
	thread(w, "sleeper", 30, 30, 0, 1000);
	off(w, 0, 100, 400, 500, CAUSE_LOCK, 0, 1);
	off(w, 1, 0, 200, 200, CAUSE_POLL, OFF_IDLE, TL_NONE);
	off(w, 1, 600, 600, 700, CAUSE_PREEMPT, OFF_RUNNING, TL_NONE);
	off(w, 3, 0, 1000, 1000, CAUSE_POLL, OFF_IDLE | OFF_OPEN, TL_NONE);
	assert_int_equal(timeline_finish(&w->tl, NULL), 0);
	assert_int_equal(timeline_check(&w->tl, NULL), 0);
}

static void end(struct world *w)
{
	timeline_release(&w->tl);
	stacks_release(&w->stacks);
}

static void segment(struct tl_segs *s, uint64_t from, uint64_t to, unsigned paint)
{
	struct tl_seg seg;
	assert_int_equal(tl_segs_next(s, &seg), 1);
	assert_int_equal(seg.start_ns, from);
	assert_int_equal(seg.end_ns, to);
	assert_int_equal(seg.paint, paint);
}

static void states_follow_each_other_without_gap(void **state)
{
	(void)state;
	struct world w;
	struct tl_segs s;
	struct tl_seg seg;
	begin(&w);
	tl_segs_init(&s, &w.tl, 0, 0, 1000);
	segment(&s, 0, 100, TLP_RUN);
	segment(&s, 100, 400, TLP_BLOCKED + CAUSE_LOCK);
	segment(&s, 400, 500, TLP_RUNNABLE);
	segment(&s, 500, 1000, TLP_RUN);
	assert_int_equal(tl_segs_next(&s, &seg), 0);
	tl_segs_init(&s, &w.tl, 1, 100, 650); /* cut by the window */
	segment(&s, 100, 200, TLP_IDLE);
	segment(&s, 200, 600, TLP_RUN);
	segment(&s, 600, 650, TLP_PREEMPTED);
	assert_int_equal(tl_segs_next(&s, &seg), 0);
	tl_segs_init(&s, &w.tl, 2, 0, 5000); /* its life is shorter than the window */
	segment(&s, 800, 900, TLP_RUN);
	assert_int_equal(tl_segs_next(&s, &seg), 0);
	end(&w);
}

/* A wait that may be for work is marked, or a line with no_unclear. */
static void unclear_waits_have_paints_of_their_own(void **state)
{
	(void)state;
	struct world w;
	struct tl_segs s;
	begin(&w);
	w.tl.offcpu.v[0].flags |= OFF_UNCLEAR | OFF_LOOP;
	tl_segs_init(&s, &w.tl, 0, 100, 450);
	segment(&s, 100, 400, TLP_UNCLEAR + CAUSE_LOCK);
	segment(&s, 400, 450, TLP_RUNNABLE);
	tl_segs_init(&s, &w.tl, 0, 100, 450);
	s.no_unclear = 1;
	segment(&s, 100, 400, TLP_LEFT_OUT);
	segment(&s, 400, 450, TLP_RUNNABLE);
	assert_int_equal(tl_paint_filled_as(TLP_UNCLEAR + CAUSE_LOCK),
			 TLP_BLOCKED + CAUSE_LOCK);
	assert_string_equal(tl_paint_name(TLP_UNCLEAR + CAUSE_LOCK), "lock");
	end(&w);
}

static void sums_are_the_life(void **state)
{
	(void)state;
	struct world w;
	uint64_t ns[TLP_COUNT], all = 0;
	begin(&w);
	tl_paint_sums(&w.tl, 0, 0, 1000, ns);
	assert_int_equal(ns[TLP_RUN], 600);
	assert_int_equal(ns[TLP_RUNNABLE], 100);
	assert_int_equal(ns[TLP_BLOCKED + CAUSE_LOCK], 300);
	for (int i = 0; i < TLP_COUNT; i++)
		all += ns[i];
	assert_int_equal(all, 1000);
	end(&w);
}

static void cell(const tl_cells *v, size_t i, double x, double width, unsigned paint,
		 double low, double high)
{
	assert_true(i < v->n);
	const struct tl_cell *c = &v->v[i];
	if (fabs(c->x - x) > 1e-6 || fabs(c->w - width) > 1e-6 || c->paint != paint ||
	    fabs((double)c->low - low) > 1e-6 || fabs((double)c->high - high) > 1e-6)
		fail_msg("cell %zu: x %g w %g paint %d %g..%g", i, c->x, c->w, c->paint,
			 (double)c->low, (double)c->high);
}

static void wide_pieces_are_exact_cells(void **state)
{
	(void)state;
	struct world w;
	tl_cells v = {0};
	struct tl_window win = {0, 1000, 100, 0};
	begin(&w);
	assert_int_equal(tl_thread_cells(&w.tl, 0, &win, 7, &v), 0);
	assert_int_equal(v.n, 4);
	cell(&v, 0, 0, 10, TLP_RUN, 0, 1);
	cell(&v, 1, 10, 30, TLP_BLOCKED + CAUSE_LOCK, 0, 1);
	cell(&v, 2, 40, 10, TLP_RUNNABLE, 0, 1);
	cell(&v, 3, 50, 50, TLP_RUN, 0, 1);
	assert_int_equal(v.v[1].row, 7);
	assert_int_equal(v.v[1].ref, 0);
	assert_int_equal(v.v[0].ref, TL_NONE);
	vec_release(&v);
	end(&w);
}

/* 1000 ns on 4 px: 250 ns a column. run 0-100, lock 100-400 (1.2 px), r, run 500-1000 (2 px).
 */
static void fine_pieces_share_columns_by_time(void **state)
{
	(void)state;
	struct world w;
	tl_cells v = {0};
	struct tl_window win = {0, 1000, 4, 0};
	begin(&w);
	assert_int_equal(tl_thread_cells(&w.tl, 0, &win, 0, &v), 0);
	assert_int_equal(v.n, 5);
	cell(&v, 0, 0, 1, TLP_RUN, 0, 0.4);
	cell(&v, 1, 0, 1, TLP_BLOCKED + CAUSE_LOCK, 0.4, 1);
	cell(&v, 2, 1, 1, TLP_RUNNABLE, 0, 0.4);
	cell(&v, 3, 1, 1, TLP_BLOCKED + CAUSE_LOCK, 0.4, 1);
	cell(&v, 4, 2, 2, TLP_RUN, 0, 1);
	assert_int_equal(v.v[0].mixed, 1);
	assert_int_equal(v.v[4].mixed, 0);
	vec_release(&v);
	end(&w);
}

static void a_short_run_between_long_sleeps_stays_visible(void **state)
{
	(void)state;
	struct world w = {0};
	tl_cells v = {0};
	struct tl_window win = {0, 1000000, 100, 0};
	assert_int_equal(timeline_init(&w.tl, &w.stacks), 0);
	thread(&w, "t", 1, 1, 0, 1000000);
	off(&w, 0, 0, 505000, 505000, CAUSE_SLEEP, OFF_IDLE, TL_NONE);
	off(&w, 0, 505100, 1000000, 1000000, CAUSE_SLEEP, OFF_IDLE, TL_NONE);
	assert_int_equal(timeline_finish(&w.tl, NULL), 0);
	assert_int_equal(tl_thread_cells(&w.tl, 0, &win, 0, &v), 0);
	assert_int_equal(v.n, 3);
	cell(&v, 1, 50.505 - 0.25, 0.5, TLP_RUN, 0, 1);
	vec_release(&v);
	end(&w);
}

static void rows_are_the_most_active_by_process(void **state)
{
	(void)state;
	struct world w;
	struct tl_pick p;
	struct tl_pick_options o = {.to_ns = 1000, .top = 2};
	begin(&w);
	assert_int_equal(tl_pick(&w.tl, &o, &p, NULL), 0);
	/* CPUs 0 and 1, the heading of process 10, helper (800 ns), main (700 ns). */
	static const struct tl_row want[] = {{0, TLROW_CPU},
					     {1, TLROW_CPU},
					     {0, TLROW_GROUP},
					     {1, TLROW_THREAD},
					     {0, TLROW_THREAD}};
	assert_int_equal(p.rows.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(p.rows.v[i].id, want[i].id);
		assert_int_equal(p.rows.v[i].kind, want[i].kind);
	}
	assert_int_equal(p.left, 1); /* late */
	assert_int_equal(p.left_ns, 100);
	assert_int_equal(p.quiet, 1); /* sleeper */
	tl_pick_release(&p);
	o.by_time = o.no_cpus = 1;
	assert_int_equal(tl_pick(&w.tl, &o, &p, NULL), 0);
	assert_int_equal(p.rows.v[1].id, 0); /* main runs first */
	tl_pick_release(&p);
	end(&w);
}

static void numbered_threads_have_a_heading_of_their_own(void **state)
{
	(void)state;
	struct world w = {0};
	struct tl_pick p;
	struct tl_pick_options o = {.to_ns = 1000, .no_cpus = 1, .merge = 1};
	static const char *const names[] = {"work-1", "main", "work-22", "worker-3"};
	static const struct tl_row want[] = {{2, TLROW_POOL},
					     {2, TLROW_THREAD},
					     {0, TLROW_THREAD},
					     {1, TLROW_THREAD},
					     {3, TLROW_THREAD}};
	assert_int_equal(timeline_init(&w.tl, &w.stacks), 0);
	for (int i = 0; i < 4; i++)
		thread(&w, names[i], 10 + i, 10 + i, 0,
		       i == 2 ? 1000 : 900 - 100 * (uint64_t)i);
	assert_int_equal(timeline_finish(&w.tl, NULL), 0);
	assert_int_equal(tl_pick(&w.tl, &o, &p, NULL), 0);
	assert_int_equal(p.rows.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(p.rows.v[i].id, want[i].id);
		assert_int_equal(p.rows.v[i].kind, want[i].kind);
	}
	tl_pick_release(&p);
	end(&w);
}

static void system_threads_are_hidden_and_counted(void **state)
{
	(void)state;
	struct world w;
	struct tl_pick p;
	struct tl_pick_options o = {.to_ns = 1000, .no_cpus = 1};
	begin(&w);
	w.tl.threads.v[2].flags = THREAD_KERNEL;
	assert_int_equal(tl_pick(&w.tl, &o, &p, NULL), 0);
	assert_int_equal(p.threads, 2);
	assert_int_equal(p.system, 1);
	assert_int_equal(p.system_ns, 100);
	tl_pick_release(&p);
	o.show_system = 1;
	assert_int_equal(tl_pick(&w.tl, &o, &p, NULL), 0);
	assert_int_equal(p.threads, 3);
	tl_pick_release(&p);
	end(&w);
}

static void arrows_are_the_wakeups_between_rows(void **state)
{
	(void)state;
	struct world w;
	tl_arrows v = {0};
	size_t total;
	static const struct tl_row rows[] = {{0, TLROW_THREAD}, {1, TLROW_THREAD}};
	struct tl_window win = {0, 1000, 1000, 0};
	begin(&w);
	assert_int_equal(tl_find_arrows(&w.tl, rows, 2, &win, 10, &v, &total), 0);
	assert_int_equal(total, 1);
	assert_int_equal(v.v[0].from, 1);
	assert_int_equal(v.v[0].to, 0);
	assert_int_equal(v.v[0].time_ns, 400);
	assert_int_equal(v.v[0].waited_ns, 300);
	v.n = 0;
	assert_int_equal(tl_find_arrows(&w.tl, rows, 1, &win, 10, &v, &total), 0);
	assert_int_equal(total, 0); /* the waker has no row */
	win.from_ns = 401;
	assert_int_equal(tl_find_arrows(&w.tl, rows, 2, &win, 10, &v, &total), 0);
	assert_int_equal(total, 0); /* before the window */
	vec_release(&v);
	end(&w);
}

static void ticks_are_round_and_far_enough_apart(void **state)
{
	(void)state;
	static const struct {
		uint64_t span, step;
	} cases[] = {{1000, 200}, {1000000000, 200000000}, {999, 200}, {7, 1}, {4600, 1000}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tl_window w = {5, 5 + cases[i].span, 1000, 0};
		assert_int_equal(tl_axis_step(&w, 110), cases[i].step);
	}
}

/* --- the picture ------------------------------------------------------------------------ */

static char *draw(struct world *w, const struct tl_panel *p, size_t n, struct tl_svg_stats *st)
{
	char *out = NULL;
	size_t size = 0;
	struct tl_svg_options o;
	FILE *f = open_memstream(&out, &size);
	assert_non_null(f);
	tl_svg_defaults(&o);
	int rc = timeline_svg_write(&w->tl, p, n, &o, f, st, NULL);
	fclose(f);
	if (rc) {
		free(out);
		return NULL;
	}
	return out;
}

static void hostile_names_stay_text(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	w.tl.threads.v[0].comm = text(&w, "<script>x()</script>");
	w.tl.threads.v[1].comm = text(&w, "]]>\"'&\x1b\xff");
	static const struct tl_row rows[] = {{0, TLROW_THREAD}, {1, TLROW_THREAD}};
	struct tl_panel p = {
		.to_ns = 1000, .rows = rows, .nrows = 2, .caption = "</text><script>y()"};
	char *svg = draw(&w, &p, 1, NULL);
	assert_non_null(svg);
	assert_null(strstr(svg, "<script>x"));
	assert_null(strstr(svg, "<script>y"));
	assert_null(strchr(svg, 0x1b));
	assert_null(strchr(svg, (char)0xff));
	assert_non_null(strstr(svg, "&lt;script&gt;"));
	free(svg);
	end(&w);
}

static void an_episode_is_a_panel_with_a_margin(void **state)
{
	(void)state;
	struct world w;
	struct tl_panel p;
	static const uint32_t threads[] = {0, 1};
	static const uint16_t cpus[] = {1};
	struct tl_episode ep = {.start_ns = 100,
				.end_ns = 500,
				.threads = threads,
				.nthreads = 2,
				.cpus = cpus,
				.ncpus = 1,
				.sentence = "#1 main waited for helper"};
	begin(&w);
	assert_int_equal(timeline_svg_episode(&w.tl, &ep, &p, NULL), 0);
	assert_int_equal(p.from_ns, 60);
	assert_int_equal(p.to_ns, 540);
	assert_int_equal(p.zero_ns, 100);
	assert_int_equal(p.nrows, 3);
	assert_int_equal(p.rows[2].kind, TLROW_CPU);
	struct tl_panel two[2] = {p, p};
	struct tl_svg_stats st;
	char *svg = draw(&w, two, 2, &st);
	assert_non_null(svg);
	assert_int_equal(st.wakeups, 2);
	assert_non_null(strstr(svg, "#1 main waited for helper"));
	assert_non_null(strstr(svg, "id=\"plot1\""));
	free(svg);
	timeline_svg_episode_release(&p);
	ep.end_ns = 100;
	assert_int_equal(timeline_svg_episode(&w.tl, &ep, &p, NULL), ERR_USAGE);
	end(&w);
}

static void nonsense_is_refused(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	static const struct tl_row rows[] = {{9, TLROW_THREAD}};
	struct tl_panel p = {.to_ns = 1000, .rows = rows, .nrows = 1};
	assert_null(draw(&w, &p, 1, NULL));
	struct tl_panel empty = {.from_ns = 5, .to_ns = 5};
	assert_null(draw(&w, &empty, 1, NULL));
	end(&w);
}

static void no_allocation_may_fail_badly(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	static const struct tl_row rows[] = {
		{0, TLROW_CPU}, {0, TLROW_THREAD}, {1, TLROW_THREAD}};
	struct tl_panel p = {.to_ns = 1000, .rows = rows, .nrows = 3, .caption = "a"};
	struct tl_pick_options o = {.to_ns = 1000};
	int failed = 0, done = 0;
	for (long n = 0; n < 2000 && !done; n++) {
		struct tl_pick pick = {0};
		mem_fail_after(n);
		int rc = tl_pick(&w.tl, &o, &pick, NULL);
		tl_pick_release(&pick);
		char *svg = rc ? NULL : draw(&w, &p, 1, NULL);
		mem_fail_after(-1);
		failed += !svg;
		done = svg != NULL;
		free(svg);
	}
	assert_true(failed > 5 && done);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_follow_each_other_without_gap),
		cmocka_unit_test(unclear_waits_have_paints_of_their_own),
		cmocka_unit_test(sums_are_the_life),
		cmocka_unit_test(wide_pieces_are_exact_cells),
		cmocka_unit_test(fine_pieces_share_columns_by_time),
		cmocka_unit_test(a_short_run_between_long_sleeps_stays_visible),
		cmocka_unit_test(rows_are_the_most_active_by_process),
		cmocka_unit_test(numbered_threads_have_a_heading_of_their_own),
		cmocka_unit_test(system_threads_are_hidden_and_counted),
		cmocka_unit_test(arrows_are_the_wakeups_between_rows),
		cmocka_unit_test(ticks_are_round_and_far_enough_apart),
		cmocka_unit_test(hostile_names_stay_text),
		cmocka_unit_test(an_episode_is_a_panel_with_a_margin),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(no_allocation_may_fail_badly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
