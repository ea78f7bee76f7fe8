#include "libtime/explain/tail_times.h"
#include "base/search.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>
#include <string.h>

static int add_time(const struct tail_times *f, uint32_t thread, uint32_t comm, uint32_t path,
		    uint64_t ns, struct err *e)
{
	struct folded row = {.comm = comm,
			     .pid = f->tail->tl->threads.v[thread].pid,
			     .tid = f->tail->tl->threads.v[thread].tid,
			     .cpu = UINT32_MAX,
			     .path = path,
			     .samples = 1,
			     .weight = ns};
	return ns ? f->add(f->ctx, &row, e) : 0;
}

/* Add a stretch of running time, with the stack of its hottest function. */
static int add_run(const struct tail_times *f, uint32_t comm, const struct window *w,
		   struct err *e)
{
	struct hot hot;
	int r = evidence_hot(explainer_evidence(f->tail->explainer), w, 1, &hot, e);
	return r ? r : add_time(f, w->thread, comm, hot.path, w->to_ns - w->from_ns, e);
}

static int add_window(const struct tail_times *f, const struct window *w, struct err *e)
{
	const struct timeline *tl = f->tail->tl;
	const struct tl_thread *t = &tl->threads.v[w->thread];
	uint64_t at = w->from_ns;
	int r = 0;
	for (uint32_t i = timeline_offcpu_after(tl, w->thread, at);
	     !r && i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < w->to_ns;
	     i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		uint64_t from = o->start_ns > at ? o->start_ns : at;
		uint64_t to = o->end_ns < w->to_ns ? o->end_ns : w->to_ns;
		struct window run = {at, from, w->thread};
		if (from > at)
			r = add_run(f, o->comm, &run, e);
		if (!r)
			r = add_time(f, w->thread, o->comm, o->path, to - from, e);
		at = to;
	}
	struct window run = {at, w->to_ns, w->thread};
	return r || at >= w->to_ns ? r : add_run(f, t->comm, &run, e);
}

int tail_times_add(const struct tail_times *f, const struct episode *ep, struct err *e)
{
	windows_vec windows = {0};
	int r = episode_windows(f->tail->tl, ep, &windows) ? err_nomem(e) : 0;
	for (size_t k = 0; !r && k < windows.n; k++)
		r = add_window(f, &windows.v[k], e);
	vec_release(&windows);
	return r;
}

/* --- to compare with ------------------------------------------------------------------ */

static int by_length(const void *a, const void *b, void *episodes)
{
	const struct episode *v = ((const struct episodes *)episodes)->v.v;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t dx = episode_ns(&v[x]), dy = episode_ns(&v[y]);
	if (dx != dy)
		return dx < dy ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The lengths are sorted already, so only the episodes with lengths in the middle are sorted.
 */
int tail_around_median(const struct tail *t, tail_episodes *out, struct err *e)
{
	const struct episodes *all = &t->episodes;
	size_t n = all->clean.n, k = t->rows.n < n / 2 ? t->rows.n : n / 2;
	if (!k)
		return 0;
	size_t first = n / 2 - k / 2;
	uint64_t low = all->clean.v[first], high = all->clean.v[first + k - 1];
	size_t shorter = PARTITION_POINT(i, (size_t)0, n, all->clean.v[i] < low);
	for (size_t i = 0; i < all->v.n; i++) {
		const struct episode *ep = &all->v.v[i];
		if (!(ep->flags & (OFF_OPEN | OFF_SUSPECT)) && episode_ns(ep) >= low &&
		    episode_ns(ep) <= high && vec_push(out, (uint32_t)i))
			return err_nomem(e);
	}
	qsort_r(out->v, out->n, sizeof(*out->v), by_length, (void *)all);
	memmove(out->v, out->v + (first - shorter), k * sizeof(*out->v));
	out->n = k;
	return 0;
}
