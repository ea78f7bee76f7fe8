#include "libstore/episodes.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* --- percentiles ----------------------------------------------------------------------------
 */

uint64_t percentile_rank(uint64_t n, uint32_t pct)
{
	uint64_t whole = n / PCT_ALL * pct, rest = n % PCT_ALL * pct;
	uint64_t rank = whole + (rest + PCT_ALL - 1) / PCT_ALL;
	return rank ? rank : 1;
}

uint64_t percentile_of(const uint64_t *sorted, size_t n, uint32_t pct)
{
	return n ? sorted[percentile_rank(n, pct) - 1] : 0;
}

int percentile_parse(const char *text, uint32_t *pct)
{
	uint32_t v = 0, scale = 1000;
	const char *p = text;
	for (; *p >= '0' && *p <= '9' && v <= 100; p++)
		v = v * 10 + (uint32_t)(*p - '0');
	if (p == text || v > 100)
		return 0;
	v *= 1000;
	if (*p == '.') {
		const char *digits = ++p;
		for (; *p >= '0' && *p <= '9' && scale > 1; p++)
			v += (uint32_t)(*p - '0') * (scale /= 10);
		if (p == digits)
			return 0;
	}
	*pct = v;
	return !*p && v > 0 && v <= PCT_ALL;
}

/* --- the population --------------------------------------------------------------------------
 */

static int among_i32(const int32_t *v, size_t n, int32_t x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == x)
			return 1;
	return !n;
}

static int among_u32(const uint32_t *v, size_t n, uint32_t x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == x)
			return 1;
	return !n;
}

int population_has(const struct population *p, const struct timeline *tl, uint32_t thread)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	return among_i32(p->pids, p->npids, t->pid) && among_i32(p->tids, p->ntids, t->tid) &&
	       among_u32(p->comms, p->ncomms, t->comm);
}

static int on_cpus(const struct population *p, const struct off *o)
{
	return !p->ncpus || among_u32(p->cpus, p->ncpus, o->cpu_out) ||
	       among_u32(p->cpus, p->ncpus, o->cpu_in);
}

/* The hidden idle time by stack, for the one line that says what was hidden. */
struct hidden {
	struct u64map index; /* comm << 32 | path */
	VEC(uint64_t) ns;
};

static int hide_idle(struct episodes *x, struct hidden *h, const struct off *o, uint64_t ns)
{
	uint64_t key = (uint64_t)o->comm << 32 | o->path;
	uint32_t i;
	x->idle_hidden++;
	x->idle_hidden_ns += ns;
	if (!u64map_get(&h->index, key, &i)) {
		i = (uint32_t)h->ns.n;
		if (vec_push(&h->ns, 0) || u64map_put(&h->index, key, i))
			return ERR_NOMEM;
	}
	h->ns.v[i] += ns;
	if (h->ns.v[i] > x->idle_path_ns) {
		x->idle_path_ns = h->ns.v[i];
		x->idle_path = o->path;
		x->idle_comm = o->comm;
	}
	return 0;
}

/* An interval cut to [start, stop): 0 when nothing is left. */
static int clip(const struct population *p, struct episode *ep)
{
	uint64_t stop = p->stop_ns ? p->stop_ns : UINT64_MAX;
	if (ep->start_ns >= stop || ep->end_ns < p->start_ns ||
	    (ep->end_ns == p->start_ns && ep->start_ns != ep->end_ns))
		return 0;
	if (ep->start_ns < p->start_ns) {
		ep->start_ns = p->start_ns;
		ep->flags |= OFF_OPEN;
	}
	if (ep->end_ns > stop) {
		ep->end_ns = stop;
		ep->flags |= OFF_OPEN;
	}
	return 1;
}

static int add_episode(struct episodes *x, const struct episode *ep, const struct off *o)
{
	uint64_t ns = ep->end_ns - ep->start_ns;
	if (ep->flags) {
		x->open += (ep->flags & OFF_OPEN) != 0;
		x->suspect += (ep->flags & OFF_SUSPECT) != 0;
		return vec_push(&x->doubtful, *ep) || vec_push(&x->sorted_all, ns);
	}
	x->unknown += o->unknown != KNOWN;
	return vec_push(&x->clean, *ep) || vec_push(&x->sorted, ns) ||
	       vec_push(&x->sorted_all, ns);
}

