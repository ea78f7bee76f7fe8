#include "render/timeline/timeline_data.h"
#include "base/hash.h"
#include "base/mem.h"
#include "libtime/explain/chain.h"
#include "libtime/explain/gap_parts.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/population/population.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/sched/timeline_spans.h"
#include "render/text/escape.h"
#include "render/flame/flame_data.h"
#include "render/svg/svg_text.h"

#include <stdlib.h>

enum { FLUSH_AT = 1 << 16 };

/* Numbers in the order of first use, and what they are for. */
struct numbering {
	struct u64map no;
	VEC(uint32_t) ids;
};

/* The holder of the lock that an interval waited for, during a part of it. */
struct lock_hold {
	uint32_t row, interval, thread; /* the interval's number in the row */
	uint64_t after_ns, ns;          /* since the wait's begin */
};

struct writer {
	const struct tl_data *d;
	const struct timeline *tl;
	const struct stacks *stacks;
	const struct tl_panel *p;
	struct buf *b;
	FILE *out;
	struct err *e;
	struct numbering strings, threads, frames, paths;
	uint32_t *row_of; /* by thread: its row in the panel + 1 */
	struct evidence evidence;
	windows_vec holders;           /* of one lock */
	VEC(struct lock_hold) held;    /* of all in the panel */
	struct gap_finder *gap_finder; /* made for the first gap */
	struct gap_parts gap;
	int failed;
};

static uint32_t number_of(struct writer *w, struct numbering *m, uint32_t id)
{
	uint32_t no;
	if (u64map_get(&m->no, id, &no))
		return no;
	no = (uint32_t)m->ids.n;
	if (vec_push(&m->ids, id) || u64map_put(&m->no, id, no))
		w->failed = 1;
	return no;
}

static uint32_t thread_no(struct writer *w, uint32_t id)
{
	return w->d->page_ns ? id : number_of(w, &w->threads, id);
}

static uint32_t string_no(struct writer *w, uint32_t id)
{
	return id ? number_of(w, &w->strings, id) + 1 : 0;
}

/* Callers get their numbers before callees. */
static uint32_t path_no(struct writer *w, uint32_t path)
{
	VEC(uint32_t) todo = {0};
	uint32_t no = 0;
	if (path >= w->stacks->paths.n)
		path = 0;
	while (path && !u64map_get(&w->paths.no, path, &no)) {
		if (vec_push(&todo, path)) {
			w->failed = 1;
			break;
		}
		path = w->stacks->paths.v[path].parent;
		no = 0;
	}
	no = todo.n || !path ? 0 : no + 1;
	while (todo.n)
		no = number_of(w, &w->paths, todo.v[--todo.n]) + 1;
	vec_release(&todo);
	return no;
}

static int flush(struct writer *w)
{
	if (w->failed)
		return err_nomem(w->e);
	if (w->b->n < FLUSH_AT && !buf_failed(w->b))
		return 0;
	return flame_flush(w->b, w->out, w->e);
}

static int64_t since(uint64_t t, uint64_t from)
{
	return (int64_t)(t - from);
}

/* --- rows ----------------------------------------------------------------------------- */

/* The CPU part is 0 if it came back on the CPU it waited for, or waited for none. */
uint64_t tl_waker_context(const struct offcpu *o)
{
	uint16_t cpu = offcpu_runnable_ns(o) ? offcpu_waited_cpu(o) : TL_NOCPU;
	return o->waker_context | (cpu == TL_NOCPU || cpu == o->cpu_in ? 0 : (cpu + 1ull) << 3);
}

static void put_offcpu(struct writer *w, const struct offcpu *o, uint64_t ran)
{
	struct buf *b = w->b;
	svg_number(b, ran);
	svg_number(b, o->blocked_ns);
	svg_number(b, offcpu_ns(o) - o->blocked_ns);
	svg_number(b,
		   (uint64_t)o->cause | (uint64_t)o->flags << 5 | (uint64_t)o->unknown << 13);
	svg_number(b, path_no(w, o->path));
	svg_number(b, o->state < w->tl->nstates ? string_no(w, w->tl->states[o->state]) : 0);
	svg_number(b, o->waker == TL_NONE ? 0 : thread_no(w, o->waker) + 1);
	svg_number(b, tl_waker_context(o));
	svg_number(b, path_no(w, o->waker_path));
	svg_number(b, o->cpu_out == TL_NOCPU ? 0 : o->cpu_out + 1u);
	svg_number(b, o->cpu_in == TL_NOCPU ? 0 : o->cpu_in + 1u);
}

