/* chain_sum.c - the sums of a link: its parts in order, and the next link; see
 * chain_internal.h. */
#include "libtime/explain/chain_internal.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>

static int part_order(const void *a, const void *b)
{
	const struct chain_part *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return (x->state > y->state) - (x->state < y->state);
}

/* The thread that kept the link in a part longest. */
static const struct candidate *actor_of(const struct explainer *x, uint32_t part)
{
	const struct candidate *best = NULL;
	for (size_t i = 0; i < x->candidates.n; i++) {
		const struct candidate *c = &x->candidates.v[i];
		if (c->part == part && (!best || c->ns > best->ns ||
					(c->ns == best->ns && c->thread < best->thread)))
			best = c;
	}
	return best;
}

/* The next link: the thread that kept this one in its largest part for more than half of it,
 * unless another part is larger than that. A part that the thread's own state explains has no
 * next link. */
static const struct candidate *best_candidate(const struct explainer *x)
{
	const struct chain_link *l = x->link;
	const struct chain_part *v = x->out->parts.v;
	uint32_t best = l->part;
	for (uint32_t i = l->part; i < l->part + l->nparts; i++)
		if (part_order(&v[i], &v[best]) < 0)
			best = i;
	const struct candidate *c = l->nparts ? actor_of(x, best) : NULL;
	const struct mechanism *m = c ? v[best].mechanism : NULL;
	if (!c || c->ns <= v[best].ns / 2 || (m && m->kind == MECHANISM_STATE))
		return NULL;
	for (uint32_t i = l->part; i < l->part + l->nparts; i++)
		if (i != best && v[i].ns > c->ns)
			return NULL;
	return c;
}

/* The stack that ended a wait, or 0. */
static uint32_t waker_path(const struct explainer *x, uint32_t offcpu)
{
	return offcpu != TL_NONE ? x->tl->offcpu.v[lock_retried(x->tl, offcpu)].waker_path : 0;
}

/* The same, but of what made the waker's packet come. */
static uint32_t ender_path(const struct explainer *x, uint32_t offcpu)
{
	uint32_t timer = offcpu != TL_NONE ? evidence_tcp_timer(&x->ev, offcpu) : 0;
	return timer ? timer : waker_path(x, offcpu);
}

/* The mechanism that a part's stacks show. For running code that can only be one of its own
 * state. */
static const struct mechanism *mechanism_of_part(struct explainer *x,
						 const struct chain_part *p)
{
	uint64_t timer = p->offcpu != TL_NONE ? evidence_packet_timer(&x->ev, p->offcpu) : 0;
	if (p->state == PART_BLOCKED)
		return mechanism_of(x->ev.mechanisms,
				    p->cause == CAUSE_STOPPED ? MECHANISMS_OF_STOP
							      : MECHANISMS_OF_WAIT,
				    p->path, ender_path(x, p->offcpu), timer);
	if (p->state != PART_RUNNING || x->link->guessed)
		return NULL;
	return mechanism_of(x->ev.mechanisms, MECHANISMS_OF_RUNNING, p->path, 0, 0);
}

/* Find which thread kept the link in each part, what ended most of the part, and its
 * mechanism. */
static void sum_parts(struct explainer *x)
{
	struct chain_part *v = x->out->parts.v;
	for (size_t i = 0; i < x->candidates.n; i++) {
		const struct candidate *c = &x->candidates.v[i];
		struct chain_part *p = &v[c->part];
		p->kept_ns += c->ns;
		p->actors++;
		if (c->ns < p->actor_ns || (c->ns == p->actor_ns && c->thread > p->actor))
			continue;
		p->actor_ns = c->ns;
		p->actor = c->thread;
		p->via = c->via;
	}
	for (uint32_t i = x->link->part; i < x->link->part + x->link->nparts; i++) {
		for (uint8_t end = 0; end < END_COUNT; end++)
			if (v[i].by_end[end] > v[i].by_end[v[i].end])
				v[i].end = end;
		v[i].mechanism = mechanism_of_part(x, &v[i]);
		/* report the threads that had the CPU even if they are only known for a tenth
		 * of it */
		if (v[i].state == PART_RUNNABLE && v[i].kept_ns > v[i].ns / 10)
			v[i].end = END_QUEUED;
	}
}

