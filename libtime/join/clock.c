#include "libtime/join/clock.h"

#include <string.h>

enum {
	PAIR_NS = 1000, /* CLOCK_DATA has microseconds */
	SLEWED = 2000,  /* CLOCK_REALTIME against CLOCK_MONOTONIC_RAW: 1 in 2000, or 500 ppm */
};

static const char *own_clock(const struct timeline *tl)
{
	return strtab_get(&tl->stacks->strings, tl->rec.clock);
}

static int refuse(const struct timeline *tl, enum side_clock clock, struct err *e)
{
	const char *own = own_clock(tl);
	const char *k = clock == SIDE_CLOCK_RAW ? "CLOCK_MONOTONIC_RAW" : "CLOCK_MONOTONIC";
	if (clock == SIDE_CLOCK_TSC)
		return err_set(
			e, ERR_REFUSED,
			"its times count the TSC, which cannot be matched to the "
			"recording's clock (%s): %s, or give ,offset=NS with times in ns",
			own,
			strcmp(own, "perf")
				? "record with perf record without -k, where the kernel's "
				  "clock is the TSC"
				: "the kernel's clock was not the TSC, or this is a store; "
				  "log CLOCK_MONOTONIC and record with perf record -k "
				  "CLOCK_MONOTONIC");
	return err_set(e, ERR_REFUSED,
		       "its times are on %s, which cannot be matched to the recording's clock "
		       "(%s%s): record with perf record -k %s, or give ,offset=NS",
		       side_clock_name(clock), own,
		       clock == SIDE_CLOCK_REAL ? ", without clock data" : "", k);
}

int side_clock_map(const struct timeline *tl, enum side_clock clock, struct side_clock_map *out,
		   struct err *e)
{
	const struct tl_recording *r = &tl->rec;
	const char *own = own_clock(tl);
	*out = (struct side_clock_map){.from = clock};
	if (clock == SIDE_CLOCK_SAME || !strcmp(own, side_clock_name(clock)))
		return 0;
	if (clock == SIDE_CLOCK_TSC && r->tsc.mult) {
		out->tsc = r->tsc;
		return 0;
	}
	if (clock != SIDE_CLOCK_REAL || !r->wall_exact)
		return refuse(tl, clock, e);
	out->offset_ns = (int64_t)(r->origin_ns - r->wall_ns);
	out->error_ns = PAIR_NS;
	if (!strcmp(own, side_clock_name(SIDE_CLOCK_RAW)))
		out->error_ns += (r->end_ns - r->origin_ns) / SLEWED;
	return 0;
}

static int overlaps(const struct timeline *tl, const struct side *side,
		    const struct side_clock_map *m)
{
	for (size_t i = 0; i < side->spans.n; i++) {
		uint64_t start, end;
		if (!side_clock_apply(m, side->spans.v[i].start_ns, &start) &&
		    !side_clock_apply(m, side->spans.v[i].end_ns, &end) &&
		    start <= tl->rec.end_ns && end >= tl->rec.origin_ns)
			return 1;
	}
	return 0;
}

static int noted_meanwhile(const struct timeline *tl, const struct side *side,
			   const struct side_clock_map *m)
{
	for (size_t i = 0; i < side->bindings.n; i++) {
		uint64_t at;
		if (!side_clock_apply(m, side->bindings.v[i].at_ns, &at) &&
		    at >= tl->rec.origin_ns && at <= tl->rec.end_ns)
			return 1;
	}
	for (size_t i = 0; i < side->gaps.n; i++) {
		uint64_t at;
		if (!side_clock_apply(m, side->gaps.v[i].end_ns, &at) &&
		    at >= tl->rec.origin_ns && at <= tl->rec.end_ns)
			return 1;
	}
	return 0;
}

/* The first and last moment in the file. */
static void find_times(const struct side *side, uint64_t *first, uint64_t *last)
{
	uint64_t from = UINT64_MAX, to = 0;
	for (size_t i = 0; i < side->spans.n; i++) {
		const struct side_span *s = &side->spans.v[i];
		from = s->start_ns < from ? s->start_ns : from;
		to = s->end_ns > to ? s->end_ns : to;
	}
	for (size_t i = 0; i < side->bindings.n; i++) {
		uint64_t at = side->bindings.v[i].at_ns;
		from = at < from ? at : from;
		to = at > to ? at : to;
	}
	for (size_t i = 0; i < side->gaps.n; i++) {
		const struct side_gap *g = &side->gaps.v[i];
		from = g->start_ns < from ? g->start_ns : from;
		to = g->end_ns > to ? g->end_ns : to;
	}
	*first = from;
	*last = to;
}