/* Find the holders of the lock of interval `offcpu`, the nth of a row, inside the panel's
 * window. */
static int find_holders(struct writer *w, uint32_t row, uint32_t nth, uint32_t offcpu,
			const struct offcpu *cut)
{
	const struct offcpu *o = &w->tl->offcpu.v[offcpu];
	uint64_t end = cut->start_ns + cut->blocked_ns;
	w->holders.n = 0;
	int complete = !(w->tl->flags & TL_THINNED);
	int rc = complete && offcpu_is_lock(o) && o->blocked_ns && !o->unknown
			 ? lock_holders(&w->evidence, offcpu, &w->holders, w->e)
			 : 0;
	for (size_t i = 0; i < w->holders.n && !rc; i++) {
		const struct window *h = &w->holders.v[i];
		if (h->thread == TL_NONE)
			continue;
		uint64_t from = h->from_ns > cut->start_ns ? h->from_ns : cut->start_ns;
		uint64_t to = h->to_ns < end ? h->to_ns : end;
		struct lock_hold x = {row, nth, h->thread, from - cut->start_ns, to - from};
		if (from < to && vec_push(&w->held, x))
			rc = err_nomem(w->e);
	}
	return rc;
}

/* The page has the thread's intervals: put only lock holders, by the interval's number
 * there. */
static int put_holders(struct writer *w, uint32_t thread, uint32_t row)
{
	const struct timeline *tl = w->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t first = timeline_offcpu_after(tl, thread, w->p->from_ns);
	int rc = 0;
	svg_number(w->b, thread);
	for (uint32_t k = first; k < t->offcpu_first + t->offcpu_n && !rc; k++) {
		struct offcpu o = tl->offcpu.v[k];
		if (o.start_ns >= w->p->to_ns)
			break;
		if (w->p->clip)
			tl_clip_off(&o, w->p->from_ns, w->p->to_ns);
		rc = find_holders(w, row, k - first, k, &o);
	}
	return rc;
}

/* Pieces that extend over the window's edge are written whole, unless the panel clips them. */
static int put_thread(struct writer *w, uint32_t thread, uint32_t row)
{
	const struct timeline *tl = w->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t first = timeline_offcpu_after(tl, thread, w->p->from_ns), i = first;
	uint32_t end = t->offcpu_first + t->offcpu_n;
	int offcpu_first = i < end && tl->offcpu.v[i].start_ns <= w->p->from_ns;
	uint64_t begin = i > t->offcpu_first ? tl->offcpu.v[i - 1].end_ns : t->first_ns;
	if (offcpu_first)
		begin = tl->offcpu.v[i].start_ns;
	while (i < end && tl->offcpu.v[i].start_ns < w->p->to_ns)
		i++;
	uint64_t last = i < end ? tl->offcpu.v[i].start_ns : t->last_ns;
	if (i > first && tl->offcpu.v[i - 1].end_ns >= w->p->to_ns)
		last = tl->offcpu.v[i - 1].end_ns;
	if (w->p->clip) {
		begin = begin < w->p->from_ns ? w->p->from_ns : begin;
		last = last > w->p->to_ns ? w->p->to_ns : last;
	}
	svg_number(w->b, thread_no(w, thread));
	svg_signed(w->b, since(begin, w->p->from_ns));
	svg_signed(w->b, since(last, w->p->from_ns));
	svg_number(w->b, (uint64_t)offcpu_first);
	svg_number(w->b, i - first);
	int rc = 0;
	uint64_t at = begin;
	for (uint32_t k = first; k < i && !rc; k++) {
		struct offcpu o = tl->offcpu.v[k];
		if (w->p->clip)
			tl_clip_off(&o, w->p->from_ns, w->p->to_ns);
		put_offcpu(w, &o, o.start_ns - at);
		at = o.end_ns;
		rc = find_holders(w, row, k - first, k, &o);
		rc = rc ? rc : flush(w);
	}
	return rc;
}

