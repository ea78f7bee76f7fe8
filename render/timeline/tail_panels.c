#include "render/timeline/tail_panels.h"
#include "libtime/sched/thin.h"
#include "base/mem.h"
#include "render/text/escape.h"
#include "render/tail/tail_words.h"
#include "render/text/units.h"

enum { CORUNNERS = 3, CPUS = 2 };

struct panels {
	struct tail *t;
	struct explanation x;
	VEC(struct tl_panel) v;
	VEC(char *) sentences;
	VEC(uint32_t) threads;
};

static int add_thread(struct panels *p, uint32_t thread)
{
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.v[i] == thread)
			return 0;
	return vec_push(&p->threads, thread);
}

/* The episode's thread first, then the chain's, then who had its CPU. */
static int choose_threads(struct panels *p, const struct episode *ep)
{
	p->threads.n = 0;
	int r = add_thread(p, ep->end_thread);
	if (!r)
		r = add_thread(p, ep->thread);
	for (size_t i = 0; !r && i < p->x.chain.n; i++)
		r = add_thread(p, p->x.chain.v[i].thread);
	for (size_t i = 0; !r && i < p->x.corunners.n && i < CORUNNERS; i++)
		if (p->x.corunners.v[i].ns >= episode_ns(ep) / 20)
			r = add_thread(p, p->x.corunners.v[i].thread);
	return r;
}

/* The interval in which a link waited for a CPU for longest; TL_NONE where that is not much of
 * the episode. */
static uint32_t queued_in(const struct explanation *x, size_t i, uint64_t whole)
{
	const struct chain_link *l = &x->chain.v[i];
	if (l->runnable_ns < whole / 20)
		return TL_NONE;
	if (i + 1 < x->chain.n && x->chain.v[i + 1].via == VIA_CPU)
		return l->off;
	for (uint32_t k = 0; k < l->nparts; k++)
		if (x->parts.v[l->part + k].state == PART_RUNNABLE)
			return x->parts.v[l->part + k].off;
	return TL_NONE;
}

/* The CPUs that the chain's threads waited for; where none did, the one the episode ended on.
 */
static size_t choose_cpus(const struct panels *p, const struct episode *ep, uint16_t *cpus)
{
	const struct timeline *tl = p->t->tl;
	size_t n = 0;
	for (size_t i = 0; i < p->x.chain.n && n < CPUS; i++) {
		uint32_t off = queued_in(&p->x, i, episode_ns(ep));
		uint16_t cpu = off != TL_NONE ? off_waited_cpu(&tl->off.v[off]) : TL_NOCPU;
		if (cpu < tl->rec.ncpus && (!n || cpus[0] != cpu))
			cpus[n++] = cpu;
	}
	if (n)
		return n;
	cpus[0] = p->x.off != TL_NONE ? off_waited_cpu(&tl->off.v[p->x.off]) : ep->cpu;
	return cpus[0] < tl->rec.ncpus;
}

static char *sentence(struct panels *p, size_t rank, const struct episode *ep)
{
	const struct timeline *tl = p->t->tl;
	struct buf b = {0};
	buf_fmt(&b, "#%zu  ", rank + 1);
	describe_thread(&b, tl, ep->thread, ep->comm);
	if (tl->threads.v[ep->thread].comm != ep->comm) { /* its row has the later name */
		const struct strtab *names = &tl->stacks->strings;
		uint32_t later = tl->threads.v[ep->thread].comm;
		buf_str(&b, " (later ");
		escape_visible(&b, strtab_get(names, later), strtab_len(names, later));
		buf_char(&b, ')');
	}
	buf_str(&b, ", ");
	units_duration(&b, episode_ns(ep));
	buf_fmt(&b, " (%s) from ", describe_cause(p->x.state, p->x.cause));
	units_seconds(&b, ep->start_ns);
	buf_str(&b, ": ");
	describe_root(&b, explainer_evidence(p->t->explainer), &p->x);
	char *s = mem_strndup(buf_cstr(&b), b.n);
	if (buf_failed(&b)) {
		mem_free(s);
		s = NULL;
	}
	buf_release(&b);
	return s;
}

