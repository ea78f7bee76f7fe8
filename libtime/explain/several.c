#include "libtime/explain/several.h"
#include "libtime/population/likely.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>

enum {
	MANY = 4,       /* threads that are a crowd */
	MAX_STEPS = 64, /* intervals looked at, of one thread */
	AT_ONCE = 4,    /* a crowd is woken in less than 1 in so many of the queue's time */
	BUSY = 2,       /* a pool is full if that is so for 1 in so many of the wait */
};

static uint64_t wake_of(const struct offcpu *o)
{
	return o->start_ns + o->blocked_ns;
}

static int is_woken(const struct offcpu *o)
{
	return o->waker != TL_NONE && o->blocked_ns && !o->unknown &&
	       !(o->flags & (OFF_RUNNING | OFF_SUSPECT));
}

/* --- a crowd -------------------------------------------------------------------------- */

/* The wakeup after which the thread of an interval queued: that of the interval, or, if it
 * queued for a lock, an earlier one. TL_NONE: not recorded. */
static uint32_t called_by(const struct timeline *tl, uint32_t offcpu)
{
	const struct tl_thread *t = &tl->threads.v[tl->offcpu.v[offcpu].thread];
	for (uint32_t n = 0, i = offcpu; n < MAX_STEPS; n++, i--) {
		const struct offcpu *o = &tl->offcpu.v[i];
		if (is_woken(o) && o->cause != CAUSE_LOCK && o->cause != CAUSE_RWLOCK)
			return i;
		if (i == t->offcpu_first)
			break;
	}
	return TL_NONE;
}

/* The time in which a thread did not wait, around `at`. */
static struct window stretch_of(const struct timeline *tl, uint32_t thread, uint64_t at)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	struct window w = {t->first_ns, t->last_ns, thread};
	uint32_t i = timeline_offcpu_after(tl, thread, at), k = i;
	while (k < t->offcpu_first + t->offcpu_n && !tl->offcpu.v[k].blocked_ns)
		k++;
	if (k < t->offcpu_first + t->offcpu_n)
		w.to_ns = tl->offcpu.v[k].start_ns;
	while (i > t->offcpu_first && !tl->offcpu.v[i - 1].blocked_ns)
		i--;
	if (i > t->offcpu_first)
		w.from_ns = tl->offcpu.v[i - 1].end_ns;
	return w;
}

/* The interval of a thread that the wakeups of a crowd ended; NULL: none. */
static const struct offcpu *called(const struct timeline *tl, uint32_t thread,
				   const struct window *by, uint32_t path)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, by->from_ns);
	for (int n = 0; n < MAX_STEPS && i < t->offcpu_first + t->offcpu_n; n++, i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		if (o->start_ns >= by->to_ns)
			break;
		if (is_woken(o) && o->waker == by->thread && o->waker_path == path &&
		    wake_of(o) >= by->from_ns && wake_of(o) < by->to_ns)
			return o;
	}
	return NULL;
}

/* Do most of those that the root queued behind belong to the crowd? */
static int queued_in(const struct timeline *tl, const struct explanation *x,
		     const struct chain_part *p, const struct window *by, uint32_t path)
{
	uint64_t all = 0, own = 0;
	if (p->state == PART_BLOCKED)
		return p->actor == TL_NONE || called(tl, p->actor, by, path) != NULL;
	for (size_t i = 0; i < x->ahead.n; i++) {
		all += x->ahead.v[i].ns;
		own += called(tl, x->ahead.v[i].thread, by, path) ? x->ahead.v[i].ns : 0;
	}
	return all && own * 2 > all;
}

