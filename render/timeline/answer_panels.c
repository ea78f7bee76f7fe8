#include "render/timeline/answer_panels.h"
#include "base/mem.h"
#include "libtime/explain/gap_parts.h"
#include "libtime/explain/windows.h"
#include "render/tail/gap_text.h"
#include "render/text/escape.h"
#include "render/text/units.h"

enum { THREADS = 8, SAID = 3 /* parts of a gap */ };

struct panels {
	const struct episodes_answer *a;
	VEC(struct tl_panel) v;
	VEC(char *) sentences;
	uint32_t threads[THREADS];
	uint16_t cpus[THREADS];
};

static void panels_release(struct panels *p)
{
	for (size_t i = 0; i < p->v.n; i++)
		timeline_svg_episode_release(&p->v.v[i]);
	for (size_t i = 0; i < p->sentences.n; i++)
		mem_free(p->sentences.v[i]);
	vec_release(&p->v);
	vec_release(&p->sentences);
}

/* A panel of `te`, whose sentence is `b`, which is given back. */
static int add_panel(struct panels *p, struct tl_episode *te, struct buf *b, struct err *e)
{
	struct tl_panel panel;
	char *text = mem_strndup(buf_cstr(b), b->n);
	int r = buf_failed(b) || !text || vec_push(&p->sentences, text) ? err_nomem(e) : 0;
	buf_release(b);
	if (r) {
		mem_free(text);
		return r;
	}
	te->sentence = text;
	te->threads = p->threads;
	te->cpus = p->cpus;
	r = timeline_svg_episode(p->a->tl, te, &panel, e);
	if (!r && vec_push(&p->v, panel)) {
		timeline_svg_episode_release(&panel);
		return err_nomem(e);
	}
	return r;
}

static const struct episode *episode_at(const struct panels *p, size_t rank)
{
	return &p->a->episodes->v.v[p->a->selection->v.v[rank]];
}

static int write_panels(struct panels *p, const struct tl_svg_options *o, FILE *f,
			struct err *e)
{
	return p->v.n ? timeline_svg_write(p->a->tl, p->v.v, p->v.n, o, f, NULL, e)
		      : err_set(e, ERR_NOTFOUND, "no episodes to draw");
}

/* --- gaps --------------------------------------------------------------------------------- */

static void gap_sentence(struct buf *b, const struct panels *p, size_t rank,
			 const struct tl_gap *g, const struct gap_work *w)
{
	const struct timeline *tl = p->a->tl;
	buf_fmt(b, "#%zu  CPU %u, ", rank + 1, timeline_cpu(tl, g->cpu));
	units_duration(b, g->lost_ns);
	buf_str(b, w->end_ns ? " from " : " somewhere from ");
	units_seconds(b, w->end_ns ? w->start_ns : g->start_ns);
	for (size_t i = 0; i < w->v.n && i < SAID; i++) {
		buf_str(b, i ? ", " : ": ");
		gap_describe_taker(b, tl, &w->v.v[i]);
		buf_char(b, ' ');
		units_duration(b, w->v.v[i].ns);
	}
	if (w->v.n > SAID)
		buf_fmt(b, ", %zu more", w->v.n - SAID);
}

/* Who took most of it, then the program that wanted it. */
static size_t gap_threads(struct panels *p, const struct tl_gap *g, const struct gap_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->v.n && n < THREADS - 1; i++)
		if (w->v.v[i].by == TAKEN_BY_THREAD && w->v.v[i].what != g->thread)
			p->threads[n++] = w->v.v[i].what;
	if (g->thread != TL_NONE)
		p->threads[n++] = g->thread;
	return n;
}

static int add_gap(struct panels *p, struct gap_finder *finder, size_t rank, struct err *e)
{
	const struct timeline *tl = p->a->tl;
	const struct tl_gap *g = &tl->gaps.v[episode_at(p, rank)->at];
	struct gap_work w = {.start_ns = 0};
	struct buf b = {0};
	int r = gap_explain(finder, g, &w, e);
	if (!r) {
		struct tl_episode te = {.start_ns = w.end_ns ? w.start_ns : g->start_ns,
					.end_ns = w.end_ns ? w.end_ns : g->end_ns,
					.nthreads = gap_threads(p, g, &w),
					.ncpus = g->cpu < tl->rec.ncpus};
		p->cpus[0] = g->cpu;
		te.marked = te.ncpus ? te.nthreads : 0;
		gap_sentence(&b, p, rank, g, &w);
		r = add_panel(p, &te, &b, e);
	}
	gap_work_release(&w);
	return r;
}

int gap_panels_write(const struct episodes_answer *a, size_t most,
		     const struct tl_svg_options *o, FILE *f, struct err *e)
{
	struct panels p = {.a = a};
	struct gap_finder *finder = NULL;
	int r = gap_finder_new(&finder, a->tl, e);
	for (size_t i = 0; i < a->selection->v.n && i < most && !r; i++)
		r = add_gap(&p, finder, i, e);
	r = r ? r : write_panels(&p, o, f, e);
	gap_finder_free(finder);
	panels_release(&p);
	return r;
}

/* --- windows ------------------------------------------------------------------------------ */

static void window_sentence(struct buf *b, const struct panels *p, size_t rank)
{
	const struct episode *ep = episode_at(p, rank);
	const struct strtab *s = &p->a->tl->stacks->strings;
	uint32_t name = p->a->tl->spans.v[ep->at].name;
	uint32_t key = episode_key_text(p->a->episodes, p->a->tl, ep);
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

static int add_window(struct panels *p, const struct part_sums *parts, size_t rank,
		      struct err *e)
{
	const struct episode *ep = episode_at(p, rank);
	struct tl_episode te = {.start_ns = ep->start_ns, .end_ns = ep->end_ns};
	struct window_work w = {.asleep = 0};
	struct buf b = {0};
	int r = window_of(parts, &p->a->episodes->query, ep, &w, e);
	for (; te.nthreads < w.v.n && te.nthreads < THREADS; te.nthreads++)
		p->threads[te.nthreads] = w.v.v[te.nthreads].thread;
	for (uint16_t i = 0; !te.nthreads && i < p->a->tl->rec.ncpus && i < THREADS; i++)
		p->cpus[te.ncpus++] = i;
	window_release(&w);
	if (r)
		return r;
	window_sentence(&b, p, rank);
	return add_panel(p, &te, &b, e);
}

int window_panels_write(const struct episodes_answer *a, size_t most,
			const struct tl_svg_options *o, FILE *f, struct err *e)
{
	struct panels p = {.a = a};
	struct part_sums parts = {0};
	int r = part_sums_init(&parts, a->tl) ? err_nomem(e) : 0;
	for (size_t i = 0; i < a->selection->v.n && i < most && !r; i++)
		r = add_window(&p, &parts, i, e);
	r = r ? r : write_panels(&p, o, f, e);
	part_sums_release(&parts);
	panels_release(&p);
	return r;
}
