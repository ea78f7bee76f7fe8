#include "base/search.h"
#include "libtime/population/wall.h"
#include "libtime/sched/timeline_parts.h"
#include "render/export/speedscope.h"

#include <stdlib.h>

/* The thread at hand, gathered. */
struct gathering {
	const struct timeline *tl;
	const struct population *of;
	struct speedscope *out;
	VEC(struct speedscope_piece) pieces;
	VEC(struct speedscope_span) spans;
	VEC(uint32_t) by_thread; /* spans of one thread, as indexes of the timeline's */
	uint32_t thread;
	size_t written;
	struct err *e;
};

static int compare_thread(const void *a, const void *b, void *timeline)
{
	const struct tl_span *v = ((const struct timeline *)timeline)->spans.v;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (v[x].thread != v[y].thread)
		return v[x].thread < v[y].thread ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int index_spans(struct gathering *g)
{
	const struct timeline *tl = g->tl;
	for (size_t i = 0; i < tl->spans.n; i++)
		if (tl->spans.v[i].thread == tl->spans.v[i].end_thread &&
		    vec_push(&g->by_thread, (uint32_t)i))
			return ERR_NOMEM;
	if (g->by_thread.n)
		qsort_r(g->by_thread.v, g->by_thread.n, sizeof(*g->by_thread.v), compare_thread,
			(void *)tl);
	return 0;
}

/* The first of by_thread that belongs to `thread` or a later one. */
static size_t first_span(const struct gathering *g, uint32_t thread)
{
	const struct tl_span *v = g->tl->spans.v;
	return PARTITION_POINT(i, 0, g->by_thread.n, v[g->by_thread.v[i]].thread < thread);
}

/* Its spans, cut to --time. */
static int add_spans(struct gathering *g)
{
	const struct population *of = g->of;
	const struct timeline *tl = g->tl;
	g->spans.n = 0;
	for (size_t i = first_span(g, g->thread); i < g->by_thread.n; i++) {
		const struct tl_span *x = &tl->spans.v[g->by_thread.v[i]];
		struct speedscope_span s = {x->start_ns, x->end_ns, x->name};
		if (x->thread != g->thread)
			break;
		if (!population_has_span(of, tl, g->by_thread.v[i]))
			continue;
		s.start_ns = s.start_ns < of->start_ns ? of->start_ns : s.start_ns;
		s.end_ns = of->stop_ns && s.end_ns > of->stop_ns ? of->stop_ns : s.end_ns;
		if (s.start_ns <= s.end_ns && vec_push(&g->spans, s))
			return ERR_NOMEM;
	}
	return 0;
}

static int write_thread(struct gathering *g)
{
	const struct timeline *tl = g->tl;
	if (!g->pieces.n)
		return 0;
	if (add_spans(g))
		return err_nomem(g->e);
	const struct tl_thread *t = &tl->threads.v[g->thread];
	struct speedscope_thread s = {.comm = t->comm,
				      .pid = t->pid,
				      .tid = t->tid,
				      .zero_ns =
					      timeline_recording_of(tl, g->thread)->origin_ns,
				      .pieces = g->pieces.v,
				      .npieces = g->pieces.n,
				      .spans = g->spans.v,
				      .nspans = g->spans.n};
	int rc = speedscope_thread(g->out, &s, g->e);
	g->pieces.n = 0;
	g->written++;
	return rc;
}

static int add_row(void *ctx, const struct wall_row *r)
{
	struct gathering *g = ctx;
	struct speedscope_piece p = {r->start_ns, r->start_ns + r->ns, r->path, r->waiting};
	int rc = g->thread == r->thread ? 0 : write_thread(g);
	g->thread = r->thread;
	if (!rc && ((r->what && stacks_mark(g->tl->stacks, r->what, &p.path)) ||
		    vec_push(&g->pieces, p)))
		rc = err_nomem(g->e);
	return rc;
}

int speedscope_timeline(const struct timeline *tl, const struct population *of, FILE *f,
			struct set_apart *hidden, struct err *e)
{
	struct gathering g = {.tl = tl, .of = of, .thread = TL_NONE, .e = e};
	*hidden = (struct set_apart){.system = 0};
	int rc = index_spans(&g) ? err_nomem(e) : speedscope_open(&g.out, tl->stacks, f, e);
	rc = rc ? rc : wall_collect(tl, of, add_row, &g, hidden, e);
	rc = rc ? rc : write_thread(&g);
	if (!rc && !g.written)
		rc = err_set(e, ERR_REFUSED,
			     "nothing ran or waited here (show hidden waits with --idle, "
			     "--system)");
	rc = speedscope_close(g.out, rc, e);
	vec_release(&g.pieces);
	vec_release(&g.spans);
	vec_release(&g.by_thread);
	return rc;
}