static int put_cpu(struct writer *w, uint32_t cpu)
{
	const struct tl_runs *r = w->d->runs;
	uint32_t i = 0, end = 0;
	if ((size_t)cpu + 1 < r->first.n) {
		i = r->first.v[cpu];
		end = r->first.v[cpu + 1];
	}
	while (i < end && r->v.v[i].end_ns <= w->p->from_ns)
		i++;
	uint32_t first = i;
	while (i < end && r->v.v[i].start_ns < w->p->to_ns)
		i++;
	svg_number(w->b, cpu);
	svg_number(w->b, i - first);
	uint64_t at = w->p->from_ns;
	int rc = 0;
	for (uint32_t k = first; k < i && !rc; k++) {
		struct tl_run run = r->v.v[k];
		if (w->p->clip) {
			run.start_ns =
				run.start_ns < w->p->from_ns ? w->p->from_ns : run.start_ns;
			run.end_ns = run.end_ns > w->p->to_ns ? w->p->to_ns : run.end_ns;
		}
		svg_signed(w->b, since(run.start_ns, at));
		svg_number(w->b, run.end_ns - run.start_ns);
		svg_number(w->b, thread_no(w, run.thread));
		at = run.end_ns;
		rc = flush(w);
	}
	return rc;
}

static int put_rows(struct writer *w)
{
	int rc = 0;
	svg_number(w->b, w->p->nrows);
	for (size_t i = 0; i < w->p->nrows && !rc; i++) {
		const struct tl_row *r = &w->p->rows[i];
		svg_number(w->b, r->kind);
		if (r->kind == TLROW_THREAD && w->d->page_ns)
			rc = put_holders(w, r->id, (uint32_t)i);
		else if (r->kind == TLROW_THREAD)
			rc = put_thread(w, r->id, (uint32_t)i);
		else if (r->kind == TLROW_CPU && w->d->page_ns)
			svg_number(w->b, r->id);
		else if (r->kind == TLROW_CPU)
			rc = put_cpu(w, r->id);
		else
			svg_number(w->b, thread_no(w, r->id));
	}
	return rc;
}

/* --- what is on the rows --------------------------------------------------------------- */

/* An item of a row, to sort by row and then by its index in its table. */
struct placed {
	uint32_t row, index;
};

