#include "render/timeline/tail_panels.h"
#include "libtime/sched/thin.h"
#include "libtime/sched/timeline_query.h"
#include "render/text/escape.h"
#include "render/tail/tail_words.h"
#include "render/text/units.h"
#include "render/timeline/panels.h"

enum { CORUNNERS = 3, CPUS = 2 };

/* Draws the episodes of `tail`. */
struct drawer {
	struct tail *t;
	const struct explanation *x;
	struct panels panels;
	VEC(uint32_t) threads;
};

static int add_thread(struct drawer *d, uint32_t thread)
{
	for (size_t i = 0; i < d->threads.n; i++)
		if (d->threads.v[i] == thread)
			return 0;
	return vec_push(&d->threads, thread);
}

/* The episode's thread first, then the chain's, then who had its CPU. */
static int choose_threads(struct drawer *d, const struct episode *ep)
{
	d->threads.n = 0;
	int r = add_thread(d, ep->end_thread);
	if (!r)
		r = add_thread(d, ep->thread);
	for (size_t i = 0; !r && i < d->x->chain.n; i++)
		r = add_thread(d, d->x->chain.v[i].thread);
	for (size_t i = 0; !r && i < d->x->corunners.n && i < CORUNNERS; i++)
		if (d->x->corunners.v[i].ns >= episode_ns(ep) / 20)
			r = add_thread(d, d->x->corunners.v[i].thread);
	return r;
}

/* The interval in which a link waited for a CPU for longest; TL_NONE if that is
 * less than a twentieth of the episode. */
static uint32_t queued_in(const struct explanation *x, size_t i, uint64_t whole)
{
	const struct chain_link *l = &x->chain.v[i];
	if (l->runnable_ns < whole / 20)
		return TL_NONE;
	if (i + 1 < x->chain.n && x->chain.v[i + 1].via == VIA_CPU)
		return l->offcpu;
	for (uint32_t k = 0; k < l->nparts; k++)
		if (x->parts.v[l->part + k].state == PART_RUNNABLE)
			return x->parts.v[l->part + k].offcpu;
	return TL_NONE;
}

/* The CPUs that the chain's threads waited for; if none did, the one the episode ended on.
 */
static size_t choose_cpus(const struct drawer *d, const struct episode *ep, uint16_t *cpus)
{
	const struct timeline *tl = d->t->tl;
	size_t n = 0;
	for (size_t i = 0; i < d->x->chain.n && n < CPUS; i++) {
		uint32_t offcpu = queued_in(d->x, i, episode_ns(ep));
		uint16_t cpu =
			offcpu != TL_NONE ? offcpu_waited_cpu(&tl->offcpu.v[offcpu]) : TL_NOCPU;
		if (cpu < tl->rec.ncpus && (!n || cpus[0] != cpu))
			cpus[n++] = cpu;
	}
	if (n)
		return n;
	cpus[0] = d->x->offcpu != TL_NONE ? offcpu_waited_cpu(&tl->offcpu.v[d->x->offcpu])
					  : ep->cpu;
	return cpus[0] < tl->rec.ncpus;
}

static void add_sentence(struct buf *b, const struct drawer *d, size_t rank,
			 const struct episode *ep)
{
	const struct timeline *tl = d->t->tl;
	buf_fmt(b, "#%zu  ", rank + 1);
	describe_thread(b, tl, ep->thread, ep->comm);
	if (tl->threads.v[ep->thread].comm != ep->comm) { /* its row has the later name */
		const struct strtab *names = &tl->stacks->strings;
		uint32_t later = tl->threads.v[ep->thread].comm;
		buf_str(b, " (later ");
		escape_visible(b, strtab_get(names, later), strtab_len(names, later));
		buf_char(b, ')');
	}
	buf_str(b, ", ");
	units_duration(b, episode_ns(ep));
	buf_fmt(b, " (%s) from ", describe_cause(d->x->state, d->x->cause));
	units_seconds(b, ep->start_ns);
	buf_str(b, ": ");
	describe_root(b, explainer_evidence(d->t->explainer), d->x);
}

static int add_panel(struct drawer *d, size_t rank, struct err *e)
{
	const struct episode *ep = &d->t->episodes.v.v[d->t->rows.v[rank].episode];
	uint16_t cpus[CPUS];
	struct buf b = {0};
	int r = tail_explain_row(d->t, rank, &d->x, e);
	if (r)
		return r;
	if (choose_threads(d, ep))
		return err_nomem(e);
	struct tl_episode te = {.start_ns = ep->start_ns,
				.end_ns = ep->end_ns,
				.threads = d->threads.v,
				.nthreads = d->threads.n,
				.cpus = cpus,
				.ncpus = choose_cpus(d, ep, cpus)};
	add_sentence(&b, d, rank, ep);
	return panels_add(&d->panels, d->t->tl, &te, &b, e);
}

static void drawer_release(struct drawer *d)
{
	panels_release(&d->panels);
	vec_release(&d->threads);
}

/* Intervals in the rows of a panel. */
static size_t intervals_of(const struct timeline *tl, const struct tl_panel *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->nrows; i++)
		if (p->rows[i].kind == TLROW_THREAD)
			n += timeline_offcpu_after(tl, p->rows[i].id, p->to_ns) -
			     timeline_offcpu_after(tl, p->rows[i].id, p->from_ns);
	return n;
}

/* Write a panel with short intervals summed up, so that no pixel of a wide screen differs. */
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
	struct drawer d = {.t = t};
	int r = add_panel(&d, rank, e);
	if (!r && !o->page_ns && intervals_of(t->tl, d.panels.v.v) > PANEL_INTERVALS)
		r = write_thinned(t->tl, d.panels.v.v, o, f, e);
	else if (!r)
		r = timeline_svg_write(t->tl, d.panels.v.v, 1, o, f, NULL, e);
	drawer_release(&d);
	return r;
}

int tail_panels_what(struct tail *t, size_t rank, struct thin_keep *window, uint8_t *drawn,
		     struct err *e)
{
	struct drawer d = {.t = t};
	int r = add_panel(&d, rank, e);
	for (size_t i = 0; !r && i < d.threads.n; i++)
		drawn[d.threads.v[i]] = 1;
	if (!r)
		*window = (struct thin_keep){d.panels.v.v[0].from_ns, d.panels.v.v[0].to_ns};
	drawer_release(&d);
	return r;
}

int tail_panels_write(struct tail *t, size_t most, const struct tl_svg_options *o, FILE *f,
		      struct err *e)
{
	struct drawer d = {.t = t};
	int r = 0;
	for (size_t i = 0; !r && i < t->rows.n && i < most; i++)
		r = add_panel(&d, i, e);
	r = r ? r : panels_write(&d.panels, t->tl, o, f, e);
	drawer_release(&d);
	return r;
}
