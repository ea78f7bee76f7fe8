#include "libtime/explain/stack_rows.h"
#include "libtime/explain/tail_times.h"
#include "libtime/population/wall.h"
#include "libtime/sched/timeline_names.h"

#include <stdio.h>

/* --- waits ---------------------------------------------------------------------------- */

/* Run-queue delay has no cause's name, as it is no part of what caused the wait. */
static const char *name_of(const struct wait_row *w)
{
	return w->is_runnable ? "runnable" : cause_name(w->cause);
}

static int add_wait(const struct timeline *tl, const struct wait_selection *s,
		    const struct wait_row *w, stack_row_sink *add, void *ctx, struct err *e)
{
	char irq[32];
	struct row_waker waker = {.path = w->waker_comm ? w->waker_path : 0, .name = irq};
	struct stack_row r = {.of = {.comm = w->comm,
				     .pid = w->pid,
				     .tid = w->tid,
				     .cpu = UINT32_MAX,
				     .label = w->label,
				     .path = w->path,
				     .weight = w->ns,
				     .samples = w->count},
			      .below = wait_mark_text(w->mark),
			      .state = w->is_runnable ? "[runnable]" : NULL,
			      .cause = s->by & WAITS_BY_CAUSE ? name_of(w) : NULL,
			      .unknown_ns = w->unknown_ns,
			      .wakers = &waker,
			      .nwakers = w->waker_context != WAKER_NONE,
			      .waiting = 1};
	snprintf(irq, sizeof(irq), "[%s]", waker_context_name(w->waker_context));
	if (w->waker_comm)
		waker.name = strtab_get(&tl->stacks->strings, w->waker_comm);
	return add(ctx, &r, e);
}

int stack_rows_waits(const struct timeline *tl, const struct wait_selection *s,
		     stack_row_sink *add, void *ctx, struct set_apart *hidden, struct err *e)
{
	struct wait_sums w;
	int rc = wait_sums_collect(&w, tl, s, e);
	for (size_t i = 0; i < w.rows.n && !rc; i++)
		rc = add_wait(tl, s, &w.rows.v[i], add, ctx, e);
	*hidden = w.apart;
	w.apart = (struct set_apart){.system = 0};
	wait_sums_release(&w);
	return rc;
}

/* --- wall-clock time ------------------------------------------------------------------ */

struct sink {
	stack_row_sink *add;
	void *ctx;
	struct err *e;
	const struct timeline *tl;
};

static int add_wall(void *ctx, const struct wall_row *w)
{
	const struct sink *g = ctx;
	struct stack_row r = {.of = {.comm = w->comm,
				     .pid = w->pid,
				     .tid = w->tid,
				     .cpu = UINT32_MAX,
				     .path = w->path,
				     .weight = w->ns},
			      .above = w->what,
			      .waiting = w->waiting};
	return g->add(g->ctx, &r, g->e);
}

int stack_rows_wall(const struct timeline *tl, const struct population *of, stack_row_sink *add,
		    void *ctx, struct set_apart *hidden, struct err *e)
{
	struct sink g = {add, ctx, e, tl};
	return wall_collect(tl, of, add_wall, &g, hidden, e);
}

/* --- chains --------------------------------------------------------------------------- */

static int add_chain(const struct timeline *tl, const struct episode *ep,
		     const struct explanation *x, stack_row_sink *add, void *ctx, struct err *e)
{
	struct row_waker wakers[CHAIN_DEPTH + 1];
	const struct tl_thread *t = &tl->threads.v[ep->thread];
	int rc = 0;
	for (size_t i = 0; i < x->chain.n && i <= CHAIN_DEPTH && !rc; i++) {
		const struct chain_link *l = &x->chain.v[i];
		uint64_t next = i + 1 < x->chain.n ? x->chain.v[i + 1].ns : 0;
		struct stack_row r = {.of = {.comm = ep->comm,
					     .pid = t->pid,
					     .tid = t->tid,
					     .cpu = UINT32_MAX,
					     .path = x->path,
					     .weight = l->ns > next ? l->ns - next : 0},
				      .wakers = wakers,
				      .nwakers = i,
				      .waiting = 1};
		if (i)
			wakers[i - 1] = (struct row_waker){
				l->path, strtab_get(&tl->stacks->strings, l->comm)};
		rc = add(ctx, &r, e);
	}
	return rc;
}