static int by_row(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

typedef VEC(struct placed) placed_list;

static void place(struct writer *w, placed_list *v, uint32_t thread, size_t index)
{
	if (thread < w->tl->threads.n && w->row_of[thread]) {
		struct placed p = {w->row_of[thread] - 1, (uint32_t)index};
		if (vec_push(v, p))
			w->failed = 1;
	}
}

static void sort_placed(struct writer *w, placed_list *v)
{
	if (v->n)
		qsort(v->v, v->n, sizeof(*v->v), by_row);
	svg_number(w->b, v->n);
}

static int put_samples(struct writer *w)
{
	const struct timeline *tl = w->tl;
	placed_list v = {0};
	size_t i = tl_sample_after(tl, w->p->from_ns);
	for (; !w->d->page_ns && i < tl->samples.n && tl->samples.v[i].time_ns < w->p->to_ns;
	     i++)
		place(w, &v, tl->samples.v[i].thread, i);
	sort_placed(w, &v);
	uint64_t at = 0;
	int rc = 0;
	for (i = 0; i < v.n && !rc; i++) {
		const struct tl_sample *s = &tl->samples.v[v.v[i].index];
		if (!i || v.v[i].row != v.v[i - 1].row)
			at = w->p->from_ns;
		svg_number(w->b, v.v[i].row);
		svg_number(w->b, s->time_ns - at);
		svg_number(w->b, path_no(w, s->path));
		svg_number(w->b, s->event);
		at = s->time_ns;
		rc = flush(w);
	}
	vec_release(&v);
	return rc;
}

static int put_spans(struct writer *w)
{
	const struct timeline *tl = w->tl;
	placed_list v = {0};
	for (size_t i = 0; i < tl->spans.n; i++)
		if (tl->spans.v[i].end_ns > w->p->from_ns &&
		    tl->spans.v[i].start_ns < w->p->to_ns)
			place(w, &v, timeline_span_thread(tl, (uint32_t)i), i);
	sort_placed(w, &v);
	int rc = 0;
	for (size_t i = 0; i < v.n && !rc; i++) {
		const struct tl_span *s = &tl->spans.v[v.v[i].index];
		uint32_t last = s->end_thread < tl->threads.n
					? s->end_thread
					: timeline_span_thread(tl, v.v[i].index);
		svg_number(w->b, v.v[i].row);
		svg_signed(w->b, since(s->start_ns, w->p->from_ns));
		svg_number(w->b, s->end_ns - s->start_ns);
		svg_number(w->b, string_no(w, s->name));
		svg_number(w->b, string_no(w, s->key_text));
		svg_number(w->b, thread_no(w, last));
		rc = flush(w);
	}
	vec_release(&v);
	return rc;
}

static int put_marks(struct writer *w)
{
	const struct timeline *tl = w->tl;
	placed_list v = {0};
	for (size_t i = 0; i < tl->marks.n; i++)
		if (tl->marks.v[i].time_ns >= w->p->from_ns &&
		    tl->marks.v[i].time_ns < w->p->to_ns)
			place(w, &v, tl->marks.v[i].thread, i);
	sort_placed(w, &v);
	int rc = 0;
	for (size_t i = 0; i < v.n && !rc; i++) {
		const struct tl_mark *m = &tl->marks.v[v.v[i].index];
		svg_number(w->b, v.v[i].row);
		svg_number(w->b, m->time_ns - w->p->from_ns);
		svg_number(w->b, string_no(w, m->name));
		svg_number(w->b, string_no(w, m->text));
		svg_number(w->b, path_no(w, m->path));
		rc = flush(w);
	}
	vec_release(&v);
	return rc;
}

static int put_losses(struct writer *w)
{
	const struct timeline *tl = w->tl;
	size_t n = 0;
	int rc = 0;
	if (w->d->page_ns) {
		svg_number(w->b, 0);
		return 0;
	}
	for (int pass = 0; pass < 2 && !rc; pass++) {
		if (pass)
			svg_number(w->b, n);
		for (size_t i = 0; i < tl->losses.n && !rc; i++) {
			const struct tl_loss *l = &tl->losses.v[i];
			if (l->to_ns <= w->p->from_ns || l->from_ns >= w->p->to_ns)
				continue;
			n++;
			if (!pass)
				continue;
			/* a loss before a CPU's first record has only a known end */
			uint64_t from =
				l->from_ns > tl->rec.origin_ns ? l->from_ns : tl->rec.origin_ns;
			svg_signed(w->b, since(from, w->p->from_ns));
			svg_number(w->b, l->to_ns > from ? l->to_ns - from : 0);
			svg_number(w->b, l->cpu == TL_NOCPU ? 0 : l->cpu + 1u);
			svg_number(w->b, l->kind);
			svg_number(w->b, l->count);
			rc = flush(w);
		}
	}
	return rc;
}

static int has_row(const struct tl_panel *p, uint16_t cpu)
{
	for (size_t i = 0; i < p->nrows; i++)
		if (p->rows[i].kind == TLROW_CPU && p->rows[i].id == cpu)
			return 1;
	return 0;
}

static int put_interrupts(struct writer *w)
{
	const struct timeline *tl = w->tl;
	VEC(uint32_t) v = {0};
	int rc = 0;
	for (size_t i = 0; i < tl->interrupts.n && !rc; i++) {
		const struct tl_interrupt *x = &tl->interrupts.v[i];
		if (x->end_ns > w->p->from_ns && x->start_ns < w->p->to_ns &&
		    has_row(w->p, x->cpu))
			rc = vec_push(&v, (uint32_t)i);
	}
	rc = rc ? err_nomem(w->e) : 0;
	svg_number(w->b, v.n);
	for (size_t i = 0; i < v.n && !rc; i++) {
		const struct tl_interrupt *x = &tl->interrupts.v[v.v[i]];
		svg_number(w->b, x->cpu);
		svg_signed(w->b, since(x->start_ns, w->p->from_ns));
		svg_number(w->b, x->end_ns - x->start_ns);
		svg_number(w->b, string_no(w, x->vector));
		rc = flush(w);
	}
	vec_release(&v);
	return rc;
}

/* What took a gap's CPU, by the recorded intervals without clipping. */
static int explain_gap(struct writer *w, const struct tl_gap *g)
{
	int placed = g->end_ns - g->start_ns <= g->lost_ns;
	w->gap.v.n = 0;
	w->gap.start_ns = placed ? g->start_ns : 0;
	w->gap.end_ns = placed ? g->end_ns : 0;
	if (w->tl->flags & TL_THINNED)
		return 0;
	int rc = w->gap_finder ? 0 : gap_finder_new(&w->gap_finder, w->tl, w->e);
	return rc ? rc : gap_explain(w->gap_finder, g, &w->gap, w->e);
}

static void put_part(struct writer *w, const struct gap_part *p)
{
	svg_number(w->b, p->ns);
	svg_number(w->b, p->by);
	svg_number(w->b, p->by == GAP_THREAD      ? thread_no(w, p->what)
			 : p->by == GAP_INTERRUPT ? string_no(w, p->what)
						  : 0);
}

static int put_gap(struct writer *w, const struct tl_gap *g)
{
	int rc = explain_gap(w, g), placed = w->gap.end_ns != 0;
	uint64_t from = placed ? w->gap.start_ns : g->start_ns;
	uint64_t to = placed ? w->gap.end_ns : g->end_ns;
	svg_number(w->b, g->cpu);
	svg_signed(w->b, since(from, w->p->from_ns));
	svg_number(w->b, to - from);
	svg_number(w->b, g->lost_ns);
	svg_number(w->b, !placed);
	svg_number(w->b, w->gap.v.n);
	for (size_t i = 0; i < w->gap.v.n; i++)
		put_part(w, &w->gap.v.v[i]);
	return rc ? rc : flush(w);
}

/* A panel that clips has the part of each gap that `report --by gap --time` counts. */
static int put_gaps(struct writer *w)
{
	const struct timeline *tl = w->tl;
	const struct population of = {.start_ns = w->p->clip ? w->p->from_ns : 0,
				      .stop_ns = w->p->clip ? w->p->to_ns : 0};
	VEC(struct tl_gap) v = {0};
	int rc = 0;
	for (size_t i = 0; i < tl->gaps.n && !rc; i++) {
		struct tl_gap g = tl->gaps.v[i];
		if (g.end_ns > w->p->from_ns && g.start_ns < w->p->to_ns &&
		    has_row(w->p, g.cpu) && population_gap(&of, tl, &g))
			rc = vec_push(&v, g);
	}
	rc = rc ? err_nomem(w->e) : 0;
	svg_number(w->b, v.n);
	for (size_t i = 0; i < v.n && !rc; i++)
		rc = put_gap(w, &v.v[i]);
	vec_release(&v);
	return rc;
}

static int put_lock_holds(struct writer *w)
{
	int rc = 0;
	svg_number(w->b, w->held.n);
	for (size_t i = 0; i < w->held.n && !rc; i++) {
		const struct lock_hold *h = &w->held.v[i];
		svg_number(w->b, h->row);
		svg_number(w->b, h->interval);
		svg_number(w->b, thread_no(w, h->thread));
		svg_number(w->b, h->after_ns);
		svg_number(w->b, h->ns);
		rc = flush(w);
	}
	return rc;
}

static void put_given(struct writer *w)
{
	const struct tl_panel *p = w->p;
	svg_number(w->b, p->nhighlights);
	for (size_t i = 0; i < p->nhighlights; i++) {
		svg_number(w->b, p->highlights[i].row);
		svg_signed(w->b, since(p->highlights[i].from_ns, p->from_ns));
		svg_number(w->b, p->highlights[i].to_ns - p->highlights[i].from_ns);
	}
	svg_number(w->b, p->arrows != NULL);
	svg_number(w->b, p->arrows ? p->narrows : 0);
	for (size_t i = 0; p->arrows && i < p->narrows; i++) {
		svg_number(w->b, p->arrows[i].from);
		svg_number(w->b, p->arrows[i].to);
		svg_signed(w->b, since(p->arrows[i].time_ns, p->from_ns));
	}
}

static int put_panel(struct writer *w, const struct tl_panel *p)
{
	w->p = p;
	w->held.n = 0;
	w->row_of = mem_zalloc(w->tl->threads.n + 1, sizeof(*w->row_of));
	if (!w->row_of)
		return err_nomem(w->e);
	for (size_t i = 0; i < p->nrows; i++)
		if (p->rows[i].kind == TLROW_THREAD)
			w->row_of[p->rows[i].id] = (uint32_t)i + 1;
	buf_str(w->b, "<t-panel>");
	if (w->d->page_ns)
		svg_signed(w->b, since(p->from_ns, *w->d->page_ns));
	svg_number(w->b, p->from_ns - w->d->base_ns);
	svg_number(w->b, p->to_ns - p->from_ns);
	svg_number(w->b, p->zero_ns - w->d->base_ns);
	int rc = put_rows(w);
	rc = rc ? rc : put_samples(w);
	rc = rc ? rc : put_spans(w);
	rc = rc ? rc : put_marks(w);
	rc = rc ? rc : put_losses(w);
	rc = rc ? rc : put_interrupts(w);
	rc = rc ? rc : put_gaps(w);
	rc = rc ? rc : put_lock_holds(w);
	put_given(w);
	buf_str(w->b, "</t-panel>\n");
	mem_free(w->row_of);
	return rc ? rc : flush(w);
}

/* --- tables ---------------------------------------------------------------------------- */

static void put_threads(struct writer *w)
{
	buf_str(w->b, "<t-threads>");
	for (size_t i = 0; i < w->threads.ids.n; i++) {
		uint32_t id = w->threads.ids.v[i];
		const struct tl_thread *t = &w->tl->threads.v[id];
		svg_number(w->b, string_no(w, t->comm));
		svg_number(w->b, (uint64_t)(t->pid + 1ll));
		svg_number(w->b, (uint64_t)(t->tid + 1ll));
		svg_number(w->b, t->flags & ~(unsigned)THREAD_MEANT);
		svg_number(w->b, w->d->colors[id]);
	}
	for (uint32_t i = 0; w->d->page_ns && i < w->tl->threads.n; i++) {
		if (w->d->colors[i] == TLP_CPU_COLORS - 1)
			continue;
		svg_number(w->b, i);
		svg_number(w->b, w->d->colors[i]);
	}
	buf_str(w->b, "</t-threads>\n<t-events>");
	for (size_t i = 0; i < w->tl->events.n; i++)
		svg_number(w->b, string_no(w, w->tl->events.v[i].name));
	buf_str(w->b, "</t-events>\n");
}

static int put_stacks(struct writer *w)
{
	int rc = 0;
	buf_str(w->b, "<t-paths>");
	for (size_t i = 0; i < w->paths.ids.n && !rc; i++) {
		const struct call_path *p = &w->stacks->paths.v[w->paths.ids.v[i]];
		svg_number(w->b, path_no(w, p->parent));
		svg_number(w->b, number_of(w, &w->frames, p->frame));
		rc = flush(w);
	}
	buf_str(w->b, "</t-paths>\n<t-frames>");
	for (size_t i = 0; i < w->frames.ids.n && !rc; i++) {
		const struct frame *f = &w->stacks->frames.v[w->frames.ids.v[i]];
		svg_number(w->b, string_no(w, f->name));
		svg_number(w->b, string_no(w, f->dso));
		unsigned roles = timeline_roles(w->tl, w->frames.ids.v[i]);
		svg_number(w->b, f->kind | (roles & (ROLE_RUNTIME | ROLE_START) ? 8u : 0));
		rc = flush(w);
	}
	buf_str(w->b, "</t-frames>\n");
	return rc;
}

static int put_strings(struct writer *w)
{
	int rc = 0;
	buf_str(w->b, "<t-strings>");
	for (size_t i = 0; i < w->strings.ids.n && !rc; i++) {
		uint32_t id = w->strings.ids.v[i];
		buf_char(w->b, '\n');
		escape_xml(w->b, strtab_get(&w->stacks->strings, id),
			   strtab_len(&w->stacks->strings, id));
		rc = flush(w);
	}
	buf_str(w->b, "</t-strings>\n");
	return rc;
}

static void numbering_release(struct numbering *m)
{
	u64map_release(&m->no);
	vec_release(&m->ids);
}

int tl_data_write(const struct tl_data *d, const struct tl_panel *panels, size_t n,
		  struct buf *b, FILE *out, struct err *e)
{
	struct writer w = {
		.d = d, .tl = d->tl, .stacks = d->tl->stacks, .b = b, .out = out, .e = e};
	int rc = evidence_init(&w.evidence, d->tl, e);
	for (size_t i = 0; i < n && !rc; i++)
		rc = put_panel(&w, &panels[i]);
	evidence_release(&w.evidence);
	gap_finder_free(w.gap_finder);
	gap_parts_release(&w.gap);
	vec_release(&w.holders);
	vec_release(&w.held);
	put_threads(&w);
	rc = rc ? rc : put_stacks(&w);
	rc = rc ? rc : put_strings(&w);
	numbering_release(&w.strings);
	numbering_release(&w.threads);
	numbering_release(&w.frames);
	numbering_release(&w.paths);
	return rc ? rc : w.failed ? err_nomem(e) : 0;
}