int crowd_find(const struct timeline *tl, const struct explanation *x, struct crowd *out)
{
	const struct chain_part *p = link_part(x, explanation_root(x));
	uint32_t call = p && p->offcpu != TL_NONE && x->chain.n == 1 ? called_by(tl, p->offcpu)
								     : TL_NONE;
	uint64_t first = UINT64_MAX, last = 0;
	*out = (struct crowd){0};
	if (call == TL_NONE)
		return 0;
	const struct offcpu *own = &tl->offcpu.v[call];
	const struct window by = stretch_of(tl, own->waker, wake_of(own));
	out->waker = own->waker;
	out->path = own->waker_path;
	out->comm = own->comm;
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct offcpu *o = called(tl, i, &by, out->path);
		if (!o)
			continue;
		out->n++;
		out->comm = o->comm == out->comm ? o->comm : 0;
		first = wake_of(o) < first ? wake_of(o) : first;
		last = wake_of(o) > last ? wake_of(o) : last;
	}
	out->ns = out->n ? last - first : 0;
	return out->n >= MANY && out->ns < p->ns / AT_ONCE &&
	       queued_in(tl, x, p, &by, out->path);
}

/* --- a pool --------------------------------------------------------------------------- */

static int is_rest(const struct likely *likely, const struct offcpu *o)
{
	return o->blocked_ns && (o->flags & OFF_IDLE || likely_bounds(likely, o));
}

/* Append the time of a window in which its thread was at rest to *idle, and the other to
 * *busy. */
static int divide(const struct timeline *tl, const struct likely *likely,
		  const struct window *w, windows_vec *idle, windows_vec *busy)
{
	const struct tl_thread *t = &tl->threads.v[w->thread];
	uint64_t at = w->from_ns;
	for (uint32_t i = timeline_offcpu_after(tl, w->thread, at);
	     i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < w->to_ns; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		uint64_t from = o->start_ns < at ? at : o->start_ns, to = wake_of(o);
		to = to > w->to_ns ? w->to_ns : to;
		if (to <= from || !is_rest(likely, o))
			continue;
		if (vec_push(idle, ((struct window){from, to, w->thread})) ||
		    (from > at && vec_push(busy, ((struct window){at, from, w->thread}))))
			return ERR_NOMEM;
		at = to;
	}
	return at < w->to_ns ? vec_push(busy, ((struct window){at, w->to_ns, w->thread})) : 0;
}

static int window_order(const void *a, const void *b)
{
	const struct window *x = a, *y = b;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* How much time the windows cover. Sorts them. */
static uint64_t covered_ns(windows_vec *v)
{
	uint64_t ns = 0, end = 0;
	if (v->n)
		qsort(v->v, v->n, sizeof(*v->v), window_order);
	for (size_t i = 0; i < v->n; i++) {
		uint64_t from = v->v[i].from_ns > end ? v->v[i].from_ns : end;
		ns += v->v[i].to_ns > from ? v->v[i].to_ns - from : 0;
		end = v->v[i].to_ns > end ? v->v[i].to_ns : end;
	}
	return ns;
}

/* What a pool's threads did while they were busy: the function of most samples. */
static int name_work(struct evidence *ev, const windows_vec *busy, struct pool *out,
		     struct err *e)
{
	struct hot hot;
	uint64_t blocked = 0, all = 0;
	for (size_t i = 0; i < busy->n; i++) {
		const struct window *w = &busy->v[i];
		const struct tl_thread *t = &ev->tl->threads.v[w->thread];
		all += w->to_ns - w->from_ns;
		for (uint32_t k = timeline_offcpu_after(ev->tl, w->thread, w->from_ns);
		     k < t->offcpu_first + t->offcpu_n; k++) {
			const struct offcpu *o = &ev->tl->offcpu.v[k];
			if (o->start_ns >= w->to_ns)
				break;
			uint64_t to = wake_of(o) > w->to_ns ? w->to_ns : wake_of(o);
			uint64_t from = o->start_ns > w->from_ns ? o->start_ns : w->from_ns;
			blocked += to > from ? to - from : 0;
		}
	}
	out->running = blocked * 2 < all;
	if (!out->running)
		return 0;
	int r = evidence_hot(ev, busy->v, busy->n, &hot, e);
	if (r)
		return r;
	evidence_caller(ev, busy->v, busy->n, &hot);
	if (hot.samples * 2 > hot.of && hot.function) {
		out->function = hot.function;
		out->path = hot.path;
	}
	return 0;
}

/* The role that a thread has where it rests: strings id; 0: not known. */
static uint32_t role_of(const struct timeline *tl, const struct likely *likely, uint32_t thread)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n; i++)
		if (is_rest(likely, &tl->offcpu.v[i]))
			return timeline_site(tl, tl->offcpu.v[i].site)->role;
	return 0;
}

