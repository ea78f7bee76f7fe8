#include "libtime/join/place_gaps.h"
#include "base/mem.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>

struct placer {
	struct timeline *tl;
	const struct side *side;
	const struct side_clock_map *map;
	struct side_placed *counts;
	struct tl_runs runs;
	size_t first;       /* of the gaps that are added */
	uint32_t *named_by; /* CPU → index of its spinner's last line + 1 */
};

/* --- whose CPU it was ----------------------------------------------------------------- */

static uint32_t thread_of(const struct timeline *tl, int32_t tid, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		if (t->tid == tid && t->first_ns <= to && t->last_ns >= from)
			return i;
	}
	return TL_NONE;
}

/* The thread that had a CPU longest in [from, to), unless another had half as much. */
static uint32_t most_on(const struct placer *p, uint16_t cpu, uint64_t from, uint64_t to,
			uint64_t *ns)
{
	uint32_t best = TL_NONE;
	for (uint32_t i = p->runs.first.v[cpu]; i < p->runs.first.v[cpu + 1]; i++) {
		const struct tl_run *r = &p->runs.v.v[i];
		uint64_t a = r->start_ns > from ? r->start_ns : from;
		uint64_t b = r->end_ns < to ? r->end_ns : to;
		if (a >= b)
			continue;
		ns[r->thread] += b - a;
		if (best == TL_NONE || ns[r->thread] > ns[best])
			best = r->thread;
	}
	for (size_t i = 0; i < p->tl->threads.n; i++)
		if (best != TL_NONE && i != best && ns[i] > ns[best] / 2)
			return TL_NONE;
	return best;
}

static int set_spinner(struct placer *p, uint16_t cpu, size_t from, size_t to)
{
	struct tl_gap *v = p->tl->gaps.v;
	uint64_t start = v[from].start_ns, end = v[from].end_ns;
	uint32_t thread = TL_NONE;
	uint8_t flags = 0;
	for (size_t i = from; i < to; i++)
		end = v[i].end_ns > end ? v[i].end_ns : end;
	if (p->named_by[cpu]) {
		const struct side_spinner *s = &p->side->spinners.v[p->named_by[cpu] - 1];
		thread = thread_of(p->tl, s->tid, start, end);
		flags = s->control ? GAP_CONTROL : 0;
	} else if (cpu + 1u < p->runs.first.n) {
		uint64_t *ns = mem_zalloc(p->tl->threads.n + 1, sizeof(*ns));
		if (!ns)
			return ERR_NOMEM;
		thread = most_on(p, cpu, start, end, ns);
		mem_free(ns);
	}
	for (size_t i = from; i < to; i++) {
		v[i].thread = thread;
		v[i].flags |= flags;
	}
	return 0;
}

static int set_spinners(struct placer *p)
{
	enum { CPUS = 1 << 16 };
	const struct tl_gap *v = p->tl->gaps.v;
	int r = 0;
	p->named_by = mem_zalloc(CPUS, sizeof(*p->named_by));
	if (!p->named_by)
		return ERR_NOMEM;
	for (size_t i = 0; i < p->side->spinners.n; i++)
		p->named_by[p->side->spinners.v[i].cpu] = (uint32_t)i + 1;
	for (size_t from = p->first, to; from < p->tl->gaps.n && !r; from = to) {
		for (to = from; to < p->tl->gaps.n && v[to].cpu == v[from].cpu;)
			to++;
		r = set_spinner(p, v[from].cpu, from, to);
	}
	mem_free(p->named_by);
	return r;
}

/* --- gaps ----------------------------------------------------------------------------- */

static int by_cpu(const void *a, const void *b)
{
	const struct tl_gap *x = a, *y = b;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static int place(struct placer *p, const struct side_gap *from, int cpu)
{
	const struct tl_recording *r = &p->tl->rec;
	struct tl_gap g = {.lost_ns = from->lost_ns,
			   .thread = TL_NONE,
			   .cpu = (uint16_t)(from->cpu < 0 ? cpu : from->cpu)};
	if (side_clock_apply(p->map, from->start_ns, &g.start_ns) ||
	    side_clock_apply(p->map, from->end_ns, &g.end_ns) || g.start_ns > r->end_ns ||
	    g.end_ns < r->origin_ns || g.end_ns < g.start_ns) {
		p->counts->outside++;
		return 0;
	}
	/* the length of an exact gap is measured on this clock */
	if (from->end_ns - from->start_ns <= g.lost_ns || g.lost_ns > g.end_ns - g.start_ns)
		g.lost_ns = g.end_ns - g.start_ns;
	if (g.start_ns < r->origin_ns || g.end_ns > r->end_ns)
		g.flags |= OFF_OPEN;
	if (g.end_ns - g.start_ns > g.lost_ns) {
		p->counts->rough++;
		if (g.end_ns - g.start_ns > p->counts->length_ns)
			p->counts->length_ns = g.end_ns - g.start_ns;
	}
	return vec_push(&p->tl->gaps, g);
}

int side_place_gaps(struct timeline *tl, const struct side *side,
		    const struct side_clock_map *map, int cpu, struct side_placed *out,
		    struct err *e)
{
	struct placer p = {
		.tl = tl, .side = side, .map = map, .counts = out, .first = tl->gaps.n};
	int r = 0;
	*out = (struct side_placed){0};
	for (size_t i = 0; i < side->gaps.n; i++)
		if (side->gaps.v[i].cpu < 0 && cpu < 0)
			return err_set(e, ERR_USAGE,
				       "its gaps name no CPU: say which one with ,cpu=N");
	for (size_t i = 0; i < side->gaps.n && !r; i++)
		r = place(&p, &side->gaps.v[i], cpu);
	if (r || !side->gaps.n)
		return r ? err_nomem(e) : 0;
	out->gaps = tl->gaps.n - p.first;
	if (out->gaps)
		qsort(tl->gaps.v + p.first, tl->gaps.n - p.first, sizeof(*tl->gaps.v), by_cpu);
	r = timeline_runs(tl, &p.runs, e);
	if (!r && set_spinners(&p))
		r = err_nomem(e);
	if (!r && tl->gaps.n)
		qsort(tl->gaps.v, tl->gaps.n, sizeof(*tl->gaps.v), by_cpu);
	tl_runs_release(&p.runs);
	return r;
}
