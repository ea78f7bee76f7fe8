#include "render/timeline/answer_panels.h"
#include "libtime/explain/windows.h"
#include "libtime/sched/timeline_parts.h"
#include "render/tail/gap_text.h"
#include "render/text/escape.h"
#include "render/text/units.h"
#include "render/timeline/panels.h"

enum { THREADS = 8, PARTS = 3 /* of a gap, in its sentence */ };

/* Draws the episodes of an answer. */
struct drawer {
	const struct episodes_answer *a;
	struct panels panels;
	uint32_t threads[THREADS];
	uint16_t cpus[THREADS];
};

static const struct episode *episode_at(const struct drawer *d, size_t rank)
{
	return &d->a->episodes->v.v[d->a->selection->v.v[rank]];
}

/* Add a panel of `te`, whose rows are those chosen. */
static int add_panel(struct drawer *d, struct tl_episode *te, struct buf *sentence,
		     struct err *e)
{
	te->threads = d->threads;
	te->cpus = d->cpus;
	return panels_add(&d->panels, d->a->tl, te, sentence, e);
}

/* --- gaps --------------------------------------------------------------------------------- */

static void gap_sentence(struct buf *b, const struct drawer *d, size_t rank,
			 const struct tl_gap *g, const struct gap_parts *w)
{
	const struct timeline *tl = d->a->tl;
	buf_fmt(b, "#%zu  CPU %u, ", rank + 1, timeline_cpu(tl, g->cpu));
	units_duration(b, g->lost_ns);
	buf_str(b, w->end_ns ? " from " : " somewhere from ");
	units_seconds(b, w->end_ns ? w->start_ns : g->start_ns);
	for (size_t i = 0; i < w->v.n && i < PARTS; i++) {
		buf_str(b, i ? ", " : ": ");
		gap_describe_taker(b, tl, &w->v.v[i]);
		buf_char(b, ' ');
		units_duration(b, w->v.v[i].ns);
	}
	if (w->v.n > PARTS)
		buf_fmt(b, ", %zu more", w->v.n - PARTS);
}

/* The threads that took most of the gap, then the one that lacked the CPU. */
static size_t gap_threads(struct drawer *d, const struct tl_gap *g, const struct gap_parts *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->v.n && n < THREADS - 1; i++)
		if (w->v.v[i].by == GAP_THREAD && w->v.v[i].what != g->thread)
			d->threads[n++] = w->v.v[i].what;
	if (g->thread != TL_NONE)
		d->threads[n++] = g->thread;
	return n;
}

static int add_gap(struct drawer *d, size_t rank, struct err *e)
{
	const struct timeline *tl = d->a->tl;
	const struct tl_gap *g = &tl->gaps.v[episode_at(d, rank)->at];
	const struct gap_parts *w = &d->a->gaps->gaps.v[rank];
	struct buf b = {0};
	struct tl_episode te = {.start_ns = w->end_ns ? w->start_ns : g->start_ns,
				.end_ns = w->end_ns ? w->end_ns : g->end_ns,
				.nthreads = gap_threads(d, g, w),
				.ncpus = g->cpu < tl->rec.ncpus};
	d->cpus[0] = g->cpu;
	te.marked = te.ncpus ? te.nthreads : 0;
	gap_sentence(&b, d, rank, g, w);
	return add_panel(d, &te, &b, e);
}

int gap_panels_write(const struct episodes_answer *a, size_t most,
		     const struct tl_svg_options *o, FILE *f, struct err *e)
{
	struct drawer d = {.a = a};
	int r = 0;
	for (size_t i = 0; i < a->selection->v.n && i < most && !r; i++)
		r = add_gap(&d, i, e);
	r = r ? r : panels_write(&d.panels, a->tl, o, f, e);
	panels_release(&d.panels);
	return r;
}

/* --- windows ------------------------------------------------------------------------------ */

static void window_sentence(struct buf *b, const struct drawer *d, size_t rank)
{
	const struct episode *ep = episode_at(d, rank);
	const struct strtab *s = &d->a->tl->stacks->strings;
	uint32_t name = d->a->tl->spans.v[ep->at].name;
	uint32_t key = episode_key_text(d->a->episodes, d->a->tl, ep);
	buf_fmt(b, "#%zu  ", rank + 1);
	escape_visible(b, strtab_get(s, name), strtab_len(s, name));
	if (key) {
		buf_char(b, ' ');
		escape_visible(b, strtab_get(s, key), strtab_len(s, key));
	}
	buf_str(b, ", ");
	units_duration(b, episode_ns(ep));
	buf_str(b, " from ");
	units_seconds(b, ep->start_ns);
}

static int add_window(struct drawer *d, const struct part_sums *parts, size_t rank,
		      struct err *e)
{
	const struct episode *ep = episode_at(d, rank);
	struct tl_episode te = {.start_ns = ep->start_ns, .end_ns = ep->end_ns};
	struct window_activity w = {.asleep = 0};
	struct buf b = {0};
	int r = window_of(parts, &d->a->episodes->query, ep, &w, e);
	for (; te.nthreads < w.v.n && te.nthreads < THREADS; te.nthreads++)
		d->threads[te.nthreads] = w.v.v[te.nthreads].thread;
	for (uint16_t i = 0; !te.nthreads && i < d->a->tl->rec.ncpus && i < THREADS; i++)
		d->cpus[te.ncpus++] = i;
	window_release(&w);
	if (r)
		return r;
	window_sentence(&b, d, rank);
	return add_panel(d, &te, &b, e);
}

int window_panels_write(const struct episodes_answer *a, size_t most,
			const struct tl_svg_options *o, FILE *f, struct err *e)
{
	struct drawer d = {.a = a};
	struct part_sums parts = {0};
	int r = part_sums_init(&parts, a->tl) ? err_nomem(e) : 0;
	for (size_t i = 0; i < a->selection->v.n && i < most && !r; i++)
		r = add_window(&d, &parts, i, e);
	r = r ? r : panels_write(&d.panels, a->tl, o, f, e);
	part_sums_release(&parts);
	panels_release(&d.panels);
	return r;
}
