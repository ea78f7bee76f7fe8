/* chain_sum.c - what a link comes to: its parts in order, and the next link; see
 * chain_internal.h.
 */
#include "libtime/explain/chain_internal.h"

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

/* Time in which it could have run: not that in which it was not allowed to. */
static int waits_for_cpu(unsigned state, unsigned cause)
{
	return state == PART_RUNNABLE || (state == PART_PREEMPTED && cause != CAUSE_THROTTLE);
}

/* Of the threads that held up the link by having its CPU, or in other ways, the one that
 * explains most. */
static const struct candidate *most(const struct explainer *x, int by_cpu)
{
	const struct candidate *best = NULL;
	for (size_t i = 0; i < x->candidates.n; i++) {
		const struct candidate *c = &x->candidates.v[i];
		if ((c->via == VIA_CPU) == by_cpu &&
		    (!best || c->ns > best->ns ||
		     (c->ns == best->ns && c->thread < best->thread)))
			best = c;
	}
	return best;
}

/* The next link: who explains as much as the link itself. Waiting for a CPU is one share of the
 * time: where it is the largest, the next link is who had most of that. */
static const struct candidate *best_candidate(const struct explainer *x)
{
	const struct candidate *cpu = most(x, 1), *other = most(x, 0);
	uint64_t own = 0, queued = x->link->queued_ns;
	for (uint32_t i = 0; i < x->link->nparts; i++) {
		const struct chain_part *p = &x->out->parts.v[x->link->part + i];
		*(waits_for_cpu(p->state, p->cause) ? &queued : &own) += p->ns;
	}
	if (other && other->ns >= own && other->ns >= queued)
		return other;
	return cpu && queued >= own && cpu->ns > queued / 2 ? cpu : NULL;
}

/* Add a stretch, or several, of waiting for a CPU to the part that has all of it. */
static void join_queue(struct chain_part *all, const struct chain_part *p)
{
	all->end = all->ns && all->end != p->end ? (uint8_t)END_QUEUED : p->end;
	all->first_ns = all->ns && all->first_ns < p->first_ns ? all->first_ns : p->first_ns;
	all->ns += p->ns;
	if (p->largest_ns <= all->largest_ns)
		return;
	all->largest_ns = p->largest_ns;
	all->path = p->path;
	all->off = p->off;
	all->cause = p->cause == CAUSE_THROTTLE ? CAUSE_THROTTLE : CAUSE_RUNQUEUE;
}

/* Where the chain does not go on to a thread that had the CPU: one part for all the time that
 * the link waited for one. */
static int queue_part(struct explainer *x)
{
	struct chain_link *l = x->link;
	struct chain_part all = {.state = PART_RUNNABLE, .off = TL_NONE};
	uint32_t n = l->nparts;
	x->out->parts.n = l->part;
	for (uint32_t i = 0; i < n; i++) {
		struct chain_part p = x->out->parts.v[l->part + i];
		if (waits_for_cpu(p.state, p.cause))
			join_queue(&all, &p);
		else
			x->out->parts.v[x->out->parts.n++] = p;
	}
	l->nparts = (uint32_t)x->out->parts.n - l->part;
	for (size_t i = 0; i < x->claims.n; i++) {
		const struct candidate *c = &x->candidates.v[x->claims.v[i].candidate];
		const struct window *w = &x->claims.v[i].w;
		struct chain_part p = {.ns = w->to_ns - w->from_ns,
				       .first_ns = w->from_ns,
				       .largest_ns = c->largest_ns,
				       .path = c->path,
				       .off = c->off,
				       .cause = c->cause,
				       .end = END_QUEUED};
		if (c->via == VIA_CPU)
			join_queue(&all, &p);
	}
	if (!all.ns)
		return 0;
	all.function = appframe_telling(x->tl, all.path);
	if (vec_push(&x->out->parts, all))
		return ERR_NOMEM;
	l->nparts++;
	return 0;
}

static void name_link(struct explainer *x, const struct candidate *next)
{
	struct chain_link *l = x->link;
	const struct chain_part *p = link_part(x->out, l);
	if (next) {
		l->next_ns = next->ns;
		l->state = next->state;
		l->cause = next->cause;
		l->path = next->path;
		l->off = next->off;
	} else if (p) {
		l->state = p->state;
		l->cause = p->cause;
		l->path = p->path;
		l->off = p->off;
	}
}

/* Of work that was handed over, the thread of whose doing the link tells. */
static uint32_t main_thread(const struct explainer *x, const struct chain_link *l)
{
	return l->off != TL_NONE ? x->tl->off.v[l->off].thread : chain_runner(x);
}

/* The name a thread had at the link: that of its wait, else its last. */
static uint32_t comm_at(const struct explainer *x, const struct chain_link *l)
{
	return l->off != TL_NONE && x->tl->off.v[l->off].thread == l->thread
		       ? x->tl->off.v[l->off].comm
		       : x->tl->threads.v[l->thread].comm;
}

static int corunner_order(const void *a, const void *b)
{
	const struct corunner *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* The state most of the link's time was spent in. */
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

/* The stretch that stands for the episode: the longest one of its main state and cause. */
static void choose_main(struct explainer *x, const struct chain_link *l)
{
	struct explanation *out = x->out;
	uint64_t most = 0;
	out->state = main_state(l);
	out->cause = out->state == PART_BLOCKED ? main_cause(out) : CAUSE_UNKNOWN;
	out->off = TL_NONE;
	out->path = 0;
	for (uint32_t i = 0; i < l->nparts; i++) {
		const struct chain_part *p = &out->parts.v[l->part + i];
		if (p->state != out->state || p->largest_ns <= most ||
		    (p->state == PART_BLOCKED && p->cause != out->cause))
			continue;
		most = p->largest_ns;
		out->off = p->off;
		out->path = p->path;
		out->cause = p->cause;
	}
	for (size_t i = 0; i < x->candidates.n; i++) {
		const struct candidate *c = &x->candidates.v[i];
		if (c->state != out->state || c->largest_ns <= most ||
		    (c->state == PART_BLOCKED && c->cause != out->cause))
			continue;
		most = c->largest_ns;
		out->off = c->off;
		out->path = c->path;
		out->cause = c->cause;
	}
}

/* The episode's own parts, from its first link. */
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

int chain_end_link(struct explainer *x, const struct candidate **next)
{
	struct chain_link *l = x->link;
	for (size_t i = 0; i < x->candidates.n; i++)
		if (x->candidates.v[i].via == VIA_CPU) {
			l->queued_ns += x->candidates.v[i].ns;
			l->behind++;
		}
	if (!x->out->chain.n && sum_up(x, l))
		return ERR_NOMEM;
	*next = best_candidate(x);
	if (!(*next && (*next)->via == VIA_CPU) && queue_part(x))
		return ERR_NOMEM;
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
	return 0;
}
