#include "libtime/explain/interpreter_lock.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

/* How many threads of the process at that time, and intervals of all, are looked at for one
 * wait. */
enum { MAX_THREADS = 512, MAX_INTERVALS = 1 << 15 };

struct search {
	struct evidence *ev;
	const struct timeline *tl;
	uint32_t waiter;
	uint64_t lock;
	VEC(uint32_t) threads; /* of the process at that time, without the waiter */
	int intervals;
	windows_vec *out;
};

static int find_threads(struct search *s, uint64_t from, uint64_t to)
{
	const struct tl_thread *v = s->tl->threads.v, *w = &v[s->waiter];
	const struct tl_part *part = timeline_part_of(s->tl, s->waiter);
	for (uint32_t i = 0; i < s->tl->threads.n && s->threads.n <= MAX_THREADS; i++)
		if (i != s->waiter && v[i].pid == w->pid && v[i].first_ns < to &&
		    v[i].last_ns > from && timeline_part_of(s->tl, i) == part &&
		    vec_push(&s->threads, i))
			return ERR_NOMEM;
	return 0;
}

static int waits_elsewhere(const struct offcpu *o)
{
	switch (o->cause) {
	case CAUSE_SLEEP:
	case CAUSE_POLL:
	case CAUSE_COND:
	case CAUSE_SEMAPHORE:
	case CAUSE_NET:
	case CAUSE_PIPE:
	case CAUSE_IO:
	case CAUSE_CHILD:
	case CAUSE_JOIN:
	case CAUSE_SIGNAL:
		return !(o->flags & OFF_RUNNING);
	default:
		return 0;
	}
}

/* 1 if the thread cannot have had the lock in that interval: it waits, or it lost its CPU as it
 * let the lock go. A woken thread has not taken the lock yet. */
static int lacks_lock(struct search *s, const struct offcpu *o, struct err *e)
{
	const struct mechanism *kind;
	uint64_t lock;
	if (waits_elsewhere(o))
		return 1;
	if (o->flags & OFF_RUNNING)
		return evidence_stack_role(s->tl, o->path, ROLE_EXCLUSIVE);
	int r = evidence_lock_class(s->ev, o, &lock, &kind, e);
	return r > 0 ? lock == s->lock : r;
}

/* How long a thread may have had the lock in [from, to): *ns; 0 if no stack of that time, nor
 * the next one, is in the interpreter. */
static int may_have_it(struct search *s, uint32_t thread, uint64_t from, uint64_t to,
		       uint64_t *ns, struct err *e)
{
	const struct timeline *tl = s->tl;
	const struct tl_thread *t = &tl->threads.v[thread];
	size_t first, last;
	int in = 0, r = 0;
	uint32_t i = timeline_offcpu_after(tl, thread, from);
	*ns = 0;
	if (t->first_ns >= to || t->last_ns <= from)
		return 0;
	*ns = (t->last_ns < to ? t->last_ns : to) - (t->first_ns > from ? t->first_ns : from);
	for (; r >= 0 && i < t->offcpu_first + t->offcpu_n; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		uint64_t a = o->start_ns > from ? o->start_ns : from,
			 b = o->end_ns < to ? o->end_ns : to;
		in |= evidence_stack_role(tl, o->path, ROLE_OPAQUE);
		if (o->start_ns >= to || s->intervals++ >= MAX_INTERVALS)
			break;
		r = lacks_lock(s, o, e);
		*ns -= r > 0 ? b - a : 0;
	}
	if (r < 0 || evidence_samples(s->ev, thread, from, to, &first, &last, e))
		return ERR_NOMEM;
	for (; !in && first < last; first++)
		in = evidence_stack_role(tl, tl->samples.v[s->ev->samples.id.v[first]].path,
					 ROLE_OPAQUE);
	*ns = in ? *ns : 0;
	return 0;
}

/* Was the search given up? Then who had the lock is not known. */
static int is_exhausted(const struct search *s)
{
	return s->threads.n > MAX_THREADS || s->intervals > MAX_INTERVALS;
}

/* Push [from, to) with the one thread that may have had the lock most of the time; with
 * `claimed` if nobody else may, with TL_NONE if several may. */
static int decide(struct search *s, uint64_t from, uint64_t to, uint32_t claimed, struct err *e)
{
	enum { MOST = 4, SOME = 10 };
	uint32_t who = claimed;
	int n = 0, most = 0;
	for (size_t i = 0; i < s->threads.n && !is_exhausted(s); i++) {
		uint64_t ns;
		if (may_have_it(s, s->threads.v[i], from, to, &ns, e))
			return ERR_NOMEM;
		if (ns * SOME <= to - from)
			continue;
		n++;
		if (ns >= (to - from) - (to - from) / MOST) {
			most = 1;
			who = s->threads.v[i];
		}
	}
	if (n > 1 || (n == 1 && !most) || is_exhausted(s))
		who = TL_NONE;
	return vec_push(s->out, ((struct window){from, to, who})) ? err_nomem(e) : 0;
}

/* Divide a window: where its thread waited for something else, and the rest. */
static int divide(struct search *s, const struct window *w, struct err *e)
{
	const struct timeline *tl = s->tl;
	uint64_t at = w->from_ns;
	if (w->thread == TL_NONE)
		return decide(s, w->from_ns, w->to_ns, TL_NONE, e);
	const struct tl_thread *t = &tl->threads.v[w->thread];
	uint32_t i = timeline_offcpu_after(tl, w->thread, at);
	for (; i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < w->to_ns; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		uint64_t from = o->start_ns > at ? o->start_ns : at,
			 to = o->end_ns < w->to_ns ? o->end_ns : w->to_ns;
		if (from >= to || !waits_elsewhere(o))
			continue;
		if (at < from && vec_push(s->out, ((struct window){at, from, w->thread})))
			return err_nomem(e);
		if (decide(s, from, to, w->thread, e))
			return ERR_NOMEM;
		at = to;
	}
	if (at < w->to_ns && vec_push(s->out, ((struct window){at, w->to_ns, w->thread})))
		return err_nomem(e);
	return 0;
}

int interpreter_holders(struct evidence *x, uint32_t waiter, uint64_t lock, windows_vec *v,
			struct err *e)
{
	windows_vec out = {0};
	struct search s = {.ev = x, .tl = x->tl, .waiter = waiter, .lock = lock, .out = &out};
	int r = 0;
	if (v->n && find_threads(&s, v->v[0].from_ns, v->v[v->n - 1].to_ns))
		r = err_nomem(e);
	for (size_t i = 0; !r && s.threads.n && i < v->n; i++)
		r = divide(&s, &v->v[i], e);
	if (!r && s.threads.n) {
		windows_vec old = *v;
		*v = out;
		out = old;
	}
	vec_release(&out);
	vec_release(&s.threads);
	return r;
}
