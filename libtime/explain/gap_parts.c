#include "libtime/explain/gap_parts.h"
#include "base/search.h"
#include "base/check.h"
#include "base/mem.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>

enum {
	NESTED = 16,      /* depth of nested interrupts */
	TENTH = 10,       /* a stretch may be shorter than the gap by 1 part in so many */
	BRIDGE_NS = 2000, /* the longest pause inside one stretch */
};

struct gap_finder {
	const struct timeline *tl;
	struct tl_runs runs;
	VEC(struct tl_interrupt) irqs; /* by CPU, then by start, outer ones first */
	VEC(uint32_t) first;           /* CPU c has irqs[first[c]] .. [first[c + 1]] */
	uint64_t longest_ns;           /* of all interrupts */
};

const char *gap_part_kind_name(unsigned int by)
{
	static const char *const names[] = {"thread",          "interrupt",
					    "unexplained",     "spinner not running",
					    "records missing", "not placed"};
	ENTRIES(names, GAP_NOT_PLACED + 1);
	return by < sizeof(names) / sizeof(*names) ? names[by] : "";
}

/* --- interrupts by CPU ---------------------------------------------------------------- */

static int irq_order(const void *a, const void *b)
{
	const struct tl_interrupt *x = a, *y = b;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static int index_interrupts(struct gap_finder *f)
{
	const struct timeline *tl = f->tl;
	uint32_t cpus = 0;
	if (vec_reserve(&f->irqs, tl->interrupts.n))
		return ERR_NOMEM;
	for (size_t i = 0; i < tl->interrupts.n; i++) {
		const struct tl_interrupt *x = &tl->interrupts.v[i];
		uint64_t ns = x->end_ns - x->start_ns;
		f->irqs.v[f->irqs.n++] = *x;
		f->longest_ns = ns > f->longest_ns ? ns : f->longest_ns;
		cpus = x->cpu >= cpus ? x->cpu + 1u : cpus;
	}
	if (f->irqs.n)
		qsort(f->irqs.v, f->irqs.n, sizeof(*f->irqs.v), irq_order);
	for (uint32_t c = 0, at = 0; c <= cpus; c++) {
		while (at < f->irqs.n && f->irqs.v[at].cpu < c)
			at++;
		if (vec_push(&f->first, at))
			return ERR_NOMEM;
	}
	return 0;
}

int gap_finder_new(struct gap_finder **out, const struct timeline *tl, struct err *e)
{
	struct gap_finder *f = mem_zalloc(1, sizeof(*f));
	*out = f;
	if (!f)
		return err_nomem(e);
	f->tl = tl;
	int r = timeline_runs(tl, &f->runs, e);
	if (!r && index_interrupts(f))
		r = err_nomem(e);
	if (r) {
		gap_finder_free(f);
		*out = NULL;
	}
	return r;
}

void gap_finder_free(struct gap_finder *f)
{
	if (!f)
		return;
	tl_runs_release(&f->runs);
	vec_release(&f->irqs);
	vec_release(&f->first);
	mem_free(f);
}

void gap_parts_release(struct gap_parts *w)
{
	vec_release(&w->v);
}

/* --- what is under interrupts --------------------------------------------------------- */

/* The first of a CPU's runs that ends after `ns`. */
static uint32_t run_after(const struct gap_finder *f, uint16_t cpu, uint64_t ns)
{
	return (uint32_t)PARTITION_POINT(i, f->runs.first.v[cpu], f->runs.first.v[cpu + 1],
					 f->runs.v.v[i].end_ns <= ns);
}

/* Are records of a CPU missing at `ns`? The answer holds until *until. */
static int is_lost(const struct gap_finder *f, uint16_t cpu, uint64_t ns, uint64_t *until)
{
	const struct timeline *tl = f->tl;
	int lost = 0;
	for (size_t i = 0; i < tl->losses.n; i++) {
		const struct tl_loss *l = &tl->losses.v[i];
		if (l->kind == LOSS_DISORDER || (l->cpu != cpu && l->cpu != TL_NOCPU) ||
		    l->to_ns <= ns)
			continue;
		uint64_t change = l->from_ns <= ns ? l->to_ns : l->from_ns;
		lost |= l->from_ns <= ns;
		*until = change < *until ? change : *until;
	}
	return lost;
}

/* What had the CPU at `at`, apart from interrupts; it holds until *until. */
static struct gap_part below_interrupts(const struct gap_finder *f, const struct tl_gap *gap,
					uint64_t at, uint64_t *until)
{
	struct gap_part p = {.by = GAP_NOT_RUNNING};
	*until = UINT64_MAX;
	if (gap->cpu + 1u >= f->runs.first.n) {
		p.by = GAP_RECORDS_MISSING;
		return p;
	}
	uint32_t i = run_after(f, gap->cpu, at);
	const struct tl_run *r = &f->runs.v.v[i];
	int some = i < f->runs.first.v[gap->cpu + 1];
	if (some && r->start_ns <= at) {
		p.by = r->thread == gap->thread ? GAP_UNEXPLAINED : GAP_THREAD;
		p.what = p.by == GAP_THREAD ? r->thread : 0;
		*until = r->end_ns;
	} else if (some) {
		*until = r->start_ns;
	}
	if (p.by != GAP_THREAD && is_lost(f, gap->cpu, at, until))
		p.by = GAP_RECORDS_MISSING;
	return p;
}

/* --- the parts ------------------------------------------------------------------------ */

static int add_part(struct gap_parts *w, struct gap_part p, uint64_t ns)
{
	for (size_t i = 0; i < w->v.n; i++)
		if (w->v.v[i].by == p.by && w->v.v[i].what == p.what) {
			w->v.v[i].ns += ns;
			return 0;
		}
	p.ns = ns;
	return vec_push(&w->v, p);
}

struct sweep {
	const struct gap_finder *f;
	const struct tl_gap *gap;
	struct gap_parts *out;
	const struct tl_interrupt *open[NESTED]; /* the innermost last */
	size_t n;
	uint64_t at;
};

/* Add the parts up to `to`: the innermost interrupt, or what is below all interrupts. */
static int sweep_to(struct sweep *s, uint64_t to)
{
	while (s->at < to) {
		uint64_t end = to, until;
		struct gap_part p;
		while (s->n && s->open[s->n - 1]->end_ns <= s->at)
			s->n--;
		if (s->n) {
			p = (struct gap_part){.by = GAP_INTERRUPT,
					      .what = s->open[s->n - 1]->vector};
			until = s->open[s->n - 1]->end_ns;
		} else {
			p = below_interrupts(s->f, s->gap, s->at, &until);
		}
		end = until < end ? until : end;
		if (add_part(s->out, p, end - s->at))
			return ERR_NOMEM;
		s->at = end;
	}
	return 0;
}

/* The first interrupt of a CPU that may reach past `ns`. */
static uint32_t irq_after(const struct gap_finder *f, uint16_t cpu, uint64_t ns, uint32_t *end)
{
	*end = 0;
	if (cpu + 1u >= f->first.n)
		return 0;
	uint64_t from = ns > f->longest_ns ? ns - f->longest_ns : 0;
	*end = f->first.v[cpu + 1];
	return (uint32_t)PARTITION_POINT(i, f->first.v[cpu], *end,
					 f->irqs.v[i].start_ns < from);
}

static int split_gap(const struct gap_finder *f, const struct tl_gap *gap, uint64_t from,
		     uint64_t to, struct gap_parts *out)
{
	struct sweep s = {.f = f, .gap = gap, .out = out, .at = from};
	uint32_t end, i = irq_after(f, gap->cpu, from, &end);
	int r = 0;
	for (; i < end && f->irqs.v[i].start_ns < to && !r; i++) {
		const struct tl_interrupt *x = &f->irqs.v[i];
		if (x->end_ns <= from)
			continue;
		r = sweep_to(&s, x->start_ns > from ? x->start_ns : from);
		if (s.n < NESTED)
			s.open[s.n++] = x;
	}
	return r ? r : sweep_to(&s, to);
}

static int longest_first(const void *a, const void *b)
{
	const struct gap_part *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

/* --- where a gap was ------------------------------------------------------------------ */

struct stretch {
	uint64_t start, end, lost_ns;
	uint64_t found_start, found_end;
	int found;
};

static void end_stretch(struct stretch *s)
{
	uint64_t ns = s->end - s->start;
	if (ns > s->lost_ns || ns < s->lost_ns - s->lost_ns / TENTH || !ns)
		return;
	s->found++;
	s->found_start = s->start;
	s->found_end = s->end;
}

static void taken(struct stretch *s, uint64_t from, uint64_t to)
{
	if (from > s->end + BRIDGE_NS) {
		end_stretch(s);
		s->start = from;
	}
	s->end = to > s->end ? to : s->end;
}

/* Go through other threads' runs and interrupts in order of time. */
static int find_place(const struct gap_finder *f, const struct tl_gap *gap, struct stretch *s)
{
	uint32_t end, i = irq_after(f, gap->cpu, gap->start_ns, &end), run, runs;
	if (gap->cpu + 1u >= f->runs.first.n || gap->thread == TL_NONE)
		return 0;
	run = run_after(f, gap->cpu, gap->start_ns);
	runs = f->runs.first.v[gap->cpu + 1];
	s->start = s->end = 0;
	for (;;) {
		while (run < runs && f->runs.v.v[run].thread == gap->thread)
			run++;
		const struct tl_run *r = run < runs ? &f->runs.v.v[run] : NULL;
		const struct tl_interrupt *x = i < end ? &f->irqs.v[i] : NULL;
		r = r && r->start_ns < gap->end_ns ? r : NULL;
		x = x && x->start_ns < gap->end_ns ? x : NULL;
		if (!r && !x)
			break;
		if (r && (!x || r->start_ns <= x->start_ns)) {
			taken(s, r->start_ns, r->end_ns);
			run++;
		} else {
			if (x->end_ns > gap->start_ns)
				taken(s, x->start_ns, x->end_ns);
			i++;
		}
	}
	end_stretch(s);
	return s->found == 1;
}

int gap_explain(struct gap_finder *f, const struct tl_gap *gap, struct gap_parts *out,
		struct err *e)
{
	struct stretch s = {.lost_ns = gap->lost_ns};
	int r;
	out->v.n = 0;
	out->start_ns = gap->start_ns;
	out->end_ns = gap->end_ns;
	if (gap->end_ns - gap->start_ns <= gap->lost_ns) {
		r = split_gap(f, gap, gap->start_ns, gap->end_ns, out);
	} else if (find_place(f, gap, &s)) {
		out->start_ns = s.found_start;
		out->end_ns = s.found_end;
		r = split_gap(f, gap, s.found_start, s.found_end, out);
		uint64_t ns = s.found_end - s.found_start;
		if (!r && ns < gap->lost_ns)
			r = add_part(out, (struct gap_part){.by = GAP_UNEXPLAINED},
				     gap->lost_ns - ns);
	} else {
		out->start_ns = out->end_ns = 0;
		r = add_part(out, (struct gap_part){.by = GAP_NOT_PLACED}, gap->lost_ns);
	}
	if (out->v.n)
		qsort(out->v.v, out->v.n, sizeof(*out->v.v), longest_first);
	return r ? err_nomem(e) : 0;
}