int stack_rows_chains(const struct timeline *tl, const struct population *of,
		      stack_row_sink *add, void *ctx, struct set_apart *hidden, struct err *e)
{
	struct episode_query q = {.of = *of};
	struct episodes eps;
	struct explanation x = {0};
	struct explainer *ex = NULL;
	*hidden = (struct set_apart){.system = 0};
	int rc = episodes_collect(tl, &q, &eps, e);
	if (rc)
		return rc;
	rc = explainer_new(tl, &ex, e);
	for (size_t i = 0; i < eps.v.n && !rc; i++) {
		rc = explain(ex, &eps.v.v[i], &x, e);
		rc = rc ? rc : add_chain(tl, &eps.v.v[i], &x, add, ctx, e);
	}
	*hidden = eps.apart;
	eps.apart = (struct set_apart){.system = 0};
	explanation_release(&x);
	explainer_free(ex);
	episodes_release(&eps);
	return rc;
}

/* --- the worst episodes --------------------------------------------------------------- */

static int add_time(void *ctx, const struct tail_time *t, struct err *e)
{
	const struct sink *g = ctx;
	struct row_waker root = {.path = t->root_path};
	struct stack_row r = {
		.of = t->of, .wakers = &root, .nwakers = t->root_thread != TL_NONE};
	if (r.nwakers)
		root.name = strtab_get(&g->tl->stacks->strings,
				       g->tl->threads.v[t->root_thread].comm);
	r.of.samples = 0;
	return g->add(g->ctx, &r, e);
}

int stack_rows_tail_chains(const struct tail *t, stack_row_sink *add, void *ctx, struct err *e)
{
	const struct explanation *x;
	int rc = 0;
	for (size_t i = 0; i < t->rows.n && !rc; i++) {
		const struct episode *ep = &t->episodes.v.v[t->rows.v[i].episode];
		rc = tail_explain_row(t, i, &x, e);
		rc = rc ? rc : add_chain(t->tl, ep, x, add, ctx, e);
	}
	return rc;
}

static int tail_rows(const struct tail *t, int with_roots, stack_row_sink *add, void *ctx,
		     struct err *e)
{
	struct sink g = {add, ctx, e, t->tl};
	struct tail_times times = {.tail = t, .add = add_time, .ctx = &g};
	const struct explanation *x = NULL;
	int rc = 0;
	for (size_t i = 0; i < t->rows.n && !rc; i++) {
		rc = with_roots ? tail_explain_row(t, i, &x, e) : 0;
		rc = rc ? rc
			: tail_times_add(&times, &t->episodes.v.v[t->rows.v[i].episode], x, e);
	}
	return rc;
}

int stack_rows_tail(const struct tail *t, stack_row_sink *add, void *ctx, struct err *e)
{
	return tail_rows(t, 0, add, ctx, e);
}

int stack_rows_tail_roots(const struct tail *t, stack_row_sink *add, void *ctx, struct err *e)
{
	return tail_rows(t, 1, add, ctx, e);
}

int stack_rows_median(const struct tail *t, stack_row_sink *add, void *ctx, uint64_t *tail_ns,
		      uint64_t *median_ns, struct err *e)
{
	struct sink g = {add, ctx, e, t->tl};
	struct tail_times times = {.tail = t, .add = add_time, .ctx = &g};
	tail_episodes median = {0};
	*tail_ns = *median_ns = 0;
	for (size_t i = 0; i < t->rows.n; i++)
		*tail_ns += episode_ns(&t->episodes.v.v[t->rows.v[i].episode]);
	int rc = tail_around_median(t, &median, e);
	for (size_t i = 0; i < median.n && !rc; i++) {
		const struct episode *ep = &t->episodes.v.v[median.v[i]];
		*median_ns += episode_ns(ep);
		rc = tail_times_add(&times, ep, NULL, e);
	}
	vec_release(&median);
	return rc;
}