static void name_doing(struct explainer *x)
{
	struct chain_link *l = x->link;
	uint32_t hot = 0;
	for (uint32_t i = l->part; i < l->part + l->nparts; i++)
		if (x->out->parts.v[i].state == PART_RUNNING)
			hot = x->out->parts.v[i].path;
	if (l->via != VIA_SELF && l->via != VIA_CPU)
		l->doing = mechanism_doing(
			x->ev.mechanisms, hot,
			waker_path(x, x->out->chain.v[x->out->chain.n - 1].offcpu), l->comm);
}

static void name_link(struct explainer *x, const struct candidate *next)
{
	struct chain_link *l = x->link;
	const struct chain_part *p = link_part(x->out, l);
	if (next) { /* it explains most of the largest part, which is the first */
		l->next_ns = next->ns;
		l->followed = l->part;
		l->state = next->state;
		l->cause = p->cause;
		l->path = next->path;
		l->offcpu = next->offcpu;
	} else if (p) {
		l->state = p->state;
		l->cause = p->cause;
		l->path = p->path;
		l->offcpu = p->offcpu;
	}
}

/* The thread that the link reports, if its work was handed over. */
static uint32_t main_thread(const struct explainer *x, const struct chain_link *l)
{
	return l->offcpu != TL_NONE ? x->tl->offcpu.v[l->offcpu].thread : chain_runner(x);
}

/* The thread's name at the time: the one in its wait, else its last. */
static uint32_t comm_at(const struct explainer *x, const struct chain_link *l)
{
	return l->offcpu != TL_NONE && x->tl->offcpu.v[l->offcpu].thread == l->thread
		       ? x->tl->offcpu.v[l->offcpu].comm
		       : x->tl->threads.v[l->thread].comm;
}

static int corunner_order(const void *a, const void *b)
{
	const struct corunner *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* The state in which the link spent most time. */
static uint8_t main_state(const struct chain_link *l)
{
	const uint64_t ns[] = {[PART_RUNNING] = l->run_ns,
			       [PART_BLOCKED] = l->blocked_ns,
			       [PART_RUNNABLE] = l->runnable_ns - l->preempted_ns,
			       [PART_PREEMPTED] = l->preempted_ns,
			       [PART_UNKNOWN] = l->unknown_ns};
	uint8_t best = PART_BLOCKED;
	for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++)
		if (ns[i] > ns[best])
			best = (uint8_t)i;
	return best;
}

static uint8_t main_cause(const struct explanation *out)
{
	uint8_t best = CAUSE_UNKNOWN;
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		if (out->blocked_by[i] > out->blocked_by[best])
			best = (uint8_t)i;
	return best;
}

/* Choose the interval that represents the episode: the longest one of its main state and
 * cause. */
static void choose_main(struct explainer *x, const struct chain_link *l)
{
	struct explanation *out = x->out;
	struct stretch best = {0, TL_NONE};
	out->state = main_state(l);
	out->cause = out->state == PART_BLOCKED ? main_cause(out) : CAUSE_UNKNOWN;
	for (unsigned c = 0; c < CAUSE_COUNT; c++)
		if (x->longest[out->state][c].ns > best.ns &&
		    (out->state != PART_BLOCKED || c == out->cause))
			best = x->longest[out->state][c];
	out->offcpu = best.offcpu;
	out->path = 0;
	if (best.offcpu != TL_NONE) {
		const struct offcpu *o = &x->tl->offcpu.v[best.offcpu];
		out->path = o->path;
		out->cause = out->state == PART_RUNNABLE ? (uint8_t)CAUSE_RUNQUEUE : o->cause;
	}
	for (uint32_t i = 0; out->state == PART_RUNNING && i < l->nparts; i++)
		if (out->parts.v[l->part + i].state == PART_RUNNING)
			out->path = out->parts.v[l->part + i].path;
}

/* Sum up the episode's own parts, from its first link. */
static int sum_up(struct explainer *x, const struct chain_link *l)
{
	struct explanation *out = x->out;
	out->run_ns = l->run_ns;
	out->blocked_ns = l->blocked_ns;
	out->runnable_ns = l->runnable_ns;
	out->preempted_ns = l->preempted_ns;
	out->unknown_ns = l->unknown_ns;
	out->samples = l->samples;
	choose_main(x, l);
	for (size_t i = 0; i < out->ahead.n; i++)
		if (vec_push(&out->corunners, out->ahead.v[i]))
			return ERR_NOMEM;
	if (out->corunners.n)
		qsort(out->corunners.v, out->corunners.n, sizeof(*out->corunners.v),
		      corunner_order);
	return 0;
}

