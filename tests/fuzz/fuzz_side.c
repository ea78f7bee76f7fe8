/*
 * fuzz_side - a file of --with: requests that some program wrote. Input: the file; it is put on
 * a timeline of three threads, on each clock. What comes out is in order, and its parts sum up.
 */
#include "tests/fuzz/fuzz.h"

#include "libtime/explain/gap_parts.h"
#include "libtime/join/side_file.h"
#include "libtime/spans/label_lanes.h"

#include <string.h>

static int add_thread(struct timeline *tl, int32_t tid, const char *comm)
{
	struct tl_thread t = {.pid = 1, .tid = tid, .last_ns = 1u << 30, .first_prio = 120};
	return strtab_intern(&tl->stacks->strings, comm, &t.comm) || vec_push(&tl->threads, t);
}

static int make_timeline(struct timeline *tl, struct stacks *s)
{
	int r = timeline_init(tl, s);
	tl->flags = TL_HAS_SWITCH;
	tl->rec.end_ns = 1u << 30;
	tl->rec.wall_ns = 1790000000000000000u;
	tl->rec.wall_exact = 1;
	tl->rec.tsc = (struct time_conv){.mult = 827169281, .shift = 31, .zero_ns = 500};
	r = r || strtab_intern(&s->strings, "CLOCK_MONOTONIC", &tl->rec.clock);
	struct frame f = {.kind = FRAME_USER};
	uint32_t frame, path;
	r = r || strtab_intern(&s->strings, "void a::trampoline<7>(int)", &f.name) ||
	    stacks_frame(s, &f, &frame) || stacks_push(s, 0, frame, &path);
	return r || add_thread(tl, 1, "main") || add_thread(tl, 2, "a") ||
	       add_thread(tl, 3, "b") || timeline_finish(tl, NULL);
}

static void check(const struct timeline *tl)
{
	for (size_t i = 0; i < tl->spans.n; i++) {
		const struct tl_span *x = &tl->spans.v[i];
		fuzz_must(x->end_ns >= x->start_ns, "a span does not end before it begins");
		fuzz_must(x->run_ns + x->blocked_ns + x->runnable_ns + x->unknown_ns ==
				  x->end_ns - x->start_ns,
			  "its parts sum up");
		fuzz_must(!i || x[-1].start_ns <= x->start_ns, "spans stand by start");
		fuzz_must(x->parent == TL_NONE || x->parent < i, "parents stand before");
		fuzz_text(strtab_get(&tl->stacks->strings, x->key_text));
	}
	for (size_t i = 0; i < tl->labels.n; i++) {
		fuzz_must(tl->labels.v[i].span < tl->spans.n, "a label is of a span");
		fuzz_must(!i || tl->labels.v[i - 1].span <= tl->labels.v[i].span,
			  "labels stand by span");
	}
}

/* A label below a trampoline, at each binding of it and 1 ns before. */
static void check_bindings(const struct timeline *tl)
{
	struct label_lanes x;
	uint64_t until;
	for (size_t i = 0; i < tl->bindings.n && i < 8; i++) {
		const struct tl_binding *b = &tl->bindings.v[i];
		if (label_lanes_build(tl, strtab_get(&tl->stacks->strings, b->key), &x) == 1) {
			label_lanes_at(&x, 0, 1, b->from_ns, &until);
			fuzz_must(until > b->from_ns, "a label holds for a while");
		}
		label_lanes_release(&x);
	}
}

/* The parts of each gap add up to it. */
static void check_gaps(const struct timeline *tl)
{
	struct gap_parts w = {.start_ns = 0};
	struct gap_finder *f;
	if (!tl->gaps.n || gap_finder_new(&f, tl, NULL))
		return;
	for (size_t i = 0; i < tl->gaps.n && i < 64; i++) {
		uint64_t sum = 0;
		fuzz_must(!gap_explain(f, &tl->gaps.v[i], &w, NULL), "a gap is explained");
		for (size_t k = 0; k < w.v.n; k++)
			sum += w.v.v[k].ns;
		fuzz_must(sum == tl->gaps.v[i].lost_ns, "its parts sum up");
	}
	gap_parts_release(&w);
	gap_finder_free(f);
}

static void attach(struct timeline *tl, const struct side *side, enum side_clock clock)
{
	struct side_clock_map map;
	struct side_counts counts;
	struct side_bound bound;
	struct side_placed placed;
	struct err e = {0};
	int rc = side_clock_choose(tl, side, clock, &map, &e);
	if (!rc)
		rc = side_attach(tl, side, &map, &counts, &e);
	if (!rc)
		rc = side_bind(tl, NULL, side, &map, &bound, &e);
	if (!rc)
		rc = side_place_gaps(tl, side, &map, 0, &placed, &e);
	if (rc)
		fuzz_failed(rc, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct stacks s = {0};
	struct timeline tl = {0};
	struct side side = {.strings = &s.strings};
	struct source src;
	struct err e = {0};
	if (make_timeline(&tl, &s) || source_open_mem(&src, p, n, "fuzz", NULL))
		goto out;
	int rc = side_file_read(&side, &src, &e);
	if (rc)
		fuzz_failed(rc, &e);
	else
		attach(&tl, &side, SIDE_CLOCK_UNKNOWN);
	if (!rc)
		attach(&tl, &side, SIDE_CLOCK_REAL);
	check(&tl);
	check_bindings(&tl);
	check_gaps(&tl);
	source_close(&src);
out:
	side_release(&side);
	timeline_release(&tl);
	stacks_release(&s);
	return 0;
}
