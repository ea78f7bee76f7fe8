#include "libtime/explain/tail_times.h"
#include "base/search.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>
#include <string.h>

/* A stretch of a thread's time in one stack. */
struct stretch {
	uint32_t thread, comm, path;
	uint64_t from_ns, to_ns;
	int waits;
};

/* Divides windows into stretches. */
struct dividing {
	const struct tail *tail;
	int (*take)(struct dividing *d, const struct stretch *s, struct err *e);
	const struct tail_times *times;
	const windows_vec *root;  /* NULL: none */
	const struct stretch *of; /* of the root's: the wait that it holds up */
};

/* Take a stretch of running time, with the stack of its hottest function. */
static int take_run(struct dividing *d, struct stretch s, struct err *e)
{
	struct window w = {s.from_ns, s.to_ns, s.thread};
	struct hot hot;
	if (s.to_ns <= s.from_ns)
		return 0;
	int r = evidence_hot(explainer_evidence(d->tail->explainer), &w, 1, &hot, e);
	s.path = hot.path;
	return r ? r : d->take(d, &s, e);
}

static int divide(struct dividing *d, const struct window *w, struct err *e)
{
	const struct timeline *tl = d->tail->tl;
	const struct tl_thread *t = &tl->threads.v[w->thread];
	struct stretch run = {.thread = w->thread, .from_ns = w->from_ns};
	int r = 0;
	for (uint32_t i = timeline_offcpu_after(tl, w->thread, w->from_ns);
	     !r && i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < w->to_ns;
	     i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		struct stretch wait = {w->thread, o->comm, o->path, o->start_ns, o->end_ns, 1};
		if (wait.from_ns < run.from_ns)
			wait.from_ns = run.from_ns;
		if (wait.to_ns > w->to_ns)
			wait.to_ns = w->to_ns;
		run.to_ns = wait.from_ns;
		run.comm = o->comm;
		r = take_run(d, run, e);
		if (!r && wait.to_ns > wait.from_ns)
			r = d->take(d, &wait, e);
		run.from_ns = wait.to_ns;
	}
	run.to_ns = w->to_ns;
	run.comm = t->comm;
	return r ? r : take_run(d, run, e);
}

static int add_time(const struct dividing *d, const struct stretch *s, uint64_t from_ns,
		    uint64_t to_ns, const struct stretch *root, struct err *e)
{
	const struct tl_thread *t = &d->tail->tl->threads.v[s->thread];
	struct tail_time time = {.of = {.comm = s->comm,
					.pid = t->pid,
					.tid = t->tid,
					.cpu = UINT32_MAX,
					.path = s->path,
					.samples = 1,
					.weight = to_ns - from_ns},
				 .root_thread = root ? root->thread : TL_NONE,
				 .root_path = root ? root->path : 0};
	return to_ns > from_ns ? d->times->add(d->times->ctx, &time, e) : 0;
}

static int take_root(struct dividing *d, const struct stretch *s, struct err *e)
{
	return add_time(d, d->of, s->from_ns, s->to_ns, s, e);
}

/* A wait is divided by what the root did in it. */
static int take_own(struct dividing *d, const struct stretch *s, struct err *e)
{
	struct dividing inner = *d;
	uint64_t at = s->from_ns;
	int r = 0;
	inner.take = take_root;
	inner.of = s;
	for (size_t i = 0; !r && s->waits && d->root && i < d->root->n; i++) {
		struct window w = d->root->v[i];
		w.from_ns = w.from_ns > at ? w.from_ns : at;
		w.to_ns = w.to_ns < s->to_ns ? w.to_ns : s->to_ns;
		if (w.to_ns <= w.from_ns)
			continue;
		r = add_time(d, s, at, w.from_ns, NULL, e);
		r = r ? r : divide(&inner, &w, e);
		at = w.to_ns;
	}
	return r ? r : add_time(d, s, at, s->to_ns, NULL, e);
}

int tail_times_add(const struct tail_times *f, const struct episode *ep,
		   const struct explanation *x, struct err *e)
{
	windows_vec windows = {0};
	struct dividing d = {.tail = f->tail,
			     .take = take_own,
			     .times = f,
			     .root = x && x->chain.n > 1 ? &x->root : NULL};
	int r = episode_windows(f->tail->tl, ep, &windows) ? err_nomem(e) : 0;
	for (size_t k = 0; !r && k < windows.n; k++)
		r = divide(&d, &windows.v[k], e);
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