static int add_panel(struct panels *p, size_t rank, struct err *e)
{
	const struct episode *ep = &p->t->episodes.v.v[p->t->rows.v[rank].episode];
	uint16_t cpus[CPUS];
	struct tl_panel panel;
	int r = explain(p->t->explainer, ep, &p->x, e);
	if (r)
		return r;
	char *text = sentence(p, rank, ep);
	if (!text || vec_push(&p->sentences, text)) {
		mem_free(text);
		return err_nomem(e);
	}
	if (choose_threads(p, ep))
		return err_nomem(e);
	struct tl_episode te = {.start_ns = ep->start_ns,
				.end_ns = ep->end_ns,
				.threads = p->threads.v,
				.nthreads = p->threads.n,
				.cpus = cpus,
				.ncpus = choose_cpus(p, ep, cpus),
				.sentence = text};
	r = timeline_svg_episode(p->t->tl, &te, &panel, e);
	if (!r && vec_push(&p->v, panel)) {
		timeline_svg_episode_release(&panel);
		return err_nomem(e);
	}
	return r;
}

static void panels_release(struct panels *p)
{
	for (size_t i = 0; i < p->v.n; i++)
		timeline_svg_episode_release(&p->v.v[i]);
	for (size_t i = 0; i < p->sentences.n; i++)
		mem_free(p->sentences.v[i]);
	vec_release(&p->v);
	vec_release(&p->sentences);
	vec_release(&p->threads);
	explanation_release(&p->x);
}

/* Intervals in the rows of a panel. */
static size_t intervals_of(const struct timeline *tl, const struct tl_panel *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->nrows; i++)
		if (p->rows[i].kind == TLROW_THREAD)
			n += timeline_off_after(tl, p->rows[i].id, p->to_ns) -
			     timeline_off_after(tl, p->rows[i].id, p->from_ns);
	return n;
}

/* A panel of which the finest pixels of a wide screen show no less. */
static int write_thinned(const struct timeline *tl, const struct tl_panel *p,
			 const struct tl_svg_options *o, FILE *f, struct err *e)
{
	struct tl_svg_options own = *o;
	struct timeline thin = {0};
	struct buf b = {0};
	uint64_t grain = (p->to_ns - p->from_ns) / PANEL_CELLS + 1;
	const char *text = tl_svg_grain(&b, grain);
	int r = timeline_thin(tl, grain, NULL, 0, &thin, e);
	own.hidden = &text;
	own.n_hidden = 1;
	r = r ? r : timeline_svg_write(&thin, p, 1, &own, f, NULL, e);
	timeline_thin_release(&thin);
	buf_release(&b);
	return r;
}

int tail_panels_one(struct tail *t, size_t rank, const struct tl_svg_options *o, FILE *f,
		    struct err *e)
{
	struct panels p = {.t = t};
	int r = add_panel(&p, rank, e);
	if (!r && !o->page_ns && intervals_of(t->tl, p.v.v) > PANEL_INTERVALS)
		r = write_thinned(t->tl, p.v.v, o, f, e);
	else if (!r)
		r = timeline_svg_write(t->tl, p.v.v, 1, o, f, NULL, e);
	panels_release(&p);
	return r;
}

int tail_panels_what(struct tail *t, size_t rank, struct thin_keep *window, uint8_t *drawn,
		     struct err *e)
{
	struct panels p = {.t = t};
	int r = add_panel(&p, rank, e);
	for (size_t i = 0; !r && i < p.threads.n; i++)
		drawn[p.threads.v[i]] = 1;
	if (!r)
		*window = (struct thin_keep){p.v.v[0].from_ns, p.v.v[0].to_ns};
	panels_release(&p);
	return r;
}

int tail_panels_write(struct tail *t, size_t most, const struct tl_svg_options *o, FILE *f,
		      struct err *e)
{
	struct panels p = {.t = t};
	int r = 0;
	for (size_t i = 0; !r && i < t->rows.n && i < most; i++)
		r = add_panel(&p, i, e);
	if (!r && !p.v.n)
		r = err_set(e, ERR_NOTFOUND, "no episodes to draw");
	if (!r)
		r = timeline_svg_write(t->tl, p.v.v, p.v.n, o, f, NULL, e);
	panels_release(&p);
	return r;
}