/* Was the thread at rest at any time while another one ran that asked it for something? */
static int rests_in(const struct timeline *tl, const struct likely *likely, uint32_t thread,
		    const struct window *asks)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	for (uint32_t i = timeline_offcpu_after(tl, thread, asks->from_ns);
	     i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < asks->to_ns; i++)
		if (wake_of(&tl->offcpu.v[i]) > asks->from_ns &&
		    is_rest(likely, &tl->offcpu.v[i]))
			return 1;
	return 0;
}

static int same_process(const struct timeline *tl, uint32_t a, uint32_t b)
{
	const struct tl_thread *x = &tl->threads.v[a], *y = &tl->threads.v[b];
	return x->pid == y->pid && x->pid >= 0 &&
	       timeline_part_of(tl, a) == timeline_part_of(tl, b);
}

/* A search for the pool of thread `of`. */
struct search {
	const struct timeline *tl;
	const struct likely *likely;
	struct window wait, asks; /* of the thread that waited, and before it waited */
	uint32_t of, role;
	windows_vec idle, busy;
	int free; /* one may have been free */
};

/* Add a thread to the pool, if it is of it. */
static int add_thread(struct search *s, uint32_t thread, struct pool *out)
{
	const struct tl_thread *t = &s->tl->threads.v[thread];
	struct window w = {s->wait.from_ns, s->wait.to_ns, thread};
	if (!same_process(s->tl, thread, s->of) || t->first_ns > w.from_ns ||
	    t->last_ns < w.to_ns)
		return 0;
	uint32_t role = role_of(s->tl, s->likely, thread);
	/* where it rests is not known: it would seem busy all the time */
	s->free |= !role && t->comm == s->tl->threads.v[s->of].comm;
	if (role != s->role)
		return 0;
	s->free |= rests_in(s->tl, s->likely, thread, &s->asks);
	out->n++;
	out->comm = t->comm == out->comm ? t->comm : 0;
	return divide(s->tl, s->likely, &w, &s->idle, &s->busy);
}

/* Is the root of `x` a thread of a pool that served another kind of thread? */
static int begin_search(struct search *s, const struct explanation *x)
{
	const struct chain_link *l = explanation_root(x);
	if (x->chain.n != 2 || l->via != VIA_WAKER || l[-1].offcpu == TL_NONE ||
	    link_held_lock(x, l))
		return 0;
	const struct offcpu *wait = &s->tl->offcpu.v[l[-1].offcpu];
	s->of = l->thread;
	s->role = role_of(s->tl, s->likely, s->of);
	s->wait = (struct window){wait->start_ns, wake_of(wait), wait->thread};
	if (!s->role || !wait->start_ns || !same_process(s->tl, s->of, wait->thread) ||
	    role_of(s->tl, s->likely, wait->thread) == s->role)
		return 0;
	s->asks = stretch_of(s->tl, wait->thread, wait->start_ns - 1);
	return 1;
}

int pool_find(struct evidence *ev, const struct likely *likely, const struct explanation *x,
	      struct pool *out, struct err *e)
{
	struct search s = {.tl = ev->tl, .likely = likely};
	int r = 0;
	*out = (struct pool){0};
	if (!begin_search(&s, x))
		return 0;
	out->ns = s.wait.to_ns - s.wait.from_ns;
	out->comm = ev->tl->threads.v[s.of].comm;
	for (uint32_t i = 0; !r && !s.free && i < ev->tl->threads.n; i++)
		r = add_thread(&s, i, out);
	out->busy_ns = r ? 0 : out->ns - covered_ns(&s.idle);
	int full = !r && !s.free && out->n > 1 && out->busy_ns > out->ns / BUSY;
	if (full)
		r = name_work(ev, &s.busy, out, e);
	vec_release(&s.idle);
	vec_release(&s.busy);
	return r ? err_nomem(e) : full;
}