static int take_wait(struct episodes *x, struct hidden *h, const struct timeline *tl,
		     const struct population *p, uint32_t i)
{
	const struct off *o = &tl->off.v[i];
	struct episode ep = {.start_ns = o->start_ns,
			     .end_ns = o->end_ns,
			     .thread = o->thread,
			     .off = i,
			     .flags = o->flags & (OFF_OPEN | OFF_SUSPECT)};
	if (!on_cpus(p, o) || !clip(p, &ep))
		return 0;
	if (!p->system && tl->threads.v[o->thread].flags & THREAD_SYSTEM) {
		x->system_hidden++;
		x->system_hidden_ns += ep.end_ns - ep.start_ns;
		return 0;
	}
	if (!p->idle && o->flags & OFF_IDLE) {
		uint64_t woken = o->start_ns + o->blocked_ns;
		uint64_t until = woken < ep.end_ns ? woken : ep.end_ns;
		if (until > ep.start_ns) {
			if (hide_idle(x, h, o, until - ep.start_ns))
				return ERR_NOMEM;
			ep.start_ns = until;
		}
		if (ep.start_ns >= ep.end_ns)
			return 0;
	}
	return add_episode(x, &ep, o) ? ERR_NOMEM : 0;
}

static int u64_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

int episodes_by_wait(const struct timeline *tl, const struct population *p,
		     struct episodes *out, struct err *e)
{
	struct hidden h = {0};
	int r = 0;
	*out = (struct episodes){0};
	for (uint32_t t = 0; !r && t < tl->threads.n; t++) {
		const struct tl_thread *thread = &tl->threads.v[t];
		if (!population_has(p, tl, t))
			continue;
		for (uint32_t i = 0; !r && i < thread->off_n; i++)
			r = take_wait(out, &h, tl, p, thread->off_first + i);
	}
	u64map_release(&h.index);
	vec_release(&h.ns);
	if (r) {
		episodes_release(out);
		return err_nomem(e);
	}
	if (out->sorted.n)
		qsort(out->sorted.v, out->sorted.n, sizeof(uint64_t), u64_order);
	if (out->sorted_all.n)
		qsort(out->sorted_all.v, out->sorted_all.n, sizeof(uint64_t), u64_order);
	return 0;
}

void episodes_release(struct episodes *x)
{
	vec_release(&x->clean);
	vec_release(&x->doubtful);
	vec_release(&x->sorted);
	vec_release(&x->sorted_all);
}

uint64_t episodes_percentile(const struct episodes *x, uint32_t pct, int doubtful)
{
	return doubtful ? percentile_of(x->sorted_all.v, x->sorted_all.n, pct)
			: percentile_of(x->sorted.v, x->sorted.n, pct);
}

/* --- the tail -------------------------------------------------------------------------------
 */

static int worst_first(const void *a, const void *b)
{
	const struct episode *x = a, *y = b;
	uint64_t dx = x->end_ns - x->start_ns, dy = y->end_ns - y->start_ns;
	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static uint64_t threshold(const struct episodes *x, const struct selection *how)
{
	size_t n = x->sorted.n;
	if (how->pct)
		return episodes_percentile(x, how->pct, 0);
	if (how->over_ns)
		return how->over_ns;
	return n && how->top ? x->sorted.v[how->top < n ? n - how->top : 0] : 0;
}

int episodes_select(const struct episodes *x, const struct selection *how, struct tail *out,
		    struct err *e)
{
	*out = (struct tail){.threshold_ns = threshold(x, how)};
	for (size_t i = 0; i < x->clean.n; i++) {
		const struct episode *ep = &x->clean.v[i];
		if (ep->end_ns - ep->start_ns < out->threshold_ns)
			continue;
		if (vec_push(&out->v, *ep)) {
			tail_release(out);
			return err_nomem(e);
		}
	}
	if (out->v.n)
		qsort(out->v.v, out->v.n, sizeof(*out->v.v), worst_first);
	if (!how->pct && !how->over_ns && out->v.n > how->top)
		out->v.n = how->top; /* more of equal length */
	for (size_t i = 0; i < x->doubtful.n; i++)
		out->doubtful += x->doubtful.v[i].end_ns - x->doubtful.v[i].start_ns >=
				 out->threshold_ns;
	out->cannot_say = out->doubtful > out->v.n;
	return 0;
}

void tail_release(struct tail *t)
{
	vec_release(&t->v);
}