/* The longest wait of a thread in the windows, as a stack; 0: none. */
static uint32_t longest_wait(const struct timeline *tl, const windows_vec *v)
{
	uint64_t most = 0;
	uint32_t path = 0;
	for (size_t i = 0; i < v->n; i++) {
		const struct window *w = &v->v[i];
		const struct tl_thread *t = &tl->threads.v[w->thread];
		uint32_t k = timeline_offcpu_after(tl, w->thread, w->from_ns);
		for (; k < t->offcpu_first + t->offcpu_n && tl->offcpu.v[k].start_ns < w->to_ns;
		     k++) {
			const struct offcpu *o = &tl->offcpu.v[k];
			uint64_t from = chain_clamp(o->start_ns, w->from_ns, w->to_ns);
			uint64_t ns = chain_clamp(o->end_ns, from, w->to_ns) - from;
			if (ns <= most)
				continue;
			most = ns;
			path = o->path;
		}
	}
	return path;
}

/* Find the function in which the longest of several holders of a lock spent its turns: that of
 * most samples, else of its longest wait. */
static int name_actor(struct explainer *x, uint32_t part)
{
	struct chain_part *p = &x->out->parts.v[part];
	struct hot hot;
	x->holders.n = 0;
	for (size_t i = 0; i < x->claims.n; i++) {
		const struct candidate *c = &x->candidates.v[x->claims.v[i].candidate];
		if (c->part == part && c->thread == p->actor &&
		    vec_push(&x->holders, x->claims.v[i].w))
			return ERR_NOMEM;
	}
	if (evidence_hot(&x->ev, x->holders.v, x->holders.n, &hot, NULL))
		return ERR_NOMEM;
	evidence_caller(&x->ev, x->holders.v, x->holders.n, &hot);
	p->actor_function = hot.function;
	if (!hot.function)
		p->actor_function = evidence_function(
			&x->ev, appframe_reported(x->tl, longest_wait(x->tl, &x->holders)));
	return 0;
}

int chain_end_link(struct explainer *x, const struct candidate **next)
{
	struct chain_link *l = x->link;
	sum_parts(x);
	if (!x->out->chain.n && sum_up(x, l))
		return ERR_NOMEM;
	*next = best_candidate(x);
	for (uint32_t i = l->part; i < l->part + l->nparts; i++) {
		struct chain_part *p = &x->out->parts.v[i];
		if (!*next && p->state == PART_BLOCKED && p->actors > 1 && name_actor(x, i))
			return ERR_NOMEM;
		if (p->state != PART_RUNNABLE)
			continue;
		l->queued_ns = p->kept_ns;
		l->n_ahead = p->actors;
		/* report where it waited for a CPU, unless the next link names a thread there
		 */
		if (!(*next && (*next)->via == VIA_CPU))
			p->function = appframe_reported(x->tl, p->path);
	}
	if (l->nparts)
		qsort(x->out->parts.v + l->part, l->nparts, sizeof(*x->out->parts.v),
		      part_order);
	if (x->out->ahead.n)
		qsort(x->out->ahead.v, x->out->ahead.n, sizeof(*x->out->ahead.v),
		      corunner_order);
	name_link(x, *next);
	if (x->windows.n > 1)
		l->thread = main_thread(x, l);
	l->comm = comm_at(x, l);
	name_doing(x);
	if (!*next && x->tl->threads.v[l->thread].flags & THREAD_KERNEL && l->via != VIA_SELF &&
	    l->via != VIA_CPU)
		l->behind = kthread_behind(x->tl, x->windows.v, x->windows.n);
	return 0;
}

static int share_order(const void *a, const void *b)
{
	const struct chain_share *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->link != y->link)
		return x->link > y->link ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

int explanation_shares(const struct explanation *x, shares_vec *out)
{
	out->n = 0;
	for (uint32_t i = 0; i < x->chain.n; i++) {
		const struct chain_link *l = &x->chain.v[i];
		for (uint32_t k = l->part; k < l->part + l->nparts; k++) {
			uint64_t ns = x->parts.v[k].ns;
			ns -= l->next_ns && k == l->followed ? l->next_ns : 0;
			if (ns && vec_push(out, ((struct chain_share){ns, i, k})))
				return ERR_NOMEM;
		}
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), share_order);
	return 0;
}