static int no_clock(const struct timeline *tl, const struct side *side, struct err *e)
{
	uint64_t from, to;
	find_times(side, &from, &to);
	const char *own = own_clock(tl);
	return err_set(
		e, ERR_REFUSED,
		"its times (%.6f to %.6f s) are outside of the recording (%.6f to %.6f s, "
		"%s) on every clock that can be matched%s; say ,clock=mono|raw|real or "
		",offset=NS",
		(double)from / 1e9, (double)to / 1e9, (double)tl->rec.origin_ns / 1e9,
		(double)tl->rec.end_ns / 1e9, own,
		strcmp(own, "perf") ? "" : ": record with perf record -k CLOCK_MONOTONIC");
}

/* Labels that were bound before the recording are still valid in it. */
static int bound_before_end(const struct timeline *tl, const struct side *side,
			    const struct side_clock_map *m)
{
	uint64_t at;
	for (size_t i = 0; i < side->bindings.n; i++)
		if (side_clock_apply(m, side->bindings.v[i].at_ns, &at) || at <= tl->rec.end_ns)
			return 1;
	return 0;
}

int side_clock_check(const struct timeline *tl, const struct side *side,
		     const struct side_clock_map *m, struct err *e)
{
	uint64_t from, to;
	int none = !side->spans.n && !side->bindings.n && !side->gaps.n;
	if (none || overlaps(tl, side, m) || noted_meanwhile(tl, side, m) ||
	    bound_before_end(tl, side, m))
		return 0;
	find_times(side, &from, &to);
	const char *name = side_clock_name(m->from);
	uint64_t zero = (uint64_t)m->offset_ns;
	if (m->tsc.mult || m->from_ns[1] != m->from_ns[0]) { /* more than an offset */
		side_clock_apply(m, from, &from);
		side_clock_apply(m, to, &to);
		name = own_clock(tl);
		zero = 0;
	}
	return err_set(e, ERR_REFUSED,
		       "its times (%.6f to %.6f s on %s) are outside of the recording (%.6f to "
		       "%.6f s)",
		       (double)from / 1e9, (double)to / 1e9, name,
		       (double)(tl->rec.origin_ns - zero) / 1e9,
		       (double)(tl->rec.end_ns - zero) / 1e9);
}

/* Map by the anchors at the file's start and end: 0; 1 if there are none, or none are needed.
 * ERR_REFUSED if a clock was set in between, since nothing says when. */
static int by_anchors(const struct timeline *tl, const struct side *side, enum side_clock clock,
		      struct side_clock_map *out, struct err *e)
{
	enum side_clock own = SIDE_CLOCK_MONO;
	size_t n = side->anchors.n;
	while (own < SIDE_CLOCK_REAL && strcmp(own_clock(tl), side_clock_name(own)) != 0)
		own++;
	if (n < 2 || own == clock || own == SIDE_CLOCK_REAL || clock > SIDE_CLOCK_REAL)
		return 1;
	const struct side_anchor *a = &side->anchors.v[0], *b = &side->anchors.v[n - 1];
	if (b->ns[clock] <= a->ns[clock] || b->ns[own] <= a->ns[own])
		return 1;
	uint64_t from = b->ns[clock] - a->ns[clock], to = b->ns[own] - a->ns[own];
	*out = (struct side_clock_map){.from = clock,
				       .from_ns = {a->ns[clock], b->ns[clock]},
				       .to_ns = {a->ns[own], b->ns[own]}};
	/* a clock may have been slewed at any time between the anchors */
	out->error_ns = (a->error_ns > b->error_ns ? a->error_ns : b->error_ns) + from / SLEWED;
	if ((from > to ? from - to : to - from) / 2 > out->error_ns)
		return err_set(e, ERR_REFUSED,
			       "between its anchors %.6f s passed on %s and %.6f s on %s: one "
			       "was set meanwhile; give ,offset=NS",
			       (double)from / 1e9, side_clock_name(clock), (double)to / 1e9,
			       side_clock_name(own));
	return 0;
}

int side_clock_choose(const struct timeline *tl, const struct side *side, enum side_clock asked,
		      struct side_clock_map *out, struct err *e)
{
	static const enum side_clock all[] = {SIDE_CLOCK_MONO, SIDE_CLOCK_RAW, SIDE_CLOCK_REAL};
	enum side_clock clock = asked ? asked : side->clock;
	int found = 0, r = clock ? by_anchors(tl, side, clock, out, e) : 0;
	if (clock)
		return r > 0 ? side_clock_map(tl, clock, out, e) : r;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct side_clock_map m;
		if (side_clock_map(tl, all[i], &m, NULL) ||
		    (!overlaps(tl, side, &m) && !noted_meanwhile(tl, side, &m)))
			continue;
		m.guessed = 1;
		*out = m;
		found++;
	}
	if (found == 1)
		return 0;
	if (found)
		return err_set(e, ERR_REFUSED,
			       "its times fit the recording on more than one clock; say "
			       ",clock=mono|raw|real");
	return no_clock(tl, side, e);
}
